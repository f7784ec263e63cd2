package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Go returns a request as a complete Go file with a test, which makes it again with the
// SDK, gives the same answers to the server's questions, and expects the same outcome.
func (r *Recorder) Go(number uint64, t *target.Target, secrets bool) (Copy, error) {
	o, err := r.original(number, t, secrets)
	if err != nil {
		return Copy{}, err
	}
	known := mcp.MethodNamed(o.x.Method)
	if o.frame == nil || known != nil && known.Connection && o.x.Method != mcp.MethodPing {
		return Copy{}, fmt.Errorf("%w: the SDK sends %s by itself", ErrNoForm, o.x.Method)
	}
	f, err := o.goTest()
	if err != nil {
		return Copy{}, err
	}
	var b bytes.Buffer
	if err := goFile.Execute(&b, f); err != nil {
		return Copy{}, err
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return Copy{}, fmt.Errorf("the test is no Go: %w", err)
	}
	o.note("Put it into a folder with a go.mod that requires github.com/parley-mcp/parley, and run: go test")
	return o.done(string(text)), nil
}

// goTest is what the template needs. Texts are Go expressions.
type goTest struct {
	Method, Params string
	Name           string // of the test
	Transport      string
	URL            bool
	Header         []string
	Env            []string // of a command
	UsesOS         bool
	Revision       string
	Answers        []goAnswer
	Capabilities   string // of the client; needed to be asked
	Result         string
	Code           int64
	Failed         bool
}

type goAnswer struct{ Method, Result string }

func (o *original) goTest() (*goTest, error) {
	last := o.last()
	f := &goTest{Method: strconv.Quote(o.x.Method), Name: testName(o.x.Method + " " + o.x.Subject), URL: o.target.URL != ""}
	params := o.params
	if len(params) > 0 {
		params = wire.Except(params, "_meta", "inputResponses", "requestState")
	}
	f.Params = o.literal(params)
	o.transport(f)
	if rev, _ := o.revision(); rev != "" {
		f.Revision = "mcp.Revision" + strings.ReplaceAll(rev, "-", "")
	}
	answers, err := o.answers()
	if err != nil {
		return nil, err
	}
	if f.Answers = answers; len(answers) > 0 {
		f.Capabilities = o.literal(o.capabilities())
	}
	if last.Answer == 0 {
		return nil, fmt.Errorf("%w: there is no answer to compare with", ErrNoForm)
	}
	answer, err := o.r.Frame(last.Answer)
	if err != nil {
		return nil, err
	}
	m, err := decoder.Decode(answer.Raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoForm, err)
	}
	if m.Error != nil {
		f.Failed, f.Code = true, m.Error.Code
		return f, nil
	}
	f.Result = o.literal(m.Result)
	return f, nil
}

// last returns the exchange that brought the outcome: that of the last round.
func (o *original) last() Exchange {
	family, err := o.r.Family(o.x.Number)
	if err != nil {
		return o.x
	}
	last := o.x
	for _, x := range family {
		if x.Parent == o.x.Number && (x.Why == Round || x.Why == Repeat) {
			last = x
		}
	}
	return last
}

// transport says how the server is reached.
func (o *original) transport(f *goTest) {
	t := o.target
	if !f.URL {
		for _, w := range t.Command {
			f.Transport += strconv.Quote(w) + ", "
		}
		for _, kv := range t.Env {
			name, value, _ := strings.Cut(kv, "=")
			f.Env = append(f.Env, strconv.Quote(name+"=")+" + "+o.value(f, name, value))
		}
		if t.Dir != "" {
			o.note("The server runs in %s.", t.Dir)
		}
		return
	}
	f.Transport = strconv.Quote(o.url())
	for _, name := range slices.Sorted(maps.Keys(t.Header)) {
		for _, value := range t.Header[name] {
			f.Header = append(f.Header, strconv.Quote(name)+": {"+o.value(f, name, value)+"},")
		}
	}
}

// value is the value of a variable or header of the target.
func (o *original) value(f *goTest, name, value string) string {
	if o.lens.secrets {
		return strconv.Quote(value)
	}
	f.UsesOS = true
	return "os.Getenv(" + strconv.Quote(o.variable(name)) + ")"
}

// literal is JSON as a Go string.
func (o *original) literal(raw []byte) string {
	raw = o.lens.Frame(raw)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if strconv.CanBackquote(string(raw)) {
		return "`" + string(raw) + "`"
	}
	return strconv.Quote(string(raw))
}

// capabilities returns what the client declared when it made the request.
func (o *original) capabilities() json.RawMessage {
	if c := wire.Find(wire.Find(o.params, "_meta"), mcp.MetaClientCapabilities); c != nil {
		return c
	}
	if f, err := o.r.Frame(o.opening().Request); err == nil {
		return wire.Find(wire.Find(f.Raw, "params"), "capabilities")
	}
	return nil
}

