package inspect

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
)

// maxSteps bounds the steps that are kept; the oldest go first.
const maxSteps = 200

// step is one thing that happened on the way to a token.
type step struct {
	Number int       `json:"number"`
	Run    int       `json:"run"`  // the steps of one login have the same
	Name   string    `json:"name"` // one of the constants below
	At     time.Time `json:"at"`
	Took   float64   `json:"took,omitzero"` // in seconds
	// Request and Response are those of a step that is an HTTP request.
	Request  *stepRequest  `json:"request,omitzero"`
	Response *stepResponse `json:"response,omitzero"`
	// Facts are what there is to know of the step, by name.
	Facts map[string]any `json:"facts,omitzero"`
	Error string         `json:"error,omitzero"`
}

type stepRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Body   string `json:"body,omitzero"` // secrets are masked
}

type stepResponse struct {
	Status    int             `json:"status"`
	Challenge []string        `json:"challenge,omitzero"` // WWW-Authenticate
	Document  json.RawMessage `json:"document,omitzero"`  // with secrets masked
	Text      string          `json:"text,omitzero"`      // what is no JSON
}

// The steps of a login.
//
// Spec: 2026-07-28 basic/authorization#authorization-flow-steps.
const (
	stepProbe         = "probe"             // a request to the server without a token
	stepChallenge     = "challenge"         // a 401
	stepScopes        = "step-up"           // a 403 that names scopes
	stepResource      = "resource-metadata" // protected resource metadata
	stepServer        = "server-metadata"   // authorization server metadata
	stepRegistration  = "registration"      // dynamic client registration
	stepClient        = "client"            // as whom to log in
	stepAuthorization = "authorization"     // the user is brought to the authorization server
	stepCallback      = "callback"          // the user's answer
	stepToken         = "token"
	stepRefresh       = "refresh"
	stepRevocation    = "revocation"
	stepOther         = "other"
)

// steps are the steps of all logins of a connection. Their lock is that of the login.
type steps struct {
	list       []*step
	number     int
	run        int
	registered string // the client that was registered in this run
}

// begin begins a new login, or what else somebody has asked for.
func (s *steps) begin() {
	s.run++
	s.registered = ""
}

// add adds a step. A challenge begins a login, unless one is under way.
func (s *steps) add(st *step, underway bool) {
	if !underway && (st.Name == stepChallenge || st.Name == stepScopes) || s.run == 0 {
		s.begin()
	}
	s.number++
	st.Number, st.Run = s.number, s.run
	s.list = append(s.list, st)
	if extra := len(s.list) - maxSteps; extra > 0 {
		s.list = slices.Delete(s.list, 0, extra)
	}
}

// authorization notes as whom to log in, and where the user is brought to.
func (s *steps) authorization(w *waiting, as *signin.Registration) {
	u, err := url.Parse(w.URL)
	if err != nil {
		return // then the login fails by itself
	}
	query := u.Query()
	id := query.Get("client_id")
	s.add(&step{Name: stepClient, At: w.Since, Facts: map[string]any{"client_id": id, "how": s.how(id, as)}}, true)
	facts := map[string]any{}
	for name, values := range query {
		facts[name] = strings.Join(values, " ")
	}
	if state, ok := facts["state"].(string); ok {
		facts["state"] = redact.Hidden(state)
	}
	u.RawQuery = ""
	s.add(&step{Name: stepAuthorization, At: w.Since, Request: &stepRequest{Method: "GET", URL: u.String()}, Facts: facts}, true)
}

// how says how the authorization server knows a client.
//
// Spec: 2026-07-28 basic/authorization/client-registration.
func (s *steps) how(id string, as *signin.Registration) string {
	switch {
	case as != nil && as.ClientID == id:
		return "pre-registered"
	case as != nil && as.MetadataURL == id:
		return "client ID metadata document"
	case s.registered == id:
		return "registered dynamically, just now"
	}
	return "registered dynamically, at an earlier login"
}

// callback notes the user's answer.
func (s *steps) callback(values url.Values, err error) {
	st := &step{Name: stepCallback, At: time.Now(), Facts: map[string]any{}}
	for name := range values {
		switch value := values.Get(name); name {
		case "code", "state":
			st.Facts[name] = redact.Hidden(value)
		default:
			st.Facts[name] = value
		}
	}
	if err != nil {
		st.Error = err.Error()
	}
	s.add(st, true)
}

// claims returns the claims of a token that is a JWT, and nil of any other. They are not
// verified: they are the server's to judge, and only shown here.
func claims(token string) json.RawMessage {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	body, err := decode64(parts[1])
	if err != nil || wire.Members(body, func(string, []byte) error { return nil }) != nil {
		return nil
	}
	return body
}

// informed reports whether the server has published anything about its authorization.
func (s *login) informed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.steps.list, func(st *step) bool {
		return (st.Name == stepResource || st.Name == stepServer) && st.Response != nil && st.Response.Document != nil && st.Response.Status == http.StatusOK
	})
}
