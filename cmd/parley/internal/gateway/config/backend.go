package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/bridge"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/mcp"
)

// Backend is a server behind the gateway.
type Backend struct {
	// Name is what the file calls it.
	Name string
	// Original is what another program's file calls it; "" if that is its name.
	Original string

	// Share says which clients use a connection together.
	Share bridge.Share
	// MaxConnections bounds the connections that are open at a time.
	MaxConnections int
	// Idle is how long a connection is kept that nobody uses. 0 means forever.
	Idle time.Duration
	// AtOnce says that the server is connected to when the gateway starts, to learn what
	// it is.
	AtOnce bool
	// ConnectTimeout is how long it may take to connect.
	ConnectTimeout time.Duration
	// Timeout is how long a call may go without an answer or progress. 0 means forever.
	Timeout time.Duration
	// Login says that the login of this user is used that "parley login" has stored.
	Login bool
	// Pass says that the tokens of clients are passed on, which must be for PassAudience,
	// or for the URL if that is "".
	Pass         bool
	PassAudience string

	tools, prompts, resources  naming.Selection
	renameTools, renamePrompts []renaming
	overrideTools              []override
	overridePrompts            []override
	overrideResources          []override
	parked                     parking
	client                     *program
	exchange                   *exchange
	person                     *person

	command  []Text
	url      Text
	dir      Text
	envFile  Text
	env      []setting
	inherit  []string
	headers  []setting
	revision mcp.Revision

	entry   *target.Entry // of another program's file
	outside *target.Environment
	in      *Config
	same    string // see Same
}

// setting is a variable or a header.
type setting struct {
	name  string
	value Text
}

func (c *Config) newBackend(name string, into **Backend) value {
	*into = &Backend{Name: name, outside: c.env, in: c}
	return object{*into}
}

func (b *Backend) oneOf() (names []string, must bool) { return []string{"command", "url"}, true }

func (b *Backend) keys() []key {
	return slices.Concat(b.reach(), b.life(), b.show())
}

// reach are the keys that say how the server is reached.
func (b *Backend) reach() []key {
	return []key{
		{
			name: "command", value: words{list[Text]{&b.command, anyText, 1}}, example: `[npx, -y, "@modelcontextprotocol/server-filesystem", /data]`,
			doc: "The program that is the server, and its arguments. Whoever may list the processes of this machine sees them, so secrets belong into env.",
		},
		{
			name: "url", value: secret{&b.url, isURL}, example: "https://shop.example/mcp",
			doc: "Where the server is, if it is not a program that the gateway starts.",
		},
		{
			name: "env", with: "command", value: table[setting]{&b.env, settingOf(oneText), "VARIABLE", isVariable}, example: `{TOKEN: "${env:FILES_TOKEN}", KEY: "${file:/run/secrets/key}"}`,
			doc: "Variables for the command. It gets none of the gateway's but those that programs need to find themselves, their user and their temporary files, such as PATH and HOME.",
		},
		{
			name: "inherit", with: "command", value: list[string]{&b.inherit, func(into *string) value { return word{into, isVariable} }, 0}, example: "[SSH_AUTH_SOCK]",
			doc: "More of the gateway's own variables for the command.",
		},
		{
			name: "env_file", with: "command", value: secret{&b.envFile, notEmpty}, example: "/run/secrets/files.env",
			doc: "A file with more variables for the command, as NAME=value on each line. Those of env win.",
		},
		{
			name: "cwd", with: "command", value: secret{&b.dir, notEmpty}, example: "/data",
			doc: "The working folder of the command; the default is that of the gateway. A relative one starts at the folder of this file.",
		},
		{
			name: "headers", with: "url", value: table[setting]{&b.headers, settingOf(oneLine), "HEADER", isHeader}, example: `{Authorization: "Bearer ${env:SHOP_TOKEN}"}`,
			doc: "Headers for every request to the URL.",
		},
		{
			name: "auth", with: "url", value: ofUsers{object{&account{b}}, b},
			doc: "How the gateway logs in at the URL, if a header does not do it.",
		},
		{
			name: "revision", value: choice[mcp.Revision]{&b.revision, revisions()},
			doc: "The only revision of the protocol to speak with the server.",
		},
	}
}

