package devauth

import (
	"net/http"
	"net/url"
	"time"
)

// consentLifetime is how long a user's consent is remembered.
const consentLifetime = 30 * 24 * time.Hour

func consentKey(user string, req *request) string {
	return url.Values{"user": {user}, "client": {req.client.id}, "resource": {req.resource}}.Encode()
}

// allowed returns what the user has allowed the client before.
func (s *Server) allowed(user string, req *request) []string {
	scopes, _ := s.consents.get(consentKey(user, req))
	return scopes
}

// remember adds to what allowed returns. If there is no room, the user will be
// asked again.
func (s *Server) remember(user string, req *request, granted []string) {
	before := s.allowed(user, req)
	all := append(without(before, granted), granted...)
	s.consents.put(consentKey(user, req), all, time.Now().Add(consentLifetime))
}

// consent is what the consent page says.
type consent struct {
	Action, Form string
	User         string
	Client       string
	Unverified   bool   // the name is the client's own claim
	Document     string // where the client describes itself, or ""
	Destination  string
	Loopback     bool
	Private      bool // a scheme of the client's own
	Resource     string
	New, Old     []scope
}

type scope struct{ Name, Description string }

// consentPage asks the user for what is new. It names the host that the answer
// goes to, and says what nobody has checked.
//
// Spec: 2026-07-28 basic/authorization/security-considerations#localhost-redirect-uri-risks.
func (s *Server) consentPage(w http.ResponseWriter, r *http.Request, req *request, user string) {
	before := s.allowed(user, req)
	target, err := url.Parse(req.redirect)
	if err != nil {
		s.problem(w, http.StatusBadRequest, "The answer cannot be sent to the program.")
		return
	}
	page := consent{
		Action:      pathAuthorize + "?" + r.URL.Query().Encode(),
		Form:        s.formToken(s.visitor(w, r), r.URL.Query()),
		User:        user,
		Client:      req.client.name,
		Unverified:  req.client.kind != configured,
		Destination: destination(req.redirect),
		Loopback:    isLoopback(target),
		Private:     target.Scheme != "http" && target.Scheme != "https",
		Resource:    req.resource,
		New:         s.describeAll(without(req.scopes, before)),
		Old:         s.describeAll(both(req.scopes, before)),
	}
	if req.client.kind == documented {
		page.Document = req.client.id
	}
	show(w, http.StatusOK, "consent", formTarget(req.redirect), page)
}

func (s *Server) describeAll(names []string) []scope {
	all := make([]scope, len(names))
	for i, name := range names {
		all[i] = scope{name, s.describe(name)}
	}
	return all
}
