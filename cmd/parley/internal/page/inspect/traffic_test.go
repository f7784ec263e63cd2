package inspect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

type seenFrames struct {
	Frames []record.Row
	State  record.State
}

// Everything that is to be known of the traffic is to be had by its routes.
func TestTraffic(t *testing.T) {
	s := newStage(t, Options{})
	c := s.open(itself(t))
	at := "/connections/" + c.ID
	all := must[seenFrames](s, "GET", at+"/frames", nil)
	if len(all.Frames) == 0 || all.Frames[0].Method != mcp.MethodDiscover || all.State.Last < 2 {
		t.Fatalf("the frames are %+v", all)
	}
	some := must[seenFrames](s, "GET", at+"/frames?n=1,2,99", nil)
	if len(some.Frames) != 2 {
		t.Errorf("three numbers, of which one is gone: %+v", some)
	}
	found := must[struct {
		Runs    []record.Run
		Through uint64
	}](s, "GET", at+"/frames/numbers?q=SERVER/discover&kind=request,result&direction=sent", nil)
	if len(found.Runs) != 1 || found.Runs[0] != (record.Run{1, 1}) || found.Through < all.State.Last {
		t.Errorf("found %+v", found)
	}
	frame := must[struct{ Frame record.Detail }](s, "GET", at+"/frames/1", nil).Frame
	if !strings.Contains(string(frame.Message), `"method":"server/discover"`) || frame.Exchange != 1 {
		t.Errorf("the first frame is %+v", frame)
	}
	if status, raw := s.call("GET", at+"/frames/1/raw", nil); status != 200 || string(raw) != string(frame.Message) {
		t.Errorf("raw: %d %s", status, raw)
	}
	x := must[struct {
		Exchanges []record.ExchangeRow
		Frames    []record.Row
		Total     int
	}](s, "GET", at+"/exchanges/1", nil)
	if len(x.Exchanges) != 1 || x.Exchanges[0].State != record.Done || len(x.Frames) != 2 || x.Total != 2 { // a request and its answer
		t.Errorf("the first exchange is %+v", x)
	}
	if least := must[struct {
		Frames []record.Row
		Total  int
	}](s, "GET", at+"/exchanges/1?limit=1", nil); len(least.Frames) != 1 || least.Total != 2 {
		t.Errorf("the least of the first exchange is %+v", least)
	}
	if list := must[struct{ Exchanges []record.ExchangeRow }](s, "GET", at+"/exchanges", nil); len(list.Exchanges) == 0 {
		t.Error("there are no exchanges")
	}
	sum := must[struct{ Methods, Kinds map[string]int }](s, "GET", at+"/traffic", nil)
	if sum.Methods[mcp.MethodDiscover] != 2 || sum.Kinds["result"] == 0 {
		t.Errorf("in sum: %+v", sum)
	}
	if state := must[record.State](s, "DELETE", at+"/frames", nil); state.Last != state.First-1 {
		t.Errorf("after clearing: %+v", state)
	}
}

func TestTrafficRefuses(t *testing.T) {
	s := newStage(t, Options{})
	at := "/connections/" + s.open(itself(t)).ID
	for path, want := range map[string]string{
		"/frames?after=x":         "parameter after",
		"/frames?limit=9999":      "parameter limit",
		"/frames?kind=odd":        "parameter kind",
		"/frames?direction=up":    "parameter direction",
		"/frames?n=1,x":           "parameter n",
		"/frames/x":               "parameter n",
		"/frames/12345":           "not_recorded ",
		"/frames/12345/raw":       "not_recorded ",
		"/exchanges/12345":        "not_recorded ",
		"/exchanges/1?limit=9999": "parameter limit",
		"/exchanges/1/as/perl":    "no_form ",
		"/exchanges/1/as/go":      "no_form ",
		"/export/pcap":            "no_form ",
		"/export/har?exchange=x":  "parameter exchange",
	} {
		if e := s.refused("GET", at+path, nil); e.Code+" "+e.Field != want {
			t.Errorf("%s: %+v", path, e)
		}
	}
	if e := s.refused("POST", at+"/resume", nil); e.Code != "no_network" {
		t.Errorf("cutting pipes: %+v", e)
	}
}

