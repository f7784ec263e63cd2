package devauth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A browser has one cookie. Before login it only identifies the browser; at
// login it is replaced, so that it cannot be one that an attacker has planted.

// cookie is the name of that cookie. Browsers share the cookies of a host among
// its ports, and there may be several servers for development on one machine.
func (s *Server) cookie() string {
	u, err := url.Parse(s.opts.Issuer)
	if err != nil {
		return "parley-auth"
	}
	name := "parley-auth"
	if u.Port() != "" {
		name += "-" + u.Port()
	}
	if u.Scheme == "https" {
		return "__Host-" + name
	}
	return name
}

// visitor returns the cookie that identifies the browser of a request, and sets
// a new one if it has none.
func (s *Server) visitor(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(s.cookie()); err == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	return s.welcome(w)
}

// welcome gives the browser a new cookie. SameSite is Lax, because the user
// comes from the client, which may be another site.
func (s *Server) welcome(w http.ResponseWriter) string {
	id := rand.Text()
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS: development is at http://127.0.0.1
		Name: s.cookie(), Value: id, Path: "/", MaxAge: int(s.opts.LoginLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.opts.Issuer, "https:"),
	})
	return id
}

// user returns who is logged in, or "".
func (s *Server) user(r *http.Request) string {
	c, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	user, _ := s.sessions.get(c.Value)
	return user
}

// logIn makes the browser the user's. It returns whether there was room.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request, user string) bool {
	s.logOut(r)
	return s.sessions.put(s.welcome(w), user, time.Now().Add(s.opts.LoginLifetime))
}

func (s *Server) logOut(r *http.Request) {
	if c, err := r.Cookie(s.cookie()); err == nil {
		s.sessions.drop(c.Value)
	}
}

// formToken returns the token that a form must contain. It proves that the form
// is on a page that the server made for this browser and for exactly this
// request.
func (s *Server) formToken(visitor string, q url.Values) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("form " + visitor + " " + q.Encode()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ours reports whether a posted form has the right formToken.
func (s *Server) ours(r *http.Request) bool {
	c, err := r.Cookie(s.cookie())
	if err != nil {
		return false
	}
	want := s.formToken(c.Value, r.URL.Query())
	return subtle.ConstantTimeCompare([]byte(want), []byte(r.PostForm.Get("form"))) == 1
}
