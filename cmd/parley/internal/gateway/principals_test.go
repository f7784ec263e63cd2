package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/frames"
)

const (
	principals = 50
	// turns is how much each principal does, unless PARLEY_SOAK says for how long.
	turns = 10
)

// crowd is many principals in front of one gateway, and how they are doing.
type crowd struct {
	t        *testing.T
	seed     uint64
	g        *gateway.Gateway
	backends []*marking
	until    time.Time // zero is until all have had their turns

	loading  sync.Mutex
	versions []int

	good, failed, cancelled, faults, events, asked atomic.Int64
}

// Nothing crosses between principals, whatever fails: what each gets, is asked and hears of
// has its own mark.
func TestPrincipals(t *testing.T) {
	c := &crowd{t: t, seed: rand.Uint64(), g: gateway.New(gateway.Options{Info: mcp.Implementation{Name: "gateway", Version: "1"}, Logger: mcptest.Quiet()})}
	if text := os.Getenv("PARLEY_SEED"); text != "" {
		var err error
		if c.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if text := os.Getenv("PARLEY_SOAK"); text != "" {
		length, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		c.until = time.Now().Add(length)
	}
	t.Logf("PARLEY_SEED=%d has everybody do the same again", c.seed)
	for i, back := range modes {
		for name, share := range map[string]bridge.Share{"own": bridge.SharePrincipal, "session": bridge.ShareSession, "all": bridge.ShareAll} {
			if share != bridge.SharePrincipal && i > 0 && stateless(back) == (share == bridge.ShareSession) {
				continue // sessions behind are enough for the one, and none for the other
			}
			m := &marking{t: t, name: fmt.Sprint(name, i), back: back, share: share, ways: map[string]*mcptest.Transport{}}
			t.Cleanup(m.wait)
			c.backends = append(c.backends, m)
		}
	}
	t.Cleanup(func() { _ = c.g.Close() }) // before the servers are waited for
	c.versions = make([]int, len(c.backends))
	c.load(-1)
	var group sync.WaitGroup
	for p := range principals {
		group.Go(func() { c.use(p) })
	}
	group.Wait()
	t.Logf("%d operations went well and %d failed, %d were cancelled; %d faults, %d changes told, %d questions asked", c.good.Load(), c.failed.Load(), c.cancelled.Load(), c.faults.Load(), c.events.Load(), c.asked.Load())
	if good, failed := c.good.Load(), c.failed.Load(); good < failed || c.cancelled.Load() == 0 || c.faults.Load() == 0 || c.events.Load() == 0 || c.asked.Load() == 0 {
		t.Error("not everything has happened, or too much has failed, for this to show anything")
	}
}

// load has the gateway read its configuration again, in which one backend is another.
func (c *crowd) load(other int) {
	c.loading.Lock()
	defer c.loading.Unlock()
	if other >= 0 {
		c.versions[other]++
	}
	var servers []gateway.Server
	for i, m := range c.backends {
		servers = append(servers, m.server(c.versions[i]))
	}
	if err := c.g.Load(gateway.Setup{Servers: servers, ListTimeout: 20 * time.Second}); err != nil {
		c.t.Error(err)
	}
}

// principal is one of the crowd.
type principal struct {
	*crowd

	own    string
	dice   *rand.Rand
	client *client.Client
}

// check fails the test if something has the mark of somebody else.
func (p *principal) check(what, text string) {
	if found := strangers(p.own, text); found != nil {
		p.t.Errorf("%s gets marks of %v: %s: %s", p.own, found, what, text)
	}
}

// use is what a principal does.
func (c *crowd) use(n int) {
	p := &principal{crowd: c, own: fmt.Sprintf("mark-%d-", n), dice: rand.New(rand.NewPCG(c.seed, uint64(n)))}
	tr := frames.InProcess(c.g.View(""), &frames.Options{Principal: p.own, ServeOptions: mcp.ServeOptions{Logger: mcptest.Quiet()}})
	var err error
	p.client, err = client.Connect(c.t.Context(), tr, &client.Options{
		Revisions: []mcp.Revision{modes[n%len(modes)].Revision}, Logger: mcptest.Quiet(),
		Capabilities: &mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}, URL: &mcp.Empty{}}, Sampling: &mcp.SamplingCapability{}, Roots: &mcp.RootsCapability{},
			Extensions: map[string]json.RawMessage{mcp.ExtensionTasks: json.RawMessage(`{}`)},
		},
		Answer:       p.answer,
		Notification: func(_ context.Context, method string, params json.RawMessage) { p.check(method, string(params)) },
	})
	if err != nil {
		c.t.Error(err)
		return
	}
	defer p.client.Close()
	p.listen()
	for turn := 0; turn < turns || time.Now().Before(c.until); turn++ {
		p.turn(c.backends[p.dice.IntN(len(c.backends))])
	}
}

// answer answers every question with one's own mark.
func (p *principal) answer(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.check("a question", string(params))
	if method != mcp.MethodRoots && !strings.Contains(string(params), p.own) {
		p.t.Errorf("%s is asked for nobody: %s %s", p.own, method, params)
	}
	p.asked.Add(1)
	switch method {
	case mcp.MethodSample:
		return raw(`{"role":"assistant","content":{"type":"text","text":%q},"model":%[1]q,"_meta":{%q:%[1]q}}`, p.own, metaMark), nil
	case mcp.MethodRoots:
		return raw(`{"roots":[{"uri":"file:///%s","name":%[1]q}]}`, p.own), nil
	}
	if strings.Contains(string(params), `"url"`) {
		return raw(`{"action":"accept"}`), nil
	}
	return raw(`{"action":"accept","content":{"mark":%q},"_meta":{%q:%[1]q}}`, p.own, metaMark), nil
}

