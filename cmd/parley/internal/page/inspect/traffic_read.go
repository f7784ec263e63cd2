package inspect

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/page/record"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// Bounds of what one answer has.
const (
	defaultRows = 200
	maxRows     = 2000
)

// number reads a parameter that is a number; 0 stands for none.
func number(r *web.Request, name string) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, badParameter(name, "%q is no number", text)
	}
	return n, nil
}

func badParameter(name, format string, args ...any) error {
	e := web.Errorf(http.StatusBadRequest, "parameter", format, args...)
	e.Field = name
	return e
}

// limit reads how many rows are wanted.
func limit(r *web.Request) (int, error) {
	n, err := number(r, "limit")
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return defaultRows, nil
	case n > maxRows:
		return 0, badParameter("limit", "at most %d at a time", maxRows)
	}
	return int(n), nil
}

// pathNumber reads the number in the path.
func pathNumber(r *web.Request) (uint64, error) {
	n, err := strconv.ParseUint(r.PathValue("n"), 10, 63)
	if err != nil {
		return 0, badParameter("n", "%q is no number", r.PathValue("n"))
	}
	return n, nil
}

// lens reads whether secrets are to be shown, which has to be said.
func lens(c *Connection, r *web.Request) record.Lens { return c.Frames.Lens(secrets(r)) }

func secrets(r *web.Request) bool { return r.URL.Query().Get("secrets") == "1" }

