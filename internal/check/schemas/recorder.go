package schemas

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Recorder judges strictly, for tests of our own: methods and members that the
// revision does not have are errors, and so are answers to no request. It checks
// a conversation between one client and one server frame by
// frame. It remembers which request an answer belongs to. A Recorder is safe
// for concurrent use, but the frames of a conversation must reach it in an
// order that the peers could have observed: a request before its answer.
type Recorder struct {
	schema *Schema

	mu          sync.Mutex
	frames      int
	custom      map[string]bool    // methods that Allow registered
	resultTypes map[string]bool    // result types that AllowResultTypes registered
	calls       map[callKey]*call  // the latest request with an id
	tasks       map[taskKey]string // the result definition a task will produce
}

// callKey identifies a request. Each side numbers its requests on its own.
type callKey struct {
	dir direction
	id  string
}

// taskKey identifies a task. Its requestor created it and alone may query it.
type taskKey struct {
	dir direction
	id  string
}

// call is a request that has been seen.
type call struct {
	method   string
	isTask   bool   // whether the request asked to be run as a task
	taskID   string // the task the request is about, if any
	answered bool
}

// NewRecorder returns a Recorder that checks against s.
func NewRecorder(s *Schema) *Recorder {
	return &Recorder{
		schema:      s,
		custom:      map[string]bool{},
		resultTypes: map[string]bool{},
		calls:       map[callKey]*call{},
		tasks:       map[taskKey]string{},
	}
}

// Allow registers methods that the revision does not define, such as those of
// an extension. Requests and notifications with these methods, and the results
// of such requests, are checked as messages in general.
func (r *Recorder) Allow(methods ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, method := range methods {
		r.custom[method] = true
	}
}

// AllowResultTypes registers values of resultType that an extension adds, such
// as "task". Results of these types are checked as results in general. It has
// no effect on revisions whose results have no type.
func (r *Recorder) AllowResultTypes(types ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range types {
		r.resultTypes[t] = true
	}
}

// Frames returns how many frames were checked. A batch counts as one.
func (r *Recorder) Frames() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.frames
}

// Pending returns the methods of the requests that have no answer yet, sorted.
func (r *Recorder) Pending() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var methods []string
	for _, c := range r.calls {
		if !c.answered {
			methods = append(methods, c.method)
		}
	}
	slices.Sort(methods)
	return methods
}

// Frame checks a frame that travels from the client if fromClient is set, and
// from the server otherwise. The error lists everything that is wrong with the
// frame. A bad request is still remembered, so that the response to it is not
// reported as unexpected.
func (r *Recorder) Frame(fromClient bool, frame []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames++
	dir := direction(fromClient)
	v, faulty := decode(frame)
	if faulty != nil {
		return fmt.Errorf("%s frame %.500q: %s", dir, frame, faulty[0])
	}
	var p problems
	if bytes.ContainsAny(frame, "\r\n") {
		p.addf("the frame contains a line break")
	}
	if elements, ok := v.([]any); ok {
		r.batch(&p, dir, elements)
	} else {
		r.message(&p, dir, v)
	}
	if err := errors.Join(p...); err != nil {
		return fmt.Errorf("%s frame %.500q: %w", dir, frame, err)
	}
	return nil
}

// problems collects what is wrong with a frame.
type problems []error

func (p *problems) addf(format string, args ...any) {
	*p = append(*p, fmt.Errorf(format, args...))
}

// strict checks a part of a message, unknown members included.
func (p *problems) strict(s *Schema, at part) {
	for _, v := range s.check(at) {
		p.addf("%s: %s", at.definition, v)
	}
	if at.open {
		return
	}
	for _, member := range s.unknown(at) {
		p.addf("member %q is unknown to %q of revision %s", member, at.definition, s.revision)
	}
}
