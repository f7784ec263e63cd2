package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
	"github.com/parley-mcp/parley/mcp"
)

// logPart keeps the log messages of servers, says which are wanted, and pings servers.
type logPart struct{ s *Server }

func (p logPart) routes(api *web.API) {
	api.Handle("GET /connections/{c}/log", onConnection(p.s, p.list))
	api.Handle("DELETE /connections/{c}/log", onConnection(p.s, p.clear))
	api.Handle("GET /connections/{c}/loglevel", onConnection(p.s, p.level))
	api.Handle("PUT /connections/{c}/loglevel", onConnection(p.s, p.setLevel))
	api.Handle("POST /connections/{c}/ping", onConnection(p.s, p.ping))
}

// prepare asks for the level that was chosen before. Log messages come in their raw form,
// with every other notification that no call takes.
func (logPart) prepare(c *Connection, o *client.Options) {
	book := partOf[logBook](c)
	book.mu.Lock()
	o.LogLevel = book.level
	book.mu.Unlock()
	next := o.Notification
	o.Notification = func(ctx context.Context, method string, params json.RawMessage) {
		if method == mcp.NoteMessage {
			book.hear(c, params, "")
		}
		if next != nil {
			next(ctx, method, params)
		}
	}
}

func (logPart) connected(*Connection) {}

func (logPart) ended(c *Connection) { partOf[logBook](c).pulse.stop() }

func (logPart) list(c *Connection, r *web.Request) (any, error) {
	query := r.URL.Query()
	after, limit := int64(0), maxLogged
	var err error
	if text := query.Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, &web.Error{Status: http.StatusBadRequest, Code: "bad_number", Field: "after", Message: fmt.Sprintf("after: %q is no number", text)}
		}
	}
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return nil, &web.Error{Status: http.StatusBadRequest, Code: "bad_number", Field: "limit", Message: fmt.Sprintf("limit: %q is no positive number", text)}
		}
	}
	level := mcp.LoggingLevel(query.Get("level"))
	if err := checkLevel(level); level != "" && err != nil {
		return nil, err
	}
	return partOf[logBook](c).page(after, level, query.Get("q"), limit), nil
}

func (logPart) clear(c *Connection, _ *web.Request) (any, error) {
	book := partOf[logBook](c)
	book.clear()
	book.tell(c)
	return struct{}{}, nil
}

func (logPart) level(c *Connection, _ *web.Request) (any, error) {
	book := partOf[logBook](c)
	book.mu.Lock()
	defer book.mu.Unlock()
	return struct {
		Level      mcp.LoggingLevel `json:"level"`
		Deprecated bool             `json:"deprecated"`
	}{book.level, deprecates(c, "logging")}, nil
}

func (p logPart) setLevel(c *Connection, r *web.Request) (any, error) {
	var body struct {
		Level mcp.LoggingLevel `json:"level"`
	}
	if err := r.Read(&body); err != nil {
		return nil, err
	}
	if err := checkLevel(body.Level); err != nil {
		return nil, err
	}
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	if err := cl.SetLogLevel(r.Context(), body.Level); err != nil {
		return nil, refused(err)
	}
	book := partOf[logBook](c)
	book.mu.Lock()
	book.level = body.Level
	book.mu.Unlock()
	return p.level(c, r)
}

func checkLevel(level mcp.LoggingLevel) error {
	if level.Severity() < 0 {
		return &web.Error{Status: http.StatusBadRequest, Code: "bad_level", Field: "level", Message: fmt.Sprintf("level: %q is none", level), Hint: "the levels are debug, info, notice, warning, error, critical, alert and emergency"}
	}
	return nil
}

// ping times how long a server takes to answer.
func (logPart) ping(c *Connection, r *web.Request) (any, error) {
	cl, err := c.live()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := cl.Ping(r.Context()); err != nil {
		return nil, refused(err)
	}
	return struct {
		Took float64 `json:"took"` // milliseconds
	}{float64(time.Since(start).Microseconds()) / 1000}, nil
}
