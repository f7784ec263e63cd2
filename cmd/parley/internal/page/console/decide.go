package console

import (
	"net/http"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

func (c *Console) allow(r *web.Request, ch *Change) (any, error) {
	var t Terms
	ch.Target = r.PathValue("id")
	if err := r.Read(&t); err != nil {
		return nil, err
	}
	if t.Seconds < 0 {
		return nil, wrong("seconds", "%g seconds are no time", t.Seconds)
	}
	var err error
	ch.Trace, err = c.gateway.Allow(ch.Target, t, ch.By)
	return done(err)
}

func (c *Console) deny(r *web.Request, ch *Change) (any, error) {
	var in struct {
		Reason string `json:"reason"`
	}
	ch.Target = r.PathValue("id")
	if err := r.Read(&in); err != nil {
		return nil, err
	}
	const most = 1000
	if len(in.Reason) > most {
		return nil, wrong("reason", "the reason is longer than %d bytes", most)
	}
	var err error
	ch.Trace, err = c.gateway.Deny(ch.Target, in.Reason, ch.By)
	return done(err)
}

func (c *Console) revoke(r *web.Request, ch *Change) (any, error) {
	ch.Target = r.PathValue("id")
	var err error
	ch.Trace, err = c.gateway.Revoke(ch.Target, ch.By)
	return done(err)
}

// done is the answer to a deed of which there is nothing else to say.
func done(err error) (any, error) { return struct{}{}, err }

// pins are all pins, without the definitions.
func (c *Console) pins(*web.Request) (any, error) {
	all, err := c.gateway.Pins()
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Approved, all[i].Pending = all[i].Approved.brief(), all[i].Pending.brief()
	}
	return list("pins", all), nil
}

func (v *Version) brief() *Version {
	if v == nil {
		return nil
	}
	return &Version{Digest: v.Digest, Since: v.Since}
}

// pin is one with its definitions.
func (c *Console) pin(r *web.Request) (any, error) {
	q := r.URL.Query()
	wanted := PinKey{q.Get("backend"), q.Get("kind"), q.Get("name")}
	all, err := c.gateway.Pins()
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].PinKey == wanted {
			return all[i], nil
		}
	}
	return nil, web.Errorf(http.StatusNotFound, "pin", "there is no pin %s/%s/%s", wanted.Backend, wanted.Kind, wanted.Name)
}

// onPin is a deed about the version of a pin that somebody has looked at.
func (c *Console) onPin(do func(PinKey, string) (Trace, error)) deed {
	return func(r *web.Request, ch *Change) (any, error) {
		var in struct {
			PinKey

			Digest string `json:"digest"`
		}
		if err := r.Read(&in); err != nil {
			return nil, err
		}
		ch.Target = in.Backend + "/" + in.Kind + "/" + in.Name
		var err error
		ch.Trace, err = do(in.PinKey, in.Digest)
		return done(err)
	}
}

func (c *Console) restart(r *web.Request, ch *Change) (any, error) {
	ch.Target = r.PathValue("name")
	var err error
	ch.Trace, err = c.gateway.Restart(r.Context(), ch.Target)
	return done(err)
}

func (c *Console) reload(r *web.Request, ch *Change) (any, error) {
	ch.Target = c.gateway.Overview().Configuration.File
	var err error
	ch.Trace, err = c.gateway.Reload(r.Context())
	return ch.Trace, err
}

func (c *Console) forget(r *web.Request, ch *Change) (any, error) {
	var k LoginKey
	if err := r.Read(&k); err != nil {
		return nil, err
	}
	ch.Target = k.Backend + " " + k.Principal
	var err error
	ch.Trace, err = c.gateway.ForgetLogin(r.Context(), k)
	return ch.Trace, err
}

func (c *Console) explain(r *web.Request) (any, error) {
	var asked Case
	if err := r.Read(&asked); err != nil {
		return nil, err
	}
	return c.decide(r.Context(), asked)
}

// maxCases is how many cases are tested at a time.
const maxCases = 1000

// verdicts are what a case can expect.
var verdicts = map[string]bool{"allow": true, "approval": true, "deny": true}

// test compares what policies decide with what cases expect.
func (c *Console) test(r *web.Request) (any, error) {
	var in struct {
		Cases []Case `json:"cases"`
	}
	if err := r.Read(&in); err != nil {
		return nil, err
	}
	if len(in.Cases) > maxCases {
		return nil, wrong("cases", "there are more than %d cases", maxCases)
	}
	type result struct {
		Name     string    `json:"name"`
		OK       bool      `json:"ok"`
		Expected string    `json:"expected"`
		Decision *Decision `json:"decision,omitzero"`
		Error    string    `json:"error,omitzero"`
	}
	results := make([]result, len(in.Cases))
	for i, asked := range in.Cases {
		results[i] = result{Name: asked.Name, Expected: asked.Expect}
		if !verdicts[asked.Expect] {
			results[i].Error = "a case expects allow, approval or deny"
			continue
		}
		d, err := c.decide(r.Context(), asked)
		if err != nil {
			results[i].Error = err.Error()
			continue
		}
		results[i].Decision, results[i].OK = d, d.Verb == asked.Expect
	}
	return list("results", results), nil
}