// What is exported has no secrets, unless somebody asks for them.
func TestExports(t *testing.T) {
	const secret = "Bearer s3cr3t-of-the-test"
	h, err := streamable.New(newTestServer(), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close) // after the connections
	s := newStage(t, Options{})
	at := "/connections/" + s.open(map[string]any{"url": web.URL, "revision": "2025-11-25", "headers": []namedSecret{{"Authorization", secret}}}).ID
	for _, path := range []string{"/export/har", "/export/jsonl", "/exchanges/1/as/curl", "/exchanges/1/as/parley", "/frames/1", "/frames"} {
		for asked, want := range map[string]bool{"": false, "?secrets=1": path != "/frames"} {
			status, got := s.call("GET", at+path+asked, nil)
			if has := strings.Contains(string(got), "s3cr3t"); status != 200 || has != want {
				t.Errorf("%s%s: status %d, with the secret: %t\n%s", path, asked, status, has, got)
			}
		}
	}
	_, har := s.call("GET", at+"/export/har", nil)
	var log struct {
		Log struct {
			Version string
			Entries []struct {
				Request  struct{ Method, URL string }
				Response struct{ Status int }
			}
		}
	}
	if err := json.Unmarshal(har, &log); err != nil || log.Log.Version != "1.2" || len(log.Log.Entries) < 3 {
		t.Fatalf("%v in %s", err, har)
	}
	for _, e := range log.Log.Entries {
		if !slices.Contains([]string{http.MethodGet, http.MethodPost}, e.Request.Method) || e.Response.Status/100 != 2 || e.Request.URL != web.URL {
			t.Errorf("an entry is %+v", e)
		}
	}
	_, lines := s.call("GET", at+"/export/jsonl", nil)
	for i, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
		var d record.Detail
		if err := json.Unmarshal([]byte(line), &d); err != nil || fmt.Sprint(d.Number) != fmt.Sprint(i+1) {
			t.Errorf("line %d is %s: %v", i+1, line, err)
		}
	}
}

// When the network breaks, the client asks for its stream again, and the page sees what it
// was brought, or why nothing was.
func TestBrokenNetwork(t *testing.T) {
	h, err := streamable.New(newTestServer(), &streamable.Options{ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close) // after the connections
	s := newStage(t, Options{})
	c := s.open(map[string]any{"url": web.URL, "revision": "2025-11-25"})
	at := "/connections/" + c.ID
	type outcome struct {
		Streams []resumption
		Why     string
	}
	if before := must[outcome](s, "GET", at+"/resume?after=999999", nil); before.Why != "No stream has been asked for again yet." {
		t.Errorf("before: %+v", before)
	}
	cut := must[struct {
		Cut   int
		After uint64
	}](s, "POST", at+"/resume", nil)
	if cut.Cut == 0 || cut.After == 0 {
		t.Fatalf("cut: %+v", cut)
	}
	var got outcome
	for retry := time.NewTicker(20 * time.Millisecond); len(got.Streams) == 0 || got.Streams[0].Status == 0; <-retry.C {
		got = must[outcome](s, "GET", fmt.Sprintf("%s/resume?after=%d", at, cut.After), nil)
		if s.Context().Err() != nil {
			t.Fatal("the stream was not asked for again")
		}
	}
	if one := got.Streams[0]; one.Status != http.StatusOK || (one.LastEvent == "") != (got.Why != "") {
		t.Errorf("after: %+v", got)
	}
	must[said](s, "POST", at+"/disconnect", nil)
	if e := s.refused("POST", at+"/resume", nil); e.Code != "not_connected" {
		t.Errorf("cutting what is not connected: %+v", e)
	}
}