// life are the keys that say when connections begin and end.
func (b *Backend) life() []key {
	const day = 24 * time.Hour
	return []key{
		{
			name: "share", value: choice[bridge.Share]{&b.Share, []option[bridge.Share]{{"principal", bridge.SharePrincipal}, {"session", bridge.ShareSession}, {"all", bridge.ShareAll}}},
			doc: "Who uses a connection, and so a process of a command, together: the clients of one principal, those of one session, or all. With all, a server that remembers something of its clients mixes them up.",
		},
		{
			name: "start", value: choice[bool]{&b.AtOnce, []option[bool]{{"once", true}, {"demand", false}}},
			doc: "When the server is first connected to: at once, when the gateway starts, so that the first client learns what it offers besides its lists, such as instructions and tasks; or on demand, when somebody needs it.",
		},
		{
			name: "idle", value: period{&b.Idle, 10 * time.Minute, 0, 7 * day},
			doc: "How long a connection is kept that nobody uses; 0 is forever.",
		},
		{
			name: "connect_timeout", value: period{&b.ConnectTimeout, 30 * time.Second, time.Second, time.Hour},
			doc: "How long it may take to connect, and so how long calls wait for that. A package runner that has to fetch the server first may need more.",
		},
		{
			name: "timeout", value: period{&b.Timeout, 2 * time.Minute, 0, 7 * day},
			doc: "How long a call may go without an answer or progress; 0 is forever.",
		},
		{
			name: "max_connections", value: number{&b.MaxConnections, 100, 1, 100_000},
			doc: "How many connections to the server may be open at a time.",
		},
		{
			name: "parked", value: checked{object{&b.parked}, b.parked.check},
			doc: "How many calls may wait whose server has asked something of a client without a session, until the client comes back with the answer, and how long.",
		},
	}
}

// show are the keys that say what clients see of the server.
func (b *Backend) show() []key {
	return []key{
		{
			name: "tools", shows: true, value: object{&named{selection{&b.tools}, &b.renameTools}}, example: `{include: ["read_*"], rename: {read_file: read}}`,
			doc: "Which tools there are for clients, and what they are called.",
		},
		{
			name: "prompts", shows: true, value: object{&named{selection{&b.prompts}, &b.renamePrompts}}, example: `{exclude: ["draft_*"]}`,
			doc: "Which prompts there are for clients, and what they are called.",
		},
		{
			name: "resources", shows: true, value: object{&selection{&b.resources}}, example: `{include: ["file:///data/*"]}`,
			doc: "Which resources and templates there are for clients, by their URIs.",
		},
		{
			name: "override", shows: true, value: table[override]{&b.overrideTools, ofTool.newOverride, "TOOL", notEmpty}, example: `{delete_file: {description: "Delete a file for good.", annotations: {destructiveHint: true}}}`,
			doc: "What tools say of themselves, in place of what the server has them say.",
		},
		{
			name: "override_prompts", shows: true, value: table[override]{&b.overridePrompts, ofPrompt.newOverride, "PROMPT", notEmpty}, example: `{review: {description: "Have a change reviewed for mistakes."}}`,
			doc: "What prompts say of themselves, in place of what the server has them say.",
		},
		{
			name: "override_resources", shows: true, value: table[override]{&b.overrideResources, ofResource.newOverride, "URI", notEmpty}, example: `{"db://orders": {title: Orders, annotations: {audience: [user]}}}`,
			doc: "What resources and templates say of themselves in lists, by their URIs, in place of what the server has them say.",
		},
	}
}

// revisions are those that there are, after the choice of any.
func revisions() []option[mcp.Revision] {
	options := []option[mcp.Revision]{{name: "any"}}
	for _, r := range mcp.Revisions() {
		options = append(options, option[mcp.Revision]{r.String(), r})
	}
	return options
}

var (
	anything   = rule{is: "a text", check: func(string) bool { return true }}
	oneText    = rule{is: "a text", check: func(s string) bool { return !strings.ContainsRune(s, 0) }}
	oneLine    = rule{is: "a text on one line", check: func(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }}
	notEmpty   = rule{is: "a text that is not empty", pattern: ".", check: func(s string) bool { return s != "" }}
	isURL      = rule{is: "a URL that begins with http:// or https://", check: target.IsURL}
	isVariable = matching("the name of a variable", variableName.String())
	isHeader   = matching("the name of a header", "^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")
	// backendName is what toolname.ValidServer says, which it is compared with in a test.
	backendName = matching("a name of up to 32 of a-z, 0-9 and -, which does not begin with -", `^[a-z0-9][a-z0-9-]{0,31}$`)
)

// matching is the rule of texts that match a pattern.
func matching(is, pattern string) rule {
	return rule{is, pattern, regexp.MustCompile(pattern).MatchString}
}

func anyText(into *Text) value { return secret{into, oneText} }

// settingOf returns what makes a variable or a header, whose value has a rule.
func settingOf(r rule) func(name string, into *setting) value {
	return func(name string, into *setting) value {
		into.name = name
		return secret{&into.value, r}
	}
}

// Rules returns how the features of the server are named, and which of them there are.
func (b *Backend) Rules() naming.Rules {
	return naming.Rules{
		Backend: b.Name, Tools: b.tools, Prompts: b.prompts, Resources: b.resources,
		RenameTools: shownNames(b.renameTools), RenamePrompts: shownNames(b.renamePrompts),
		OverrideTools: overrides(b.overrideTools), OverridePrompts: overrides(b.overridePrompts), OverrideResources: overrides(b.overrideResources),
	}
}