// answers returns what the client answered to the questions of the exchange, in order.
func (o *original) answers() ([]goAnswer, error) {
	family, err := o.r.Family(o.x.Number)
	if err != nil {
		return nil, err
	}
	var answers []goAnswer
	before := o.x
	for _, x := range family {
		switch {
		case x.Why == Question && x.Answer != 0:
			f, err := o.r.Frame(x.Answer)
			if err != nil {
				return nil, err
			}
			answers = append(answers, goAnswer{strconv.Quote(x.Method), o.literal(wire.Find(f.Raw, "result"))})
		case x.Why == Round:
			round, err := o.roundAnswers(before, x)
			if err != nil {
				return nil, err
			}
			answers, before = append(answers, round...), x
		}
	}
	return answers, nil
}

// roundAnswers returns what a round brought for the questions of the one before.
//
// Spec: 2026-07-28 basic/patterns/mrtr#workflow.
func (o *original) roundAnswers(before, x Exchange) ([]goAnswer, error) {
	asked, err := o.r.Frame(before.Answer)
	if err != nil {
		return nil, err
	}
	said, err := o.r.Frame(x.Request)
	if err != nil {
		return nil, err
	}
	questions := wire.Find(wire.Find(asked.Raw, "result"), "inputRequests")
	var answers []goAnswer
	for key, result := range wire.Each(wire.Find(wire.Find(said.Raw, "params"), "inputResponses")) {
		method, _ := wire.Text(wire.Find(wire.Find(questions, string(key)), "method"))
		answers = append(answers, goAnswer{strconv.Quote(method), o.literal(result)})
	}
	return answers, nil
}

// testName makes a name of what is called.
func testName(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			if up && r >= 'a' && r <= 'z' {
				r -= 'a' - 'A'
			}
			b.WriteRune(r)
			up = false
		default:
			up = true
		}
	}
	return "Test" + b.String()
}

var goFile = template.Must(template.New("").Parse(`package parley_test

import (
	"context"
	"encoding/json"
	{{- if .Failed}}
	"errors"
	{{- end}}
	{{- if .Answers}}
	"fmt"
	{{- end}}
	{{- if .Header}}
	"net/http"
	{{- end}}
	{{- if .UsesOS}}
	"os"
	{{- end}}
	{{- if not .Failed}}
	"reflect"
	{{- end}}
	{{- if .Answers}}
	"sync"
	{{- end}}
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	{{- if .Failed}}
	"github.com/parley-mcp/parley/jsonrpc"
	{{- end}}
	{{- if or .Revision .Answers}}
	"github.com/parley-mcp/parley/mcp"
	{{- end}}
	"github.com/parley-mcp/parley/transport/{{if .URL}}streamable{{else}}stdio{{end}}"
)

func {{.Name}}(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	{{- if .Answers}}
	// What the server asks is answered as it was then.
	answers := []struct{ method, result string }{
	{{- range .Answers}}
		{ {{- .Method}}, {{.Result -}} },
	{{- end}}
	}
	var capabilities mcp.ClientCapabilities
	if err := json.Unmarshal([]byte({{.Capabilities}}), &capabilities); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	answer := func(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		for i, a := range answers {
			if a.method == method {
				answers = append(answers[:i:i], answers[i+1:]...)
				return json.RawMessage(a.result), nil
			}
		}
		return nil, fmt.Errorf("no answer to %s is left", method)
	}
	{{- end}}
	{{- if .URL}}
	server := &streamable.Client{URL: {{.Transport}}
		{{- if .Header}}, Header: http.Header{
		{{- range .Header}}
		{{.}}
		{{- end}}
		}{{end -}} }
	{{- else}}
	server := &stdio.Command{Args: []string{ {{- .Transport -}} }
		{{- if .Env}}, Env: []string{
		{{- range .Env}}
		{{.}},
		{{- end}}
		}{{end -}} }
	{{- end}}
	c, err := client.Connect(ctx, server, &client.Options{
		{{- if .Revision}}
		Revisions: []mcp.Revision{ {{- .Revision -}} },
		{{- end}}
		{{- if .Answers}}
		Answer: answer,
		Capabilities: &capabilities,
		{{- end}}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	{{if .Failed -}}
	_, err = c.Do(ctx, {{.Method}}, json.RawMessage({{.Params}}))
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || failure.Code != {{.Code}} {
		t.Errorf("got %v, want an error with code {{.Code}}", err)
	}
	{{- else -}}
	result, err := c.Do(ctx, {{.Method}}, json.RawMessage({{.Params}}))
	if err != nil {
		t.Fatal(err)
	}
	// Take out of both what may be different each time, such as a time.
	const expected = {{.Result}}
	var got, want map[string]any
	if err := json.Unmarshal(result, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(expected), &want); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"_meta", "resultType", "ttlMs", "cacheScope"} {
		delete(got, name)
		delete(want, name)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", result, expected)
	}
	{{- end}}
}
`))
