package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/mcp"
)

// changeList collects the changes that a watcher gets.
type changeList struct {
	mu   sync.Mutex
	list []mcp.Change
}

func (l *changeList) add(c mcp.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, c)
}

func (l *changeList) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return fmt.Sprint(list)
}

// subscribe subscribes to changes, as a client does.
func subscribe(t *testing.T, s *Server, filter mcp.SubscriptionFilter, deliver func(mcp.Change)) (stop func()) {
	t.Helper()
	result, err := s.Serve(t.Context(), &mcp.Exchange{Method: mcp.MethodListen, Watch: &mcp.Watch{Filter: filter, Deliver: deliver}})
	watching, ok := result.(*mcp.Watching)
	if err != nil || !ok {
		t.Errorf("subscribing returned %T, %v", result, err)
		return func() {}
	}
	return watching.Stop
}

func TestListChanges(t *testing.T) {
	s, _ := newServer(Options{})
	var heard changeList
	stop := subscribe(t, s, mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}, heard.add)
	template := func() {
		AddTemplate(s, mcp.ResourceTemplate{URITemplate: "x:{a}", Name: "t"},
			func(context.Context, *Call, string, map[string]string) (*mcp.ReadResourceResult, error) {
				return nil, nil
			})
	}
	for i, c := range []struct {
		do   func()
		want string
	}{
		{func() { AddTool(s, mcp.Tool{Name: "t"}, textTool) }, "[{1 }]"},
		{func() { AddTool(s, mcp.Tool{Name: "t"}, textTool) }, "[]"}, // looks the same
		{func() { AddTool(s, mcp.Tool{Name: "t", Title: "T"}, textTool) }, "[{1 }]"},
		{func() { s.RemoveTools("u") }, "[]"},
		{func() { s.RemoveTools("t", "u") }, "[{1 }]"},
		{func() { AddPrompt(s, mcp.Prompt{Name: "p"}, reviewPrompt) }, "[{2 }]"},
		{func() { AddPrompt(s, mcp.Prompt{Name: "p"}, reviewPrompt) }, "[]"},
		{func() { s.RemovePrompts("p") }, "[{2 }]"},
		{func() { s.AddResource(mcp.Resource{URI: "x:a", Name: "a"}, readText("")) }, "[{3 }]"},
		{func() { s.RemoveResources("x:a") }, "[{3 }]"},
		{template, "[{3 }]"},
		{template, "[]"},
		{func() { s.RemoveTemplates("x:{a}") }, "[{3 }]"},
		{func() { s.ResourceUpdated("x:a") }, "[]"},
		{stop, "[]"},
		{stop, "[]"},
		{func() { AddTool(s, mcp.Tool{Name: "t"}, textTool) }, "[]"},
	} {
		c.do()
		if got := heard.take(); got != c.want {
			t.Errorf("step %d: got %s, want %s", i, got, c.want)
		}
	}
}

func TestResourceUpdates(t *testing.T) {
	for _, on := range []bool{true, false} {
		s, _ := newServer(Options{Subscriptions: on})
		var a, b changeList
		stopA := subscribe(t, s, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:a", "x:a", "x:c"}}, a.add)
		subscribe(t, s, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:b"}}, b.add)
		s.ResourceUpdated("x:a")
		s.ResourceUpdated("x:other")
		stopA()
		s.ResourceUpdated("x:a")
		want := map[bool]string{true: "[{4 x:a}]", false: "[]"}[on]
		same(t, a.take(), want)
		same(t, b.take(), "[]")
	}
}

func TestStopWaitsForDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		entered, leave := make(chan struct{}), make(chan struct{})
		stop := h.Subscribe(mcp.SubscriptionFilter{ToolsListChanged: true}, func(mcp.Change) {
			close(entered)
			<-leave
		})
		go h.Publish(mcp.Change{Kind: mcp.ToolsChanged})
		<-entered
		var stopped [2]bool
		for i := range stopped {
			go func() {
				stop()
				stopped[i] = true
			}()
		}
		synctest.Wait()
		if stopped[0] || stopped[1] {
			t.Error("stop returned during a delivery")
		}
		close(leave)
		synctest.Wait()
		if !stopped[0] || !stopped[1] {
			t.Error("stop did not return after the delivery")
		}
	})
}

func TestHubForgets(t *testing.T) {
	h := NewHub().(*localHub)
	filter := mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"x:a", "x:a"}}
	stop := h.Subscribe(filter, func(mcp.Change) {})
	h.Subscribe(mcp.SubscriptionFilter{ToolsListChanged: true}, func(mcp.Change) {})
	stop()
	if len(h.interested) != 1 {
		t.Errorf("left: %v", h.interested)
	}
}

// watchLog is a WatchResource that records what happened.
type watchLog struct {
	mu     sync.Mutex
	events []string
	active map[string]int
	fail   error
}

func (w *watchLog) watch(uri string) (func(), error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, "start "+uri)
	if w.fail != nil {
		return nil, w.fail
	}
	if w.active == nil {
		w.active = map[string]int{}
	}
	w.active[uri]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, "stop "+uri)
		w.active[uri]--
	}, nil
}

