package era

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// state is what a stateless exchange carries from one round to the next, by way of
// the client.
//
// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (5).
type state struct {
	Owner   string                     `json:"p,omitzero"`
	Request []byte                     `json:"r"` // digest of method and params
	Expires int64                      `json:"e"` // Unix seconds
	Round   int                        `json:"n"`
	Asked   []string                   `json:"q,omitzero"`
	Answers map[string]json.RawMessage `json:"a,omitzero"`
	Done    map[string]json.RawMessage `json:"d,omitzero"`
	User    json.RawMessage            `json:"u,omitzero"`
}

// sealer encrypts and authenticates states. It is immutable.
type sealer struct{ keys []cipher.AEAD }

var errState = errors.New("requestState is not valid: it was changed, has expired, or belongs to another request")

// processKey is the key of servers that are given none. All connections of this
// process share it: a client may retry on another connection.
//
// Spec: 2026-07-28 basic#statelessness.
var processKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
})

// newSealer returns a sealer with keys of 32 bytes; without any, it uses processKey.
func newSealer(keys [][]byte) (*sealer, error) {
	if len(keys) == 0 {
		keys = [][]byte{processKey()}
	}
	s := new(sealer)
	for i, key := range keys {
		if len(key) != 32 {
			return nil, fmt.Errorf("state key %d has %d bytes, want 32", i, len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, aead)
	}
	return s, nil
}

func (s *sealer) seal(st *state) (string, error) {
	plain, err := wire.Marshal(st)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.keys[0].Seal(nil, nil, plain, nil)), nil //nolint:gosec // the nonce is random: the AEAD makes it
}

// open verifies a state that a client sent back. Every failure gives the same
// error, so that the client learns nothing from it.
//
// Spec: 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow (4).
func (s *sealer) open(text, owner string, request []byte, now time.Time) (*state, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errState
	}
	for _, key := range s.keys {
		plain, err := key.Open(nil, nil, sealed, nil)
		if err != nil {
			continue
		}
		st := new(state)
		if wire.Unmarshal(plain, st) != nil || st.Owner != owner ||
			string(st.Request) != string(request) || now.Unix() >= st.Expires {
			return nil, errState
		}
		return st, nil
	}
	return nil, errState
}

// digest identifies a request by what makes it that request: a retry may have
// another ID, other metadata, and members in another order.
func digest(m *jsonrpc.Message) ([]byte, error) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n", m.Method)
	if m.Params != nil {
		params, err := wire.Canonical(wire.Except(m.Params, "_meta", memberResponses, memberState))
		if err != nil {
			return nil, err
		}
		_, _ = h.Write(params)
	}
	return h.Sum(nil), nil
}

// retry is what a request brings back from an earlier round.
type retry struct {
	responses map[string]json.RawMessage
	state     *string
}

// readRetry reads the members of params that make a request a retry.
func readRetry(params []byte) (r retry, err error) {
	for name, value := range wire.Each(params) {
		switch string(name) {
		case memberResponses:
			err = wire.Unmarshal(value, &r.responses)
		case memberState:
			err = wire.Unmarshal(value, &r.state)
		}
		if err != nil {
			return retry{}, mcp.InvalidParams("params: %s: %v", name, err)
		}
	}
	return r, nil
}

// resume sets the state to continue from; a first round starts with an empty one.
// If a state says what was asked, answers to anything else are ignored.
//
// Spec: 2026-07-28 basic/patterns/mrtr#error-handling.
func (s *Stateless) resume(st *state, m *jsonrpc.Message, owner string) error {
	st.Owner = owner
	if !access.NotesOf(m).Retry || !mayAsk(m.Method) {
		return nil // other methods may have members of these names
	}
	r, err := readRetry(m.Params)
	if err != nil {
		return err
	}
	if r.state != nil {
		request, err := digest(m)
		if err != nil {
			return mcp.InvalidParams("params: %v", err)
		}
		kept, err := s.seal.open(*r.state, owner, request, time.Now())
		if err != nil {
			return mcp.InvalidParams("%v", err)
		}
		*st = *kept
		r.responses = only(r.responses, st.Asked)
	}
	if st.Answers == nil {
		st.Answers = make(map[string]json.RawMessage, len(r.responses))
	}
	maps.Copy(st.Answers, r.responses)
	return nil
}

func only(answers map[string]json.RawMessage, keys []string) map[string]json.RawMessage {
	kept := make(map[string]json.RawMessage, len(keys))
	for _, k := range keys {
		if a, ok := answers[k]; ok {
			kept[k] = a
		}
	}
	return kept
}
