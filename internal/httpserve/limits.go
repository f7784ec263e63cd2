package httpserve

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/httpcall"
)

// Limits bounds what one client may do: how often it asks, and how much it has
// under way. A client is a principal, or an address where there is none.
type Limits struct {
	perClient int
	rate      rate.Limit
	burst     int
	loopback  bool // whether clients on the loopback are bounded, too

	mu      sync.Mutex
	clients map[name]*Client
	swept   time.Time
}

// name is what a client goes by: a principal, or else an address.
type name struct{ principal, address string }

// Client is who sends requests.
type Client struct {
	underway int
	limiter  *rate.Limiter
}

// NewLimits returns Limits. perClient bounds what a client has under way; not
// positive is no bound. perSecond and burst bound how often it asks: 0 means
// 200 and 400, and no bound for clients on the loopback; negative is no bound.
func NewLimits(perClient int, perSecond float64, burst int) *Limits {
	l := &Limits{perClient: perClient, rate: rate.Limit(perSecond), burst: burst, clients: map[name]*Client{}, loopback: true}
	switch {
	case perSecond < 0:
		l.rate = rate.Inf
	case perSecond == 0:
		l.rate, l.loopback = 200, false
	}
	if l.burst <= 0 {
		l.burst = max(1, int(2*min(float64(l.rate), 1e6)))
	}
	return l
}

// Enter counts a request in until Leave. It returns nil, and in how many
// seconds to come back, when the client has to wait.
func (l *Limits) Enter(r *http.Request, principal string) (c *Client, retryAfter string) {
	key, bounded := name{principal: principal}, true
	if principal == "" {
		address := hostname(r.RemoteAddr)
		key, bounded = name{address: network(address)}, l.loopback || !httpcall.IsLoopback(address)
	}
	bounded = bounded && l.rate != rate.Inf
	if l.perClient <= 0 && !bounded {
		return unbounded, ""
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	c = l.of(key, now)
	if l.perClient > 0 && c.underway >= l.perClient {
		return nil, "1"
	}
	if bounded {
		if wait := l.wait(c, now); wait > 0 {
			return nil, strconv.Itoa(int(math.Ceil(wait.Seconds())))
		}
	}
	c.underway++
	return c, ""
}

// unbounded is every client of which nothing has to be counted.
var unbounded = new(Client)

// wait takes a token, or says how long until there is one.
func (l *Limits) wait(c *Client, now time.Time) time.Duration {
	reservation := c.limiter.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay > 0 {
		reservation.CancelAt(now)
	}
	return delay
}

func (l *Limits) of(key name, now time.Time) *Client {
	if now.Sub(l.swept) > time.Minute {
		l.sweep(now)
	}
	c := l.clients[key]
	if c == nil {
		c = &Client{limiter: rate.NewLimiter(l.rate, l.burst)}
		l.clients[key] = c
	}
	return c
}

// network is what one client is taken to have: an address, or of IPv6, where
// everybody has very many, the prefix of its network.
func network(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() && !a.Is4In6() && !a.IsLoopback() {
		return netip.PrefixFrom(a.WithZone(""), 64).Masked().String()
	}
	return address
}

// sweep forgets clients that may do as much as one that never came, so that
// the table is bounded by those who come, not by those who ever came.
func (l *Limits) sweep(now time.Time) {
	l.swept = now
	for key, c := range l.clients {
		if c.underway == 0 && c.limiter.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, key)
		}
	}
}

// Leave counts a request out.
func (l *Limits) Leave(c *Client) {
	if c == unbounded {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.underway--
}
