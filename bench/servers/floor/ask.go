package main

import (
	"net/http"
	"strconv"

	"github.com/parley-mcp/parley/bench/payload"
)

// ask asks two questions: in a session on the stream of the call, otherwise by
// having the call repeated.
func (f *floor) ask(w http.ResponseWriter, r *http.Request, req *request) {
	if r.Header.Get("Mcp-Session-Id") != "" {
		f.askOnStream(w, req)
		return
	}
	switch in := req.Params.InputResponses; req.Params.RequestState {
	case "":
		reply(w, req, inputRequired("name", "1"))
	case "1":
		reply(w, req, inputRequired("size", "2"+in["name"].Content.Name))
	default:
		reply(w, req, result(payload.Echo{Text: req.Params.RequestState[1:], Count: in["size"].Content.Size, Tags: req.Params.Arguments.Tags}))
	}
}

func inputRequired(key, state string) map[string]any {
	return map[string]any{
		"resultType":    "input_required",
		"requestState":  state,
		"inputRequests": map[string]any{key: map[string]any{"method": "elicitation/create", "params": question(key)}},
	}
}

func (f *floor) askOnStream(w http.ResponseWriter, req *request) {
	s := newStream(w)
	name := f.elicit(s, "name").Content.Name
	size := f.elicit(s, "size").Content.Size
	s.send(answerTo(req.ID, result(payload.Echo{Text: name, Count: size, Tags: req.Params.Arguments.Tags})))
}

func (f *floor) elicit(s stream, key string) answer {
	got := make(chan answer, 1)
	f.mu.Lock()
	f.next++
	id := strconv.Itoa(f.next)
	f.waiting[id] = got
	f.mu.Unlock()
	q := notify("elicitation/create", question(key))
	q.ID = id
	s.send(q)
	return <-got
}

func (f *floor) answered(req *request) {
	id, err := strconv.Unquote(string(req.ID))
	if err != nil {
		return
	}
	f.mu.Lock()
	got := f.waiting[id]
	delete(f.waiting, id)
	f.mu.Unlock()
	if got != nil {
		got <- req.Result
	}
}
