package inspect

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

func TestLog(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		type level struct {
			Level      string
			Deprecated bool
		}
		if l := must[level](v.stage, "GET", v.path+"/loglevel", nil); l.Level != "" || l.Deprecated != (len(revision.Of(v.client.Revision()).Deprecated) > 0) {
			t.Errorf("at first: %+v", l)
		}
		if err := v.refused("PUT", v.path+"/loglevel", map[string]string{"level": "loud"}); err.Code != "bad_level" {
			t.Errorf("no level: %+v", err)
		}
		must[level](v.stage, "PUT", v.path+"/loglevel", map[string]string{"level": "debug"})
		<-v.start(t.Context(), "talk")
		both := untilGet(v, "/log", func(p logPage) bool { return len(p.Entries) == 2 })
		if both.Entries[0].Level != mcp.LevelDebug || string(both.Entries[1].Data) != `{"loud":9007199254740993}` {
			t.Errorf("the log: %+v", both)
		}
		for query, want := range map[string]int{"?level=warning": 1, "?after=1": 1, "?q=LOUD": 1, "?limit=1": 1, "?q=nothing": 0, "": 2} {
			if p := must[logPage](v.stage, "GET", v.path+"/log"+query, nil); len(p.Entries) != want || p.Last != 2 {
				t.Errorf("%s: %+v", query, p)
			}
		}
		for _, query := range []string{"?after=x", "?limit=0", "?level=loud"} {
			if err := v.refused("GET", v.path+"/log"+query, nil); err.Field == "" {
				t.Errorf("%s: %+v", query, err)
			}
		}
		must[struct{}](v.stage, "DELETE", v.path+"/log", nil)
		if p := must[logPage](v.stage, "GET", v.path+"/log", nil); len(p.Entries) != 0 || p.First != 3 || p.Last != 2 {
			t.Errorf("after clearing: %+v", p)
		}
	})
}

// The level that was chosen holds after reconnecting.
func TestLevelIsKept(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		must[json.RawMessage](v.stage, "PUT", v.path+"/loglevel", map[string]string{"level": "error"})
		must[said](v.stage, "POST", v.path+"/reconnect", nil)
		v.settled(v.id)
		v.client, _ = v.server.byID(v.id).live()
		<-v.start(t.Context(), "talk")
		if p := untilGet(v, "/log", func(p logPage) bool { return len(p.Entries) > 0 }); p.Entries[0].Level != mcp.LevelError {
			t.Errorf("the log: %+v", p)
		}
	})
}

func TestPing(t *testing.T) {
	inEachRevision(t, func(t *testing.T, v visited) {
		if p := must[struct{ Took *float64 }](v.stage, "POST", v.path+"/ping", nil); p.Took == nil {
			t.Error("a ping takes no time")
		}
		must[said](v.stage, "POST", v.path+"/disconnect", nil)
		if err := v.refused("POST", v.path+"/ping", nil); err.Code != "not_connected" {
			t.Errorf("without a connection: %+v", err)
		}
	})
}

func TestLogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := alone(t)
		b := partOf[logBook](c)
		for i := range maxLogged + 7 {
			b.hear(c, fmt.Appendf(nil, `{"level":"info","data":%d}`, i), "")
		}
		if p := b.page(0, "", "", maxLogged); len(p.Entries) != maxLogged || p.Dropped != 7 || p.First != 8 || string(p.Entries[0].Data) != "7" {
			t.Errorf("%d messages are kept, %d dropped", len(p.Entries), p.Dropped)
		}
		text := strings.Repeat("x", maxLogData/2)
		for range 3 * maxLogBytes / maxLogData {
			b.hear(c, json.RawMessage(`{"level":"info","data":"`+text+`"}`), "")
		}
		if b.bytes > maxLogBytes {
			t.Errorf("the log has %d bytes", b.bytes)
		}
		b.hear(c, json.RawMessage(`{"level":"info","logger":"`+strings.Repeat("é", 600)+`","data":"`+text+text+`"}`), "7")
		p := b.page(0, "", "", 1)
		if l := p.Entries[0]; l.Data != nil || l.Cut != maxLogData+2 || l.Call != "7" || len(l.Logger) > 1003 {
			t.Errorf("a long message: %+v", l)
		}
		b.hear(c, json.RawMessage(`7`), "")
		if b.page(0, "", "", 1).Last != p.Last {
			t.Error("what is no log message was kept")
		}
	})
}

// Many beats are told of at most ten times a second, and none after the end.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		var told atomic.Int64
		for range 1000 {
			p.beat(func() { told.Add(1) })
			<-time.NewTimer(time.Millisecond).C
		}
		synctest.Wait()
		if n := told.Load(); n < 9 || n > 10 {
			t.Errorf("told %d times in a second", n)
		}
		p.beat(func() { told.Store(0) })
		p.stop()
		p.beat(func() { told.Store(0) })
		<-time.NewTimer(time.Second).C
		if told.Load() == 0 {
			t.Error("told after the end")
		}
	})
}