func TestWatchResource(t *testing.T) {
	w := &watchLog{}
	s, log := newServer(Options{WatchResource: w.watch})
	watchURIs := func(uris ...string) func() {
		return subscribe(t, s, mcp.SubscriptionFilter{ResourceSubscriptions: uris}, func(mcp.Change) {})
	}
	one := watchURIs("x:a", "x:a", "x:b")
	two := watchURIs("x:a")
	one()
	one()
	two()
	watchURIs("x:a")()
	same(t, strings.Join(w.events, ","), "start x:a,start x:b,stop x:b,stop x:a,start x:a,stop x:a")
	if len(s.watches.uris) != 0 {
		t.Errorf("left: %v", s.watches.uris)
	}

	w.events, w.fail = nil, errors.New("no such file")
	watchURIs("x:a")()
	watchURIs("x:a")()
	same(t, strings.Join(w.events, ","), "start x:a,start x:a")
	if got := strings.Count(log.String(), "no such file"); got != 2 {
		t.Errorf("logged %d times:\n%s", got, log)
	}
	if len(s.watches.uris) != 0 {
		t.Errorf("left: %v", s.watches.uris)
	}
}

// What cannot be watched is not acknowledged, and nothing is told of it.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
func TestWhatCannotBeWatched(t *testing.T) {
	s, _ := newServer(Options{WatchResource: func(uri string) (func(), error) {
		switch uri {
		case "x:outside":
			return nil, errors.New("not below the root")
		case "x:panic":
			panic("oh no")
		}
		return nil, nil
	}})
	var heard changeList
	filter := mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"x:a", "x:outside", "x:panic"}}
	result, err := s.Serve(t.Context(), &mcp.Exchange{Method: mcp.MethodListen, Watch: &mcp.Watch{Filter: filter, Deliver: heard.add}})
	if err != nil {
		t.Fatal(err)
	}
	watching := result.(*mcp.Watching)
	if got := watching.Filter; !slices.Equal(got.ResourceSubscriptions, []string{"x:a"}) || !got.ToolsListChanged {
		t.Errorf("acknowledged: %+v", got)
	}
	for _, uri := range []string{"x:outside", "x:panic", "x:a"} {
		s.ResourceUpdated(uri)
	}
	same(t, heard.take(), "[{4 x:a}]")
	watching.Stop()
	s.ResourceUpdated("x:a")
	same(t, heard.take(), "[]")
	if len(s.watches.uris) != 0 {
		t.Errorf("left: %v", s.watches.uris)
	}
}

// The second watcher arrives, and both leave, while the start is under way.
func TestWatchWhileStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		gate := make(chan struct{})
		s, _ := newServer(Options{WatchResource: func(string) (func(), error) {
			events = append(events, "start")
			<-gate
			return func() { events = append(events, "stop") }, nil
		}})
		filter := mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:a"}}
		var stopFirst func()
		go func() { stopFirst = subscribe(t, s, filter, func(mcp.Change) {}) }()
		synctest.Wait()
		stop := subscribe(t, s, filter, func(mcp.Change) {}) // does not wait
		stop()
		close(gate)
		synctest.Wait()
		same(t, fmt.Sprint(events), "[start]")
		stopFirst()
		same(t, fmt.Sprint(events), "[start stop]")
	})
}

func TestWatchPanic(t *testing.T) {
	s, log := newServer(Options{WatchResource: func(uri string) (func(), error) {
		if uri == "x:start" {
			panic("starting")
		}
		return func() { panic("stopping") }, nil
	}})
	for range 2 {
		subscribe(t, s, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:start", "x:stop"}}, func(mcp.Change) {})()
	}
	if strings.Count(log.String(), "starting") < 2 || strings.Count(log.String(), "stopping") < 2 {
		t.Errorf("not logged:\n%s", log)
	}
}

func TestWatchConcurrently(t *testing.T) {
	w := &watchLog{}
	s, _ := newServer(Options{WatchResource: w.watch})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				stop := subscribe(t, s, mcp.SubscriptionFilter{ResourceSubscriptions: []string{"x:a", "x:b"}}, func(mcp.Change) {})
				s.ResourceUpdated("x:a")
				stop()
			}
		})
	}
	wg.Wait()
	if w.active["x:a"] != 0 || w.active["x:b"] != 0 || len(s.watches.uris) != 0 {
		t.Errorf("still active: %v, %v", w.active, s.watches.uris)
	}
	var a []string
	for _, e := range w.events {
		if strings.HasSuffix(e, "x:a") {
			a = append(a, e)
		}
	}
	for pair := range slices.Chunk(a, 2) {
		if fmt.Sprint(pair) != "[start x:a stop x:a]" {
			t.Fatalf("starts and stops overlap: %v", pair)
		}
	}
}

// recordingHub shows that a custom hub takes the place of the default.
type recordingHub struct {
	Hub
	published []mcp.Change
}

func (h *recordingHub) Publish(c mcp.Change) { h.published = append(h.published, c) }

func TestOwnHub(t *testing.T) {
	h := &recordingHub{Hub: NewHub()}
	s, _ := newServer(Options{Hub: h})
	var heard changeList
	subscribe(t, s, mcp.SubscriptionFilter{ToolsListChanged: true}, heard.add)
	AddTool(s, mcp.Tool{Name: "t"}, textTool)
	h.Hub.Publish(mcp.Change{Kind: mcp.ToolsChanged}) // as if from another node
	same(t, fmt.Sprint(h.published)+heard.take(), "[{1 }][{1 }]")
}

func BenchmarkPublishAmongManyWatchers(b *testing.B) {
	h := NewHub()
	for i := range 10_000 {
		h.Subscribe(mcp.SubscriptionFilter{ResourceSubscriptions: []string{fmt.Sprint("x:", i)}}, func(mcp.Change) {})
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(mcp.Change{Kind: mcp.ResourceUpdated, URI: "x:7"})
	}
}
