package main

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/bench/payload"
	"github.com/parley-mcp/parley/bench/servers/config"
)

type floor struct {
	tools []tool
	blob  []byte

	mu      sync.Mutex
	next    int
	waiting map[string]chan answer     // questions asked, by ID
	streams map[chan struct{}]struct{} // open event streams, notified of changes
}

func newFloor(c config.Config) *floor {
	return &floor{tools: tools(c), blob: payload.Blob(), waiting: map[string]chan answer{}, streams: map[chan struct{}]struct{}{}}
}

func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch req.Method {
	case "tools/call":
		f.call(w, r, &req)
	case "subscriptions/listen":
		f.listen(w, r, &req)
	case "tools/list":
		reply(w, &req, map[string]any{"tools": f.tools})
	case "resources/read":
		reply(w, &req, map[string]any{"contents": []blob{{payload.BlobURI, f.blob}}})
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "floor")
		reply(w, &req, map[string]any{"protocolVersion": payload.SessionRevision})
	case "":
		f.answered(&req)
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func reply(w http.ResponseWriter, req *request, result any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answerTo(req.ID, result))
}

func (f *floor) call(w http.ResponseWriter, r *http.Request, req *request) {
	switch req.Params.Name {
	case "progress":
		progress(w, req)
	case "ask":
		f.ask(w, r, req)
	case "change":
		f.change()
		reply(w, req, result(req.Params.Arguments))
	default:
		reply(w, req, result(req.Params.Arguments))
	}
}

func progress(w http.ResponseWriter, req *request) {
	s := newStream(w)
	for i := range payload.Steps {
		s.send(notify("notifications/progress", map[string]any{"progressToken": "p", "progress": i + 1, "total": payload.Steps}))
	}
	s.send(answerTo(req.ID, result(req.Params.Arguments)))
}
