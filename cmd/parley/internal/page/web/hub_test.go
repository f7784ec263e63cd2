package web

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// events opens a stream and returns its lines.
func (p *page) events(topics string) (*bufio.Scanner, func()) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.origin+prefix+"/events?topics="+topics, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Parley-Key", p.key)
	answer, err := p.in.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		p.t.Fatalf("the stream is %d, %q", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // the comment that it begins with
	lines.Scan()
	return lines, func() { _ = answer.Body.Close() }
}

func next(lines *bufio.Scanner) string {
	var event []string
	for lines.Scan() && lines.Text() != "" {
		event = append(event, lines.Text())
	}
	return strings.Join(event, "\n")
}

// Who watches a topic hears of it, in order, and of no other.
func TestEvents(t *testing.T) {
	p := newPage(t)
	some, end := p.events("call,log")
	defer end()
	all, endAll := p.events("")
	defer endAll()
	p.hub.Publish("frames", map[string]int{"last": 1})
	p.hub.Publish("call", map[string]string{"text": "two\nlines\u2028 and more"})
	p.hub.Publish("log", nil)
	for _, want := range []string{`event: frames` + "\n" + `data: {"last":1}`, "event: call\ndata: {\"text\":\"two\\nlines\u2028 and more\"}", "event: log\ndata: null"} {
		if got := next(all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if strings.HasPrefix(want, "event: frames") {
			continue
		}
		if got := next(some); got != want {
			t.Errorf("of two topics: got %q, want %q", got, want)
		}
	}
}

// A stream ends when its server does, and leaves nothing behind (see also TestMain).
func TestStreamEndsWithItsServer(t *testing.T) {
	var end func()
	t.Cleanup(func() { end() }) // after the page's
	p := newPage(t)
	lines, closed := p.events("")
	end = closed
	p.hub.Publish("call", 1)
	if got := next(lines); got != "event: call\ndata: 1" {
		t.Errorf("got %q", got)
	}
}

// slow is a response to a watcher who reads one event at a time, when asked to.
type slow struct {
	*httptest.ResponseRecorder
	read chan string
}

func (w *slow) Write(p []byte) (int, error) {
	w.read <- string(p)
	return len(p), nil
}

func (w *slow) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// A watcher who is too slow holds nobody up, and is told that events were lost.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := new(Hub)
		w := &slow{httptest.NewRecorder(), make(chan string)}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/events", nil)
		ended := make(chan error, 1)
		go func() { // ends with the test's context
			ended <- hub.stream(w, &Request{Request: r, lasts: func() bool { return true }})
		}()
		<-w.read
		for i := range 2 * backlog {
			hub.Publish("call", i)
		}
		synctest.Wait()
		lost, last := false, ""
		for range backlog + 1 {
			last = <-w.read
			lost = lost || strings.HasPrefix(last, "event: lost\n")
		}
		if !lost {
			t.Errorf("nobody says that events were lost; the last was %q", last)
		}
		hub.Publish("call", "after")
		for last != "event: call\ndata: \"after\"\n\n" {
			last = <-w.read
		}
		pass(beat)
		if alive := <-w.read; alive != ": alive\n\n" {
			t.Errorf("a quiet stream says %q", alive)
		}
	})
}

// There is a bound for streams, and room again when one ends.
func TestTooManyWatchers(t *testing.T) {
	hub := new(Hub)
	var first *watcher
	for i := range mostWatchers {
		w, err := hub.watch("")
		if err != nil {
			t.Fatal(i, err)
		}
		first = w
	}
	if _, err := hub.watch(""); asError(err).Status != http.StatusServiceUnavailable {
		t.Errorf("one too many: %v", err)
	}
	hub.leave(first)
	if _, err := hub.watch(""); err != nil {
		t.Error(err)
	}
}

// What cannot be written as JSON makes watchers read anew.
func TestEventThatIsNoJSON(t *testing.T) {
	if got := string(asEvent("call", func() {})); got != "event: lost\ndata: {}\n\n" {
		t.Errorf("got %q", got)
	}
}

func ExampleErrorf() {
	fmt.Println(Errorf(http.StatusNotFound, "no_connection", "there is no connection %q", "c9"))
	// Output: there is no connection "c9"
}
