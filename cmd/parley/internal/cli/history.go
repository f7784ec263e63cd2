package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxHistory is how many lines of the shell are kept.
const maxHistory = 1000

// history is what was typed in the shell, the oldest line first. It implements
// term.History. A line that begins with a blank is not kept.
type history struct {
	file  string // "" keeps nothing beyond this run
	lines []string
}

// historyFile returns where the lines are kept, or "".
func (a *app) historyFile() string {
	dir := a.stateFolder()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "history")
}

// stateFolder returns where the user's programs keep what they should know in the next
// run, or "".
func (a *app) stateFolder() string {
	dir, _ := a.io.LookupEnv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		switch runtime.GOOS {
		case "windows":
			if dir, err = os.UserCacheDir(); err != nil { // %LocalAppData%
				return ""
			}
		case "darwin":
			dir = filepath.Join(home, "Library", "Application Support")
		default:
			dir = filepath.Join(home, ".local", "state")
		}
	}
	return filepath.Join(dir, "parley")
}

// loadHistory reads what was kept. A file that cannot be read is an empty history.
func loadHistory(file string) *history {
	h := &history{file: file}
	content, err := os.ReadFile(file) //nolint:gosec // in the user's own state folder
	if err != nil {
		return h
	}
	for line := range strings.SplitSeq(string(content), "\n") {
		if line = strings.TrimRight(line, "\r"); line != "" {
			h.lines = append(h.lines, line)
		}
	}
	h.trim()
	return h
}

func (h *history) trim() {
	if n := len(h.lines) - maxHistory; n > 0 {
		h.lines = slices.Delete(h.lines, 0, n)
	}
}

// Add implements term.History. A repeated line is kept once.
func (h *history) Add(line string) {
	if line == "" || strings.HasPrefix(line, " ") || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.trim()
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// search returns the newest line before the line number from, counted from the newest,
// that contains a text, and its number; -1 if there is none.
func (h *history) search(text string, from int) (string, int) {
	for i := from; i < len(h.lines); i++ {
		if line := h.At(i); strings.Contains(line, text) {
			return line, i
		}
	}
	return "", -1
}

// save writes the history, readable only for the user.
func (h *history) save() error {
	if h.file == "" || len(h.lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	temporary := h.file + ".new"
	if err := os.WriteFile(temporary, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, h.file)
}

// noHistory is the history of answers to questions: they are not commands.
type noHistory struct{}

// Add implements term.History.
func (noHistory) Add(string) {}

// Len implements term.History.
func (noHistory) Len() int { return 0 }

// At implements term.History.
func (noHistory) At(int) string { return "" }
