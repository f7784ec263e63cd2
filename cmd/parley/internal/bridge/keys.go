package bridge

import (
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// keys remembers the keys of connections: every call needs one, and clients that declare
// little are many. The zero value is ready.
type keys struct {
	mu   sync.RWMutex
	seen map[[sha256.Size]byte]string // by the hash of what declared writes, which may be long
}

// maxKeys bounds the keys that are remembered. Those that are used are soon back.
const maxKeys = 10_000

// of returns the key of a peer that shares connections with its principal.
func (k *keys) of(peer *mcp.Peer) (string, error) {
	var room [128]byte
	text, ok := declared(room[:0], peer)
	if !ok {
		return keyOfPrincipal(peer)
	}
	hash := sha256.Sum256(text)
	k.mu.RLock()
	key := k.seen[hash]
	k.mu.RUnlock()
	if key != "" {
		return key, nil
	}
	key, err := keyOfPrincipal(peer)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen == nil || len(k.seen) >= maxKeys {
		k.seen = map[[sha256.Size]byte]string{}
	}
	k.seen[hash] = key
	return key, nil
}

// declared appends who a peer is and what it can do. It reports false for what few
// clients declare: that has to be encoded.
func declared(dst []byte, peer *mcp.Peer) (_ []byte, ok bool) {
	c := &peer.Capabilities
	if c.Tasks != nil || c.Experimental != nil || len(c.Extensions) > 1 {
		return nil, false
	}
	for _, has := range [...]bool{
		c.Roots != nil, c.Roots != nil && c.Roots.ListChanged,
		c.Sampling != nil, c.Sampling != nil && c.Sampling.Tools != nil, c.Sampling != nil && c.Sampling.Context != nil,
		c.Elicitation != nil, c.Elicitation != nil && c.Elicitation.Form != nil, c.Elicitation != nil && c.Elicitation.URL != nil,
		c.Extensions != nil,
	} {
		dst = strconv.AppendBool(dst, has)
	}
	for name, settings := range c.Extensions {
		dst = append(strconv.AppendQuote(dst, name), settings...)
	}
	return strconv.AppendQuote(dst, peer.Principal), true
}
