// Package web is what a page in a browser stands on: who may come in, the API that it
// calls, the stream of what happens, and its files. It knows nothing of what the page shows.
package web

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// keyHeader is the header in which the page sends its key.
	keyHeader = "Parley-Key"
	// codeLife is how long a code opens the door.
	codeLife = 10 * time.Minute
	// mostCodes and mostVisits bound what is kept; the oldest go first.
	mostCodes  = 16
	mostVisits = 256
)

// Role is what a visitor may do. Each role may do what those before it may.
type Role int

// The roles, from the one that may least.
const (
	Viewer   Role = iota // looks
	Approver             // decides what waits for a decision
	Operator             // does everything
)

// String returns the role's name in configurations and in the API.
func (r Role) String() string {
	return [...]string{Viewer: "viewer", Approver: "approver", Operator: "operator"}[r]
}

// Visitor is who calls.
type Visitor struct {
	Name string
	Role Role
	// Still returns the role that the visitor has by now, or false if that is none: their
	// visit then ends. nil is for those whose role stays.
	Still func() (Role, bool)
}

// DoorOptions say how a Door decides.
type DoorOptions struct {
	// Hosts are the authorities at which the page is reached, such as 127.0.0.1:7000.
	// Requests for any other are refused, which is what DNS rebinding would send.
	Hosts []string
	// Secure says that the page is reached by https.
	Secure bool
	// Idle ends a visit that was not heard of for so long, and Life every visit; 0 is never.
	Idle, Life time.Duration
	// Hint says how to come in; "" is what holds where parley runs in a terminal.
	Hint string
	// Redeemed hears of each code that is brought, before it lets anybody in: right says
	// whether it does. An error keeps them out, and the code is used up. nil hears nothing.
	Redeemed func(r *http.Request, who Visitor, right bool) error
}

// Door decides who may come in. A visitor has a cookie and, in the page's own storage, a
// key, and needs both: a cookie alone goes to every port of its host and with requests
// of other pages, and a key alone may have been read off a screen. It may be used
// concurrently.
type Door struct {
	hosts  map[string]bool
	scheme string
	cookie string
	o      DoorOptions

	mu     sync.Mutex
	codes  []code
	visits []*visit
}

// code lets one visitor in, once.
type code struct {
	digest [sha256.Size]byte
	until  time.Time
}

type visit struct {
	cookie, key [sha256.Size]byte
	who         Visitor
	began, seen time.Time
}

// NewDoor returns a door that is closed to everybody.
func NewDoor(o DoorOptions) *Door {
	d := &Door{hosts: map[string]bool{}, scheme: "http", o: o, cookie: "parley"}
	if o.Secure {
		d.scheme = "https"
	}
	for i, host := range o.Hosts {
		d.hosts[strings.ToLower(host)] = true
		if _, port, ok := cutPort(host); ok && i == 0 {
			d.cookie += "-" + port // another page of this host has a cookie of its own
		}
	}
	return d
}

func cutPort(host string) (name, port string, ok bool) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, "", false
	}
	return host[:i], host[i+1:], true
}

// Code returns a new code, with which one visitor is let in as the operator, once, within
// ten minutes.
func (d *Door) Code() string {
	text := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.codes = append(d.codes, code{sha256.Sum256([]byte(text)), time.Now().Add(codeLife)})
	if len(d.codes) > mostCodes {
		d.codes = d.codes[1:]
	}
	return text
}

// redeem uses a code up.
func (d *Door) redeem(text string) bool {
	digest := sha256.Sum256([]byte(text))
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, c := range d.codes {
		if subtle.ConstantTimeCompare(c.digest[:], digest[:]) == 1 {
			d.codes = append(d.codes[:i:i], d.codes[i+1:]...)
			return time.Now().Before(c.until)
		}
	}
	return false
}

// Enter lets a visitor in: it sets the cookie and returns the key.
func (d *Door) Enter(w http.ResponseWriter, who Visitor) (key string) {
	cookie, key := rand.Text(), rand.Text()
	now := time.Now()
	d.mu.Lock()
	d.visits = append(d.visits, &visit{sha256.Sum256([]byte(cookie)), sha256.Sum256([]byte(key)), who, now, now})
	if len(d.visits) > mostVisits {
		d.visits = d.visits[1:]
	}
	d.mu.Unlock()
	d.setCookie(w, cookie, 0)
	return key
}

func (d *Door) setCookie(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is for https, which the loopback does not have
		Name: d.cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: d.o.Secure, SameSite: http.SameSiteStrictMode,
	})
}

// visitor returns who calls the API.
func (d *Door) visitor(r *http.Request) (Visitor, error) {
	cookies, key := d.cookies(r), r.Header.Get(keyHeader)
	if len(cookies) == 0 || key == "" {
		return Visitor{}, d.stranger("a request to the API needs the page's cookie and its key")
	}
	who, ok := d.find(cookies, sha256.Sum256([]byte(key)), true)
	if !ok {
		return Visitor{}, d.stranger("this visit has ended, or never began")
	}
	return who, nil
}

// cookies returns the digests of all cookies of the page's name. Another port of the same
// host can plant some, for paths that are longer, so that they come first.
func (d *Door) cookies(r *http.Request) [][sha256.Size]byte {
	var digests [][sha256.Size]byte
	for _, cookie := range r.CookiesNamed(d.cookie) {
		digests = append(digests, sha256.Sum256([]byte(cookie.Value)))
	}
	return digests
}

// lasts reports whether the visit of a request goes on, and does not count as hearing of it.
func (d *Door) lasts(r *http.Request) bool {
	_, ok := d.find(d.cookies(r), sha256.Sum256([]byte(r.Header.Get(keyHeader))), false)
	return ok
}

// Leave ends the visit of a request.
func (d *Door) Leave(w http.ResponseWriter, r *http.Request) {
	cookies := d.cookies(r)
	if len(cookies) == 0 {
		return
	}
	d.mu.Lock()
	d.visits = slices.DeleteFunc(d.visits, func(v *visit) bool { return slices.Contains(cookies, v.cookie) })
	d.mu.Unlock()
	d.setCookie(w, "", -1)
}

// find returns who visits, unless the visit has ended. heard notes that it was heard of.
func (d *Door) find(cookies [][sha256.Size]byte, key [sha256.Size]byte, heard bool) (Visitor, bool) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, v := range d.visits {
		// Digests of secrets may be compared in any time: nobody can choose what they begin with.
		if v.key != key || !slices.Contains(cookies, v.cookie) {
			continue
		}
		if d.over(v, now) {
			d.visits = append(d.visits[:i:i], d.visits[i+1:]...)
			return Visitor{}, false
		}
		if heard {
			v.seen = now
		}
		return v.who, true
	}
	return Visitor{}, false
}

// over reports whether a visit has ended, and has its role be what it is by now.
func (d *Door) over(v *visit, now time.Time) bool {
	if v.who.Still != nil {
		role, ok := v.who.Still()
		if !ok {
			return true
		}
		v.who.Role = role
	}
	return d.o.Idle > 0 && now.Sub(v.seen) > d.o.Idle || d.o.Life > 0 && now.Sub(v.began) > d.o.Life
}

func (d *Door) stranger(message string) *Error {
	e := Errorf(http.StatusUnauthorized, "stranger", "%s", message)
	e.Hint = cmp.Or(d.o.Hint, "open the page with a new address: press Enter where parley runs")
	return e
}
