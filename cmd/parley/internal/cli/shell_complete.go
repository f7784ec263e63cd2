package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/shellwords"
)

const (
	keyTab   = '\t'
	keyCtrlR = 18
	// maxShown is how many candidates are shown.
	maxShown = 40
	// patience is how long completion waits for the server.
	patience = 2 * time.Second
)

// search is where the search for an earlier line stands.
type search struct {
	text, found string
	at          int
}

// key handles the keys of a line that the editor does not know.
func (s *shell) key(ctx context.Context, past *history, line string, pos int, key rune) (string, int, bool) {
	switch key {
	case keyTab:
		newLine, newPos := s.completeLine(ctx, line, pos)
		return newLine, newPos, true
	case keyCtrlR:
		if s.search.found == "" || line != s.search.found {
			s.search = search{text: line}
		}
		if found, at := past.search(s.search.text, s.search.at); at >= 0 {
			s.search.found, s.search.at = found, at+1
			return found, len(found), true
		}
		return line, pos, true
	}
	return "", 0, false
}

// completeLine completes the word before the cursor: as far as all candidates agree. If
// that adds nothing, it shows them.
func (s *shell) completeLine(ctx context.Context, line string, pos int) (string, int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	words := shellwords.Split(line[:pos])
	last := words[len(words)-1]
	var values, abouts []string
	for _, c := range s.candidates(ctx, words) {
		if value, about, _ := strings.Cut(c, "\t"); strings.HasPrefix(value, last.Text) {
			values, abouts = append(values, value), append(abouts, about)
		}
	}
	if len(values) == 0 {
		return line, pos
	}
	text := values[0]
	for _, v := range values[1:] {
		text = commonPrefix(text, v)
	}
	switch {
	case len(values) == 1 && !goesOn(text):
		text += " "
	case text == last.Text:
		s.showCandidates(values, abouts)
		return line, pos
	}
	start := line[:last.Start] + text
	return start + strings.TrimPrefix(line[pos:], " "), len(start)
}

func commonPrefix(a, b string) string {
	n := 0
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			break
		}
		n = i + len(string(r))
	}
	return a[:n]
}

// showCandidates shows candidates above the line.
func (s *shell) showCandidates(values, abouts []string) {
	e := s.app.err
	for i, v := range values[:min(len(values), maxShown)] {
		e.printf("  %s  %s\n", label(v, 100), e.dim(abouts[i]))
	}
	if n := len(values) - maxShown; n > 0 {
		e.printf("  … and %d more\n", n)
	}
}

// candidates returns what the last of some words may become, as candidate makes it.
// What the commands of the program complete is completed here in the same way.
func (s *shell) candidates(ctx context.Context, words []shellwords.Word) []string {
	texts := make([]string, 0, len(words))
	for _, w := range words {
		texts = append(texts, w.Text)
	}
	before, last := texts[:len(texts)-1], texts[len(texts)-1]
	if len(before) == 0 {
		return append(s.commandNames(), s.ask(ctx, completeCall, nil, last)...) //nolint:contextcheck // no command is run
	}
	if strings.HasPrefix(last, "-") {
		return s.flagNames(before) //nolint:contextcheck // no command is run
	}
	args := slices.DeleteFunc(slices.Clone(before[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	switch before[0] {
	case "list":
		return []string{"tools", "resources", "templates", "prompts"}
	case "call":
		return s.ask(ctx, completeCall, args, last)
	case "prompt":
		return s.ask(ctx, completeGet, args, last)
	case "read":
		return s.ask(ctx, completeRead, args, last)
	case "complete":
		if len(args) == 0 {
			return []string{ofPrompt, ofResource}
		}
		return s.ask(ctx, completeComplete, args, last)
	case "task":
		switch len(args) {
		case 0:
			return s.members("task") //nolint:contextcheck // no command is run
		case 1:
			server := serverOf(s.target)
			return s.app.taskIDs(&server, last)
		}
		return nil
	case "check":
		return s.checkCandidates(ctx, before[len(before)-1], last)
	case "skills":
		return s.skillCandidates(ctx, args, last)
	case "subscribe":
		return append([]string{"tools", "prompts", "resources"}, s.ask(ctx, completeRead, nil, last)...)
	case "unsubscribe":
		return s.subscribed()
	case "log":
		return strings.Split(levelNames(), ", ")
	case "help":
		return s.commandNames() //nolint:contextcheck // no command is run
	}
	return s.ask(ctx, completeCall, before, last)
}

// skillCandidates completes the commands about skills.
func (s *shell) skillCandidates(ctx context.Context, args []string, last string) []string {
	switch {
	case len(args) == 0:
		return s.members("skills") //nolint:contextcheck // no command is run
	case args[0] == "show" && len(args) == 1, args[0] == "pull" && len(args) > 1:
		return s.ask(ctx, completeSkill, nil, last)
	}
	return nil
}

// members returns the commands of a family.
func (s *shell) members(family string) []string {
	var names []string
	for _, cmd := range s.shared().Commands() {
		if cmd.Name() != family {
			continue
		}
		for _, member := range cmd.Commands() {
			names = append(names, candidate(member.Name(), member.Short)...)
		}
	}
	return names
}

// ask asks the server for candidates. Those that came before an error count.
func (s *shell) ask(ctx context.Context, f completer, args []string, prefix string) []string {
	values, err := f(ctx, s.client, args, prefix)
	if err != nil {
		s.app.logger().Debug("not completed", "error", err)
	}
	return values
}

// shared makes the commands that a shell shares with the program, without changing
// flags.
func (s *shell) shared() *cobra.Command { return (&shell{app: newApp(s.app.io)}).commands() }

func (s *shell) commandNames() []string {
	var found []string
	for _, cmd := range s.shared().Commands() {
		found = append(found, candidate(cmd.Name(), cmd.Short)...)
	}
	for _, b := range builtins() {
		found = append(found, candidate(b.name, b.about)...)
	}
	return found
}

func (s *shell) flagNames(words []string) []string {
	cmd, _, err := s.shared().Find(words)
	if err != nil {
		return nil
	}
	var found []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !concernsConnection(f.Name) {
			found = append(found, candidate("--"+f.Name, f.Usage)...)
		}
	})
	return found
}

func (s *shell) subscribed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for name := range s.subs {
		if name != "" {
			found = append(found, name)
		}
	}
	return found
}

// hasTool reports whether the server has a tool.
func hasTool(ctx context.Context, c *client.Client, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for t, err := range c.Tools(ctx) {
		if err != nil {
			return false
		}
		if t.Name == name {
			return true
		}
	}
	return false
}
