package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
)

// MaxFile bounds a file of definitions, in bytes.
const MaxFile = 64 << 20

// maxServers bounds the servers in a file.
const maxServers = 1000

// ErrConfiguration says that a file names servers and does not hold their
// definitions: they have to be asked.
var ErrConfiguration = errors.New("the file names servers, and does not hold their definitions")

// errUnknown says that a file is none of those that Read knows.
var errUnknown = errors.New(`there are no definitions in it; it may be a result of tools/list, what "parley list --output json" prints, a list of tools, one tool, a server card, or a server.json`)

// lists are the members of results that hold definitions.
var lists = []struct {
	member string
	kind   Kind
}{{"tools", Tool}, {"resources", Resource}, {"resourceTemplates", Template}, {"prompts", Prompt}}

// Read finds the definitions in a file, whatever it is: the result of a list or the
// whole response, what "parley list --output json" prints, a list of definitions or
// one, saved results of several servers by name below "servers", a server card, or a
// server.json. The error is ErrConfiguration for a file such as mcp.json.
func Read(doc []byte, file string) ([]Definitions, error) {
	if len(doc) > MaxFile {
		return nil, fmt.Errorf("the file has more than %d MiB", MaxFile>>20)
	}
	doc = bytes.TrimPrefix(doc, []byte("\ufeff"))
	d := Definitions{File: file, doc: doc}
	doc = bytes.TrimSpace(doc)
	if len(doc) > 0 && doc[0] == '[' {
		if err := d.items("", "", doc); err != nil {
			return nil, err
		}
		if len(d.Items) == 0 {
			return nil, errUnknown
		}
		return []Definitions{d}, nil
	}
	var o map[string]json.RawMessage
	if err := wire.Unmarshal(doc, &o); err != nil {
		return nil, fmt.Errorf("the file is no JSON that can be read: %s", quoteless(err.Error()))
	}
	return d.object(doc, o, "")
}

// object reads a file that is an object.
func (d *Definitions) object(doc []byte, o map[string]json.RawMessage, at string) ([]Definitions, error) {
	if at == "" && o["result"] != nil {
		var result map[string]json.RawMessage
		if err := wire.Unmarshal(o["result"], &result); err != nil {
			return nil, errUnknown
		}
		return d.object(o["result"], result, "/result")
	}
	if found, err := d.listed(o, at); found || err != nil {
		return []Definitions{*d}, err
	}
	for _, member := range []string{"mcpServers", "servers"} {
		if o[member] != nil {
			return several(o[member], member, d)
		}
	}
	if server := o["server"]; server != nil && o["_meta"] != nil { // as the registry answers
		d.Manifest = server
		return []Definitions{*d}, nil
	}
	switch schema, _ := wire.Text(o["$schema"]); {
	case strings.Contains(schema, "server-card"):
		d.Card = doc
	case strings.Contains(schema, "server.schema.json"), o["packages"] != nil, o["remotes"] != nil && o["version"] != nil:
		d.Manifest = doc
	case o["inputSchema"] != nil || o["uri"] != nil || o["uriTemplate"] != nil || o["name"] != nil && o["arguments"] != nil:
		d.Items = []Item{{kindOf(o), at, doc}}
	default:
		return nil, errUnknown
	}
	return []Definitions{*d}, nil
}

// listed reads the lists of an object, and what it says of the server.
func (d *Definitions) listed(o map[string]json.RawMessage, at string) (found bool, err error) {
	for _, l := range lists {
		if o[l.member] == nil {
			continue
		}
		if o[l.member][0] != '[' {
			return true, fmt.Errorf("%s is no list", quoteless(pointer(at, l.member)))
		}
		if err := d.items(l.kind, pointer(at, l.member), o[l.member]); err != nil {
			return true, err
		}
		found = true
	}
	if info := o["serverInfo"]; info != nil {
		found = true
		if d.Server == "" {
			d.Server = nameIn(info)
		}
	}
	if text, ok := wire.Text(o["instructions"]); ok {
		d.Instructions, found = text, true
	}
	return found, nil
}

// items reads a list of definitions; without a kind, each shows its own.
func (d *Definitions) items(kind Kind, at string, list []byte) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	_, err := dec.Token() // its bracket
	// One more than is looked at shows that there are more.
	for i := 0; err == nil && dec.More() && i <= maxItems; i++ {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err != nil {
			break
		}
		it := Item{kind, pointer(at, strconv.Itoa(i)), raw}
		if kind == "" {
			var o map[string]json.RawMessage
			_ = wire.Unmarshal(raw, &o) // what can't be read is said when it is judged
			it.Kind = kindOf(o)
		}
		d.Items = append(d.Items, it)
	}
	if err != nil {
		return fmt.Errorf("the list %s can't be read: %s", quoteless(at), quoteless(err.Error()))
	}
	return nil
}

// kindOf tells by its members what a definition defines.
func kindOf(o map[string]json.RawMessage) Kind {
	switch {
	case o["uriTemplate"] != nil:
		return Template
	case o["uri"] != nil:
		return Resource
	case o["arguments"] != nil && o["inputSchema"] == nil:
		return Prompt
	}
	return Tool
}

// several reads the saved definitions of several servers.
func several(doc []byte, member string, of *Definitions) ([]Definitions, error) {
	var servers map[string]map[string]json.RawMessage
	if err := wire.Unmarshal(doc, &servers); err != nil {
		return nil, ErrConfiguration // it says more about what is wrong
	}
	if len(servers) > maxServers {
		return nil, fmt.Errorf("there are %d servers, more than %d", len(servers), maxServers)
	}
	var all []Definitions
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		d := Definitions{Server: name, File: of.File, doc: of.doc}
		found, err := d.listed(servers[name], pointer("", member, cut(name, 200)))
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, ErrConfiguration
		}
		all = append(all, d)
	}
	if all == nil {
		return nil, ErrConfiguration
	}
	return all, nil
}
