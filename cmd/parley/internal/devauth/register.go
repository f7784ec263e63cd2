package devauth

import (
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
)

// registration is the answer to a client that registers.
type registration struct {
	software `json:",inline"`
	Issued   int64  `json:"client_id_issued_at"`
	Secret   string `json:"client_secret,omitzero"`
	Expires  *int64 `json:"client_secret_expires_at,omitzero"`
}

// register adds a client (RFC 7591). It does not keep the scope that a client
// registers: what counts is what the user grants.
//
// Spec: 2026-07-28 basic/authorization/client-registration#dynamic-client-registration.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	if !s.clients.arrivals.Allow() {
		w.Header().Set("Retry-After", "1")
		(&oauthError{http.StatusTooManyRequests, "temporarily_unavailable", "too many clients are registering; try again later"}).write(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil {
		fail("invalid_client_metadata", "the body cannot be read, or is over 64 KiB").write(w)
		return
	}
	var d software
	if err := wire.Unmarshal(body, &d); err != nil {
		fail("invalid_client_metadata", "the body is not the metadata of a client: "+err.Error()).write(w)
		return
	}
	if d.Method == "" {
		d.Method = methodBasic // the default of RFC 7591
	}
	if e := d.check(); e != nil {
		e.write(w)
		return
	}
	writeSecret(w, http.StatusCreated, s.enrol(d))
}

func (s *Server) enrol(d software) *registration {
	d.ID = rand.Text()
	answer, c := &registration{software: d, Issued: time.Now().Unix()}, d.client(enrolled)
	if d.Method == methodBasic || d.Method == methodPost {
		answer.Secret, answer.Expires = rand.Text(), new(int64)
		c.secret = sha256.Sum256([]byte(answer.Secret))
	}
	s.clients.enrol(c)
	s.opts.Logger.Info("a client has registered", "client", c.id, "name", c.name)
	return answer
}