// filter reads which frames are wanted.
func filter(r *web.Request) (f record.Filter, err error) {
	q := r.URL.Query()
	for name, into := range map[string]*uint64{"after": &f.After, "before": &f.Before, "exchange": &f.Exchange} {
		if *into, err = number(r, name); err != nil {
			return f, err
		}
	}
	f.Text = q.Get("q")
	for _, kind := range split(q.Get("kind")) {
		if !slices.Contains(record.Kinds(), record.Kind(kind)) {
			return f, badParameter("kind", "there is no kind %q", kind)
		}
		f.Kinds = append(f.Kinds, record.Kind(kind))
	}
	f.Methods = split(q.Get("method"))
	switch direction := q.Get("direction"); direction {
	case "":
	case mcp.Sent.String():
		f.Direction = mcp.Sent
	case mcp.Received.String():
		f.Direction = mcp.Received
	default:
		return f, badParameter("direction", "%q is neither sent nor received", direction)
	}
	return f, nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// summary says what there is.
func (*traffic) summary(c *Connection, _ *web.Request) (any, error) {
	methods, kinds := c.Frames.Counts()
	return struct {
		State   record.State        `json:"state"`
		Methods map[string]int      `json:"methods"`
		Kinds   map[record.Kind]int `json:"kinds"`
	}{c.Frames.State(), methods, kinds}, nil
}

func (*traffic) clear(c *Connection, _ *web.Request) (any, error) {
	c.Frames.Clear()
	return c.Frames.State(), nil
}

// numbers returns the numbers of the frames that a filter wants, as runs.
func (*traffic) numbers(c *Connection, r *web.Request) (any, error) {
	f, err := filter(r)
	if err != nil {
		return nil, err
	}
	runs, through, err := c.Frames.Find(r.Context(), f)
	if err != nil {
		return nil, recordError(err)
	}
	return struct {
		Runs    []record.Run `json:"runs"`
		Through uint64       `json:"through"`
		State   record.State `json:"state"`
	}{append([]record.Run{}, runs...), through, c.Frames.State()}, nil
}

// frames returns rows: of the numbers that n lists, or of the first that a filter wants.
func (*traffic) frames(c *Connection, r *web.Request) (any, error) {
	most, err := limit(r)
	if err != nil {
		return nil, err
	}
	wanted, err := listed(r, most)
	if err != nil {
		return nil, err
	}
	if wanted == nil {
		f, err := filter(r)
		if err != nil {
			return nil, err
		}
		runs, _, err := c.Frames.Find(r.Context(), f)
		if err != nil {
			return nil, recordError(err)
		}
		wanted = record.Numbers(runs, most)
	}
	return struct {
		Frames []record.Row `json:"frames"`
		State  record.State `json:"state"`
	}{rows(c, lens(c, r), wanted), c.Frames.State()}, nil
}

// listed reads the numbers of a list, nil if there is none.
func listed(r *web.Request, most int) ([]uint64, error) {
	var wanted []uint64
	for _, text := range split(r.URL.Query().Get("n")) {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || len(wanted) == most {
			return nil, badParameter("n", "it must be a list of at most %d numbers", most)
		}
		wanted = append(wanted, n)
	}
	return wanted, nil
}

func rows(c *Connection, l record.Lens, numbers []uint64) []record.Row {
	heads := c.Frames.Heads(numbers)
	shown := make([]record.Row, len(heads))
	for i, h := range heads {
		shown[i] = l.Row(h)
	}
	return shown
}

// frame returns a frame with its content, and the HTTP that it came with.
func (*traffic) frame(c *Connection, r *web.Request) (any, error) {
	n, err := pathNumber(r)
	if err != nil {
		return nil, err
	}
	f, err := c.Frames.Frame(n)
	if err != nil {
		return nil, recordError(err)
	}
	l := lens(c, r)
	return struct {
		Frame record.Detail    `json:"frame"`
		HTTP  *record.HTTPView `json:"http,omitzero"`
	}{l.Detail(f), c.Frames.HTTPOf(n, l)}, nil
}

// raw writes the bytes of a frame.
func (t *traffic) raw(w http.ResponseWriter, r *web.Request) error {
	c, err := t.server.connection(r)
	if err != nil {
		return err
	}
	n, err := pathNumber(r)
	if err != nil {
		return err
	}
	f, err := c.Frames.Frame(n)
	if err != nil {
		return recordError(err)
	}
	attach(w, "application/octet-stream", c.ID+"-frame-"+strconv.FormatUint(n, 10)+".json")
	_, _ = w.Write(lens(c, r).Frame(f.Raw)) // a page that has gone needs it no more
	return nil
}

// attach begins a response that is saved to a file.
func attach(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// exchanges returns exchanges, the newest first.
func (*traffic) exchanges(c *Connection, r *web.Request) (any, error) {
	most, err := limit(r)
	if err != nil {
		return nil, err
	}
	before, err := number(r, "before")
	if err != nil {
		return nil, err
	}
	return struct {
		Exchanges []record.ExchangeRow `json:"exchanges"`
	}{shownExchanges(lens(c, r), c.Frames.Exchanges(before, most))}, nil
}

func shownExchanges(l record.Lens, all []record.Exchange) []record.ExchangeRow {
	shown := make([]record.ExchangeRow, len(all))
	for i, x := range all {
		shown[i] = l.Exchange(x)
	}
	return shown
}

// exchange returns an exchange with all that belongs to it, in the order of time.
func (*traffic) exchange(c *Connection, r *web.Request) (any, error) {
	n, err := pathNumber(r)
	if err != nil {
		return nil, err
	}
	most := maxRows
	if r.URL.Query().Has("limit") {
		if most, err = limit(r); err != nil {
			return nil, err
		}
	}
	family, err := c.Frames.Family(n)
	if err != nil {
		return nil, recordError(err)
	}
	runs, _, err := c.Frames.Find(r.Context(), record.Filter{Exchange: family[0].Number})
	if err != nil {
		return nil, recordError(err)
	}
	l := lens(c, r)
	return struct {
		Exchanges []record.ExchangeRow `json:"exchanges"` // the first has all the others
		Frames    []record.Row         `json:"frames"`
		Total     int                  `json:"total"`
	}{shownExchanges(l, family), rows(c, l, record.Numbers(runs, most)), record.Count(runs)}, nil
}

// copied returns an exchange as something that can be run.
func (t *traffic) copied(c *Connection, r *web.Request) (any, error) {
	n, err := pathNumber(r)
	if err != nil {
		return nil, err
	}
	form := map[string]copier{"curl": c.Frames.Curl, "parley": c.Frames.Parley, "go": c.Frames.Go}[r.PathValue("form")]
	if form == nil {
		return nil, web.Errorf(http.StatusNotFound, "no_form", "there is no form %q; there are curl, parley and go", r.PathValue("form"))
	}
	copied, err := form(n, &c.wished().Target, secrets(r))
	if err != nil {
		return nil, recordError(err)
	}
	if note := withoutLogin[r.PathValue("form")]; note != "" && t.server.logins.has(r.Context(), c) {
		copied.Notes = append(copied.Notes, note)
	}
	return copied, nil
}

// withoutLogin says of the forms that do not log in by themselves what they lack.
var withoutLogin = map[string]string{
	"curl": "The server wants a login, and its token is in no copy. Add -H 'Authorization: Bearer TOKEN' with a token that you have, or the server refuses this with 401. The parley command uses your login.",
	"go":   "The server wants a login, and its token is in no copy. Give the streamable.Client a Header with Authorization, or an HTTP client that logs in (package auth/oauth), or the server refuses this with 401. The parley command uses your login.",
}

// export writes what a filter wants in the form of another program.
func (t *traffic) export(w http.ResponseWriter, r *web.Request) error {
	c, err := t.server.connection(r)
	if err != nil {
		return err
	}
	f, err := filter(r)
	if err != nil {
		return err
	}
	form := r.PathValue("form")
	name := "parley-" + c.ID + "-" + time.Now().Format("20060102-150405") + "." + form
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // not every writer has one
	switch form {
	case "har":
		attach(w, "application/json", name)
		err = c.Frames.HAR(r.Context(), w, f, lens(c, r), &c.wished().Target, t.server.opts.Client)
	case "jsonl":
		attach(w, "application/x-ndjson", name)
		err = c.Frames.JSONLines(r.Context(), w, f, lens(c, r))
	default:
		return web.Errorf(http.StatusNotFound, "no_form", "there is no form %q; there are har and jsonl", form)
	}
	if err != nil {
		t.server.opts.Logger.Error("an export broke off", "connection", c.ID, "error", err)
		panic(http.ErrAbortHandler) // so that the browser does not take it for whole
	}
	return nil
}
