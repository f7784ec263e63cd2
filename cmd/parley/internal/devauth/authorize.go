package devauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ask answers a request for authorization: with a page, or at once where the
// user need not be asked.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.problem(w, http.StatusBadRequest, "The address of this page is malformed.")
		return
	}
	user := s.user(r)
	// A document is fetched only for a user, not for anybody who can name one.
	if user == "" && s.clients.needsFetch(q.Get("client_id")) {
		s.loginPage(w, r, http.StatusOK, "")
		return
	}
	if req := s.request(w, r, q); req != nil {
		s.answer(w, r, req, user)
	}
}

// request reads a request for authorization. If that fails, it responds and
// returns nil.
func (s *Server) request(w http.ResponseWriter, r *http.Request, q url.Values) *request {
	req, e := s.addressee(r.Context(), q)
	if e != nil {
		s.problem(w, http.StatusBadRequest, e.description)
		return nil
	}
	if e := s.read(req, q); e != nil {
		s.refuse(w, req, e)
		return nil
	}
	return req
}

// refuse tells the client that its request has failed. If anybody could have
// registered the client, the browser is not redirected automatically, because
// the request may fail on purpose: the user decides.
func (s *Server) refuse(w http.ResponseWriter, req *request, e *oauthError) {
	if !req.trusted() {
		s.problem(w, http.StatusBadRequest, req.client.name+" has asked for something that cannot be had: "+sentence(e.description))
		return
	}
	s.respond(w, req, url.Values{"error": {e.code}, "error_description": {e.description}})
}

// answer continues with a valid request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *request, user string) {
	silent := slices.Contains(req.prompt, "none")
	switch {
	case user == "" && silent:
		s.refuse(w, req, fail("login_required", "nobody is logged in"))
	case user == "" || slices.Contains(req.prompt, "login"):
		s.loginPage(w, r, http.StatusOK, "")
	case s.decided(req, user):
		s.grant(w, req, user, req.scopes)
	case silent:
		s.refuse(w, req, fail("consent_required", "the user has to be asked"))
	default:
		s.consentPage(w, r, req, user)
	}
}

// decided reports whether the user need not be asked, having allowed all of it
// before. On the user's own machine any program can claim to be that client, so
// there the user always has to confirm (RFC 8252, section 8.6).
func (s *Server) decided(req *request, user string) bool {
	return strings.HasPrefix(req.redirect, "https:") && !slices.Contains(req.prompt, "consent") &&
		len(without(req.scopes, s.allowed(user, req))) == 0
}

// decide handles the forms of the pages.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if e := form(w, r, "scope"); e != nil {
		s.problem(w, http.StatusBadRequest, sentence(e.description))
		return
	}
	user, action := s.user(r), r.PostForm.Get("action")
	switch {
	case !s.ours(r):
		s.problem(w, http.StatusForbidden, "This form is not from this server, or it is too old, or the browser keeps no cookies. Go back to the program and start again.")
	case action == "login":
		s.login(w, r)
	case action == "switch":
		s.logOut(r)
		seeAgain(w, r.URL.Query())
	case user == "":
		seeAgain(w, r.URL.Query())
	default:
		if req := s.request(w, r, r.URL.Query()); req != nil {
			s.settle(w, r, req, user)
		}
	}
}

// settle carries out the user's decision.
func (s *Server) settle(w http.ResponseWriter, r *http.Request, req *request, user string) {
	before := both(req.scopes, s.allowed(user, req))
	granted := both(req.scopes, append(r.PostForm["scope"], before...))
	if r.PostForm.Get("action") != "allow" || len(without(granted, []string{offlineAccess})) == 0 {
		s.opts.Logger.Info("a user has denied access", "user", user, "client", req.client.id)
		s.respond(w, req, url.Values{"error": {"access_denied"}, "error_description": {"the user has denied access"}})
		return
	}
	s.remember(user, req, granted)
	s.grant(w, req, user, granted)
}
