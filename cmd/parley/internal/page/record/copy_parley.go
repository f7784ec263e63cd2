package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// commands are the commands of parley that send a method: the words before the target
// and those after it.
var commands = map[string]func(o *original) (command string, words []string, err error){
	mcp.MethodInitialize:    plain("info"),
	mcp.MethodDiscover:      plain("info"),
	mcp.MethodPing:          plain("ping"),
	mcp.MethodListTools:     plain("list", "tools"),
	mcp.MethodListResources: plain("list", "resources"),
	mcp.MethodListTemplates: plain("list", "templates"),
	mcp.MethodListPrompts:   plain("list", "prompts"),
	mcp.MethodListSkills:    plain("skills list"),
	mcp.MethodGetSkill:      func(o *original) (string, []string, error) { return "skills show", []string{o.text("uri")}, nil },
	mcp.MethodCallTool:      callWords,
	mcp.MethodGetPrompt:     promptWords,
	mcp.MethodReadResource:  func(o *original) (string, []string, error) { return "read", []string{o.text("uri")}, nil },
	mcp.MethodSubscribe:     func(o *original) (string, []string, error) { return "watch", []string{"--uri", o.text("uri")}, nil },
	mcp.MethodListen:        listenWords,
	mcp.MethodComplete:      completeWords,
	mcp.MethodGetTask:       onTask("task show"),
	mcp.MethodTaskResult:    onTask("task wait"),
	mcp.MethodCancelTask:    onTask("task cancel"),
}

func plain(command string, words ...string) func(*original) (string, []string, error) {
	return func(*original) (string, []string, error) { return command, words, nil }
}

// onTask makes a command about the task that a request names.
func onTask(command string) func(*original) (string, []string, error) {
	return func(o *original) (string, []string, error) {
		if o.target.URL == "" {
			o.note("The command is started anew: it knows the task only if it keeps its tasks longer than it runs.")
		}
		return command, []string{o.text("taskId")}, nil
	}
}

// Parley returns a request as a command line of parley.
func (r *Recorder) Parley(number uint64, t *target.Target, secrets bool) (Copy, error) {
	o, err := r.original(number, t, secrets)
	if err != nil {
		return Copy{}, err
	}
	words := commands[o.x.Method]
	if o.frame == nil || words == nil {
		return Copy{}, fmt.Errorf("%w: no command of parley sends %s", ErrNoForm, o.x.Method)
	}
	command, rest, err := words(o)
	if err != nil {
		return Copy{}, err
	}
	line := []string{"parley", command}
	if t.URL != "" {
		line = append(line, shellwords.Quote(o.url()))
	}
	for _, w := range rest {
		line = append(line, shellwords.Quote(w))
	}
	if rev, _ := o.revision(); rev != "" {
		line = append(line, "--revision", rev)
	}
	if t.URL != "" {
		line = append(line, o.ownHeaders()...)
	} else {
		line = append(line, "--", o.command())
	}
	if t.Dir != "" {
		o.note("Run it in %s.", t.Dir)
	}
	if o.asked() {
		o.note("The server asks for input: on a terminal the questions are put to you, elsewhere --answer gives the answers.")
	}
	return o.done(strings.Join(line, " ")), nil
}

// ownHeaders returns the flags for the headers that the target has.
func (o *original) ownHeaders() []string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(o.target.Header)) {
		for _, value := range o.target.Header[name] {
			flags = append(flags, "--header "+o.pair(name, ":", value, !o.lens.secrets))
		}
	}
	return flags
}

// asked reports whether the server asked for anything in the course of the exchange.
func (o *original) asked() bool {
	family, err := o.r.Family(o.x.Number)
	return err == nil && slices.ContainsFunc(family, func(x Exchange) bool { return x.Why == Question || x.Why == Round })
}

// text returns a member of the params that is text, as it may be shown.
func (o *original) text(member string) string {
	s, _ := wire.Text(wire.Find(o.params, member))
	return o.lens.Text(s)
}

func callWords(o *original) (command string, words []string, err error) {
	words = []string{o.text("name")}
	if args := wire.Find(o.params, "arguments"); len(args) > len("{}") {
		words = append(words, "--input", string(o.lens.Frame(args)))
	}
	if task := wire.Find(o.params, "task"); task != nil {
		words = append(words, "--detach")
	}
	return "call", words, nil
}

func promptWords(o *original) (command string, words []string, err error) {
	words = []string{o.text("name")}
	var args map[string]string
	if raw := wire.Find(o.params, "arguments"); raw != nil {
		if err := json.Unmarshal(o.lens.Frame(raw), &args); err != nil {
			return "", nil, fmt.Errorf("%w: the arguments of the prompt are not texts", ErrNoForm)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		words = append(words, name+"="+args[name])
	}
	return "prompt", words, nil
}

func listenWords(o *original) (command string, words []string, err error) {
	var filter mcp.SubscriptionFilter
	if raw := wire.Find(o.params, "notifications"); raw != nil {
		if err := wire.Unmarshal(raw, &filter); err != nil {
			return "", nil, fmt.Errorf("%w: %w", ErrNoForm, err)
		}
	}
	for _, uri := range filter.ResourceSubscriptions {
		words = append(words, "--uri", o.lens.Text(uri))
	}
	return "watch", words, nil
}

func completeWords(o *original) (command string, words []string, err error) {
	var p mcp.CompleteParams
	if err := wire.Unmarshal(o.params, &p); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrNoForm, err)
	}
	kind, name := "prompt", p.Ref.Name
	if p.Ref.URI != "" {
		kind, name = "resource", p.Ref.URI
	}
	if p.Context != nil && len(p.Context.Arguments) > 0 {
		others := strings.Join(slices.Sorted(maps.Keys(p.Context.Arguments)), ", ")
		o.note("The request also told the other arguments (%s), which parley complete cannot: the server may propose other values. The copy for curl has them.", others)
	}
	return "complete", []string{kind, o.lens.Text(name), p.Argument.Name, o.lens.Text(p.Argument.Value)}, nil
}
