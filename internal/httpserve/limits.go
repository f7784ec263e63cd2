package httpserve

import (
	"math"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpcall"
)

// Limits bounds what one client may do: how many requests it sends in a second,
// and how many it has in flight. A client is identified by its principal, or by
// its address if there is none. Limits is safe for concurrent use.
type Limits struct {
	perClient int
	rate      rate.Limit
	burst     int
	loopback  bool // whether the rate also applies to clients on the loopback

	mu      sync.Mutex
	clients map[name]*Client
	swept   time.Time
}

// name identifies a client: a principal, or else an address.
type name struct{ principal, address string }

// Client is one sender of requests.
type Client struct {
	underway int
	limiter  *rate.Limiter
}

// NewLimits returns Limits. perClient bounds the requests that a client has in
// flight; zero or negative means no bound. perSecond and burst bound the rate of
// its requests: 0 means 200 and 400, and no bound for clients on the loopback; a
// negative perSecond means no bound.
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

// Enter counts a request as in flight until Leave. If the client is over a limit,
// it returns nil, and the number of seconds for the header Retry-After.
func (l *Limits) Enter(s *era.Sender) (c *Client, retryAfter string) {
	key, bounded := name{principal: s.Principal}, true
	if s.Principal == "" {
		key, bounded = name{address: s.Source}, l.loopback || !httpcall.IsLoopback(s.Source)
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

// unbounded stands for every client to which no limit applies.
var unbounded = new(Client)

// wait takes a token from the client's rate limiter, or returns how long it takes
// until there is one.
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

// network returns what counts as the address of one client: an IPv4 address, or
// the /64 prefix of an IPv6 one, since a host can have any number of those.
func network(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() && !a.Is4In6() && !a.IsLoopback() {
		return netip.PrefixFrom(a.WithZone(""), 64).Masked().String()
	}
	return address
}

// sweep forgets clients with nothing in flight and a full bucket of tokens, who
// are no different from new ones. So the table grows with the active clients, not
// with all there ever were.
func (l *Limits) sweep(now time.Time) {
	l.swept = now
	for key, c := range l.clients {
		if c.underway == 0 && c.limiter.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, key)
		}
	}
}

// Leave ends what Enter began.
func (l *Limits) Leave(c *Client) {
	if c == unbounded {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.underway--
}
