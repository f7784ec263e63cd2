package schema

import (
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"sync"
	"weak"
)

// shared holds the schemas in use, by the digest of their text: tools with the
// same schema share one. A schema is dropped when it is no longer used.
//
// If every schema were compiled anew, a server with 1,000 tools of one type would
// need 52 ms to its first answer instead of 12, and 17.0 MiB instead of 12.2.
// Without inferred (below), which does for types what shared does for texts, it is
// 42 ms and 14.4 MiB (measured 2026-11-22, docs/decisions/0008-hot-path.md). Tools
// of different types gain nothing. If shared were wrong, arguments would be checked
// against the schema of another tool, or the memory of unused schemas would not be
// freed.
var shared sync.Map // of weak.Pointer[Schema] by [sha256.Size]byte

// Compile parses and checks a schema. The dialect is the one "$schema" names,
// or draft 2020-12. References may only point inside the schema itself.
// Compiling a text again is cheap while the result of the first time is in use.
func Compile(raw json.RawMessage) (*Schema, error) {
	if err := checkSize(raw); err != nil {
		return nil, err
	}
	key := sha256.Sum256(raw)
	if known, ok := shared.Load(key); ok {
		if s := known.(weak.Pointer[Schema]).Value(); s != nil { //nolint:forcetypeassert // shared has nothing else
			return s, nil
		}
	}
	s, err := newSchema(raw)
	if err != nil {
		return nil, err
	}
	known := weak.Make(s)
	shared.Store(key, known)
	// The cleanup runs on a goroutine of the runtime, after a moment.
	runtime.AddCleanup(s, func(known weak.Pointer[Schema]) { shared.CompareAndDelete(key, known) }, known)
	return s, nil
}

// inferred holds the results of Infer and InferResult. It is bounded by the number of
// types in the program.
var inferred sync.Map // of json.RawMessage by shape

func inferOnce(of shape) (json.RawMessage, error) {
	if raw, ok := inferred.Load(of); ok {
		return raw.(json.RawMessage), nil //nolint:forcetypeassert // inferred has nothing else
	}
	raw, err := infer(of)
	if err == nil {
		inferred.Store(of, raw)
	}
	return raw, err
}
