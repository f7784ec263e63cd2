package reads

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// longest bounds how long something is kept, whatever its backend says.
const longest = 24 * time.Hour

// hintsOf returns what a result says about keeping it.
func hintsOf(raw json.RawMessage) (ttl time.Duration, scope mcp.CacheScope) {
	var said mcp.CacheFields
	if wire.Unmarshal(raw, &said) != nil || said.TTLMs == nil {
		return 0, mcp.CachePrivate
	}
	return time.Duration(min(max(*said.TTLMs, 0), longest.Milliseconds())) * time.Millisecond, said.CacheScope
}

// left returns the result with what is left of its time, or nil if nothing is.
//
// Spec: 2026-07-28 server/utilities/caching#freshness-calculation.
func (e *entry) left(now time.Time) json.RawMessage {
	rest := e.expires.Sub(now).Milliseconds()
	if e.result == nil || rest <= 0 {
		return nil
	}
	aged, err := wire.Set(e.result, "ttlMs", strconv.AppendInt(nil, rest, 10))
	if err != nil { // a member stands twice
		return nil
	}
	return aged
}

func (e *entry) size() int64 {
	return int64(overhead + len(e.at.backend) + len(e.at.uri) + len(e.at.key) + len(e.result))
}