// listen subscribes to what is one's own.
func (p *principal) listen() {
	var uris []string
	for range 3 {
		m := p.backends[p.dice.IntN(len(p.backends))]
		uris = append(uris, "mcp:"+m.name+":note://"+p.own)
	}
	_, err := p.client.Listen(p.t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true, ResourceSubscriptions: uris}, func(_ context.Context, e client.Event) {
		p.events.Add(1)
		p.check("a change", e.Change.URI)
	})
	if err != nil {
		p.t.Error(err)
	}
}

// turn does something at random at a backend, or breaks it.
func (p *principal) turn(m *marking) {
	call := func(do string) {
		p.ask(mcp.MethodCallTool, raw(`{"name":"%s__mark","arguments":{"mark":%q,"do":%q},"_meta":{%q:%[2]q}}`, m.name, p.own, do, metaMark))
	}
	switch p.dice.IntN(32) {
	case 0:
		p.faults.Add(1)
		m.dies(p.own)
	case 1:
		if p.dice.IntN(4) == 0 {
			p.faults.Add(1)
			p.load(p.dice.IntN(len(p.backends)))
		}
	case 2, 3:
		p.cancel(m)
	case 4, 5, 6:
		call("fail")
	case 7, 8, 9, 10:
		call("ask")
	case 11, 12:
		p.ask(mcp.MethodListTools, nil)
	case 13, 14, 15:
		if m.share != bridge.ShareAll {
			p.ask(mcp.MethodReadResource, raw(`{"uri":"mcp:%s:test://me"}`, m.name))
		}
	case 16, 17:
		p.ask(mcp.MethodReadResource, raw(`{"uri":"mcp:%s:note://%s"}`, m.name, p.own))
	case 18, 19:
		p.ask(mcp.MethodGetPrompt, raw(`{"name":"%s__greet","arguments":{"mark":%q}}`, m.name, p.own))
	case 20, 21:
		p.task(m)
	case 22, 23:
		call("visit")
	case 24, 25:
		call("sample")
	case 26, 27:
		call("roots")
	case 28, 29:
		p.ask(mcp.MethodComplete, raw(`{"ref":{"type":"ref/prompt","name":"%s__greet"},"argument":{"name":"mark","value":%q}}`, m.name, p.own))
	default:
		call("")
	}
}

// ask makes a request whose answer has to have one's own mark.
func (p *principal) ask(method string, params json.RawMessage) {
	var in any
	if params != nil {
		in = params
	}
	result, err := p.client.Do(p.t.Context(), method, in, client.WithProgress(nil), client.WithLogLevel(mcp.LevelInfo), client.WithNotifications(p.told))
	if made := new(mcp.CreateTaskResult); err == nil && json.Unmarshal(result, made) == nil && made.ResultType == mcp.ResultTask { // it has asked
		result, err = p.client.Task(made.ID, "").WaitRaw(p.t.Context(), client.WithNotifications(p.told))
	}
	if err != nil {
		p.failed.Add(1)
		p.check("an error", err.Error())
		return
	}
	p.good.Add(1)
	p.check(method, string(result))
	if !strings.Contains(string(result), p.own) && !strings.Contains(string(result), "unavailable") {
		p.t.Errorf("%s gets for %s %s: %s", p.own, method, params, result)
	}
	if method == mcp.MethodCallTool {
		p.isWhole(result)
	}
}

// isWhole fails the test if a result of a tool has lost one of the places with a mark.
func (p *principal) isWhole(result json.RawMessage) {
	var got struct {
		Meta       map[string]json.RawMessage `json:"_meta"`
		Structured marked                     `json:"structuredContent"`
		IsError    bool                       `json:"isError"`
	}
	if err := json.Unmarshal(result, &got); err != nil {
		p.t.Error(err)
		return
	}
	if !got.IsError && (got.Structured.Mark != p.own || string(got.Meta[metaMark]) != string(raw("%q", p.own))) {
		p.t.Errorf("%s gets half a result: %s", p.own, result)
	}
}

func (p *principal) told(_ context.Context, method string, params json.RawMessage) {
	p.check(method, string(params))
}

// cancel makes a call, and does not want the answer any more.
func (p *principal) cancel(m *marking) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	_, err := p.client.Do(ctx, mcp.MethodCallTool, raw(`{"name":"%s__mark","arguments":{"mark":%q,"do":"wait"}}`, m.name, p.own),
		client.WithProgress(nil), client.WithNotifications(func(_ context.Context, method string, params json.RawMessage) {
			p.told(ctx, method, params)
			if method == mcp.NoteProgress {
				cancel()
			}
		}))
	if err == nil {
		p.t.Errorf("%s gets an answer that nobody gives", p.own)
		return
	}
	p.cancelled.Add(1)
	p.check("an error", err.Error())
}

// task runs a tool as a task, where tasks pass.
func (p *principal) task(m *marking) {
	if p.client.Revision() != m.back.Revision {
		return
	}
	result, err := p.client.CallTool(p.t.Context(), m.name+"__task", marked{p.own, "ask"})
	if err != nil {
		p.failed.Add(1)
		p.check("an error", err.Error())
		return
	}
	p.good.Add(1)
	text, err := json.Marshal(result)
	if err != nil || !strings.Contains(string(text), p.own) {
		p.t.Errorf("%s gets from a task %s", p.own, text)
	}
	p.check("a task", string(text))
}
