package devauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How often a password may be wrong, and how long the next attempt then has to
// wait.
const (
	maxAttempts = 10
	attemptWait = 5 * time.Minute
)

// attempts counts wrong passwords by user. All unknown names share one count,
// so that the table is no larger than that of the users.
type attempts struct {
	mu    sync.Mutex
	tries map[string]tries
}

type tries struct {
	n     int
	since time.Time
}

// begin counts an attempt. If there were too many, it returns how long to wait
// instead.
func (a *attempts) begin(user string) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, t := time.Now(), a.tries[user]
	if now.Sub(t.since) >= attemptWait {
		t = tries{since: now}
	}
	if t.n >= maxAttempts {
		return t.since.Add(attemptWait).Sub(now)
	}
	t.n++
	if a.tries == nil {
		a.tries = map[string]tries{}
	}
	a.tries[user] = t
	return 0
}

// succeed forgets the failed attempts before a successful one.
func (a *attempts) succeed(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tries, user)
}

// verify reports whether a password is a user's, or how long to wait before the
// next attempt. It takes equally long for an unknown user.
func (s *Server) verify(name, password string) (good bool, wait time.Duration) {
	stored, known := s.opts.Users[name]
	if !known {
		name, stored = "", rand.Text()
	}
	if wait := s.attempts.begin(name); wait > 0 {
		return false, wait
	}
	want, got := sha256.Sum256([]byte(stored)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !known {
		return false, 0
	}
	s.attempts.succeed(name)
	return true, 0
}

// login handles the form of the login page.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	name, q := r.PostForm.Get("name"), r.URL.Query()
	good, wait := s.verify(name, r.PostForm.Get("password"))
	switch {
	case wait > 0:
		seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
		w.Header().Set("Retry-After", seconds)
		s.opts.Logger.Warn("too many wrong passwords")
		s.loginPage(w, r, http.StatusTooManyRequests, "Too many wrong passwords. Try again in "+seconds+" seconds.")
	case !good:
		s.opts.Logger.Warn("wrong user name or password") // not the name: people type passwords there
		s.loginPage(w, r, http.StatusForbidden, "The name or the password is wrong.")
	case !s.logIn(w, r, name):
		s.problem(w, http.StatusServiceUnavailable, "Too many browsers are logged in.")
	default:
		s.opts.Logger.Info("a user has logged in", "user", name)
		seeAgain(w, q)
	}
}

// seeAgain has the browser repeat its request, now that a user is logged in.
func seeAgain(w http.ResponseWriter, q url.Values) {
	prompt := slices.DeleteFunc(strings.Fields(q.Get("prompt")), func(p string) bool { return p == "login" })
	q.Set("prompt", strings.Join(prompt, " "))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", pathAuthorize+"?"+q.Encode())
	w.WriteHeader(http.StatusSeeOther)
}
