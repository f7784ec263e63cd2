package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/wire"
)

// Defaults of Decoder.
const (
	DefaultMaxBytes = 16 << 20 // bytes
	DefaultMaxDepth = 128      // nested objects and arrays
	DefaultMaxBatch = 1000     // messages
)

// Decoder reads frames. Its zero value works with the defaults; it may be used
// concurrently.
type Decoder struct {
	// MaxBytes is the largest frame accepted, in bytes. 0 means DefaultMaxBytes.
	MaxBytes int
	// MaxDepth is the deepest nesting of objects and arrays accepted.
	// 0 means DefaultMaxDepth.
	MaxDepth int
	// MaxBatch is the largest batch accepted, in messages. 0 means
	// DefaultMaxBatch.
	MaxBatch int

	rules *access.Rules
}

// noRules are the rules of a decoder that was given none.
var noRules = new(access.Rules)

//nolint:gochecknoinits // the other packages of the module reach unexported fields through this door alone
func init() {
	access.SetRules = func(decoder any, r *access.Rules) {
		if d, ok := decoder.(*Decoder); ok {
			d.rules = r
		}
	}
	access.NotesOf = func(message any) access.Notes {
		if m, ok := message.(*Message); ok {
			return m.notes
		}
		return access.Notes{}
	}
}

// Decode reads a frame that holds one message. The error, an *Error, says what
// to answer. The message is returned with it: it carries the ID, if one could
// be read, and says what the frame was meant to be. Method is not empty if the
// frame has a method; Kind is Notification if it also has no ID, so that it
// must not be answered, and Response if it has a result or an error instead of
// a method. The IDs of the two directions are unrelated, so a refused frame
// must not be mistaken for the other kind.
//
// Decode refuses anything but one JSON object, duplicate names at any depth,
// members of the envelope in another case, invalid UTF-8, a wrong jsonrpc
// member, an ID that is neither a string nor an integer, a result together with
// an error, a response with neither, params that are not an object, and frames
// over the limits.
func (d *Decoder) Decode(frame []byte) (*Message, error) {
	if err := d.check(frame); err != nil {
		m, _ := salvage(frame)
		return m, err
	}
	m, err := d.message(frame)
	if err == nil {
		return m, nil
	}
	// The scan stops at the first fault. If the rest of the frame is not JSON,
	// the error is a parse error all the same: nothing in it can be trusted.
	m, isJSON := salvage(frame)
	if !isJSON {
		err = unreadable(err)
	}
	return m, err
}

// unreadable returns a parse error: err itself if it is one.
func unreadable(err error) error {
	var rpc *Error
	if errors.As(err, &rpc) && rpc.Code == CodeParseError {
		return err
	}
	return Errorf(CodeParseError, "parse error: the message is not valid JSON")
}

func (d *Decoder) check(frame []byte) error {
	if limit := or(d.MaxBytes, DefaultMaxBytes); len(frame) > limit {
		return Errorf(CodeInvalidRequest, "message of %d bytes is over the limit of %d bytes", len(frame), limit)
	}
	return bounded(frame, or(d.MaxDepth, DefaultMaxDepth), maxMembers)
}

func (d *Decoder) message(frame []byte) (*Message, error) {
	s := scanners.Get().(*scanner) //nolint:forcetypeassert // the pool holds nothing else
	if len(frame) <= maxPooled {
		defer scanners.Put(s)
	}
	s.reset(frame, d.rules)
	if err := s.run(); err != nil {
		return nil, syntax(err)
	}
	return s.finish()
}

// scanner walks the envelope and params token by token and skips over
// everything else as raw values: one pass, in which the JSON library checks
// grammar, UTF-8 and duplicate names at every level.
type scanner struct {
	dec   *jsontext.Decoder
	buf   bytes.Buffer
	frame []byte
	rules *access.Rules

	msg        Message
	version    []byte
	id         []byte
	methodRaw  []byte
	errorRaw   []byte
	hasMethod  bool
	hasResult  bool
	badEnvelop string
	badParams  string // why they are refused, if the frame is otherwise well-formed
}

// maxPooled is the size of the frames, in bytes, after which a scanner is used again:
// it keeps the room that it needed for the names of the largest object.
const maxPooled = 1 << 20

var scanners = sync.Pool{New: func() any { return &scanner{dec: new(jsontext.Decoder)} }}

func (s *scanner) reset(frame []byte, rules *access.Rules) {
	if rules == nil {
		rules = noRules
	}
	*s = scanner{dec: s.dec, frame: frame, rules: rules}
	s.buf = *bytes.NewBuffer(frame)
	s.dec.Reset(&s.buf)
}

func (s *scanner) run() error {
	if k := s.dec.PeekKind(); k != '{' {
		return s.notObject()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != '}' {
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := s.member(name); err != nil {
			return err
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	return s.end()
}

// notObject tells a broken frame from a well-formed value of the wrong type.
func (s *scanner) notObject() error {
	if _, err := s.dec.ReadValue(); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return Errorf(CodeInvalidRequest, "a message must be a JSON object")
}

func (s *scanner) end() error {
	if s.dec.PeekKind() != 0 || len(bytes.TrimSpace(s.frame[s.dec.InputOffset():])) > 0 {
		return Errorf(CodeParseError, "parse error: more than one JSON value in a frame")
	}
	return nil
}

// name returns the name of the next member, decoded. It is valid until the
// next read.
func (s *scanner) name() ([]byte, error) {
	raw, err := s.dec.ReadValue()
	if err != nil || bytes.IndexByte(raw, '\\') >= 0 {
		name, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
		return name, err
	}
	return raw[1 : len(raw)-1], nil
}

func (s *scanner) member(name []byte) (err error) {
	switch string(name) {
	case "jsonrpc":
		s.version, err = s.value()
	case "id":
		s.id, err = s.value()
	case "method":
		s.hasMethod = true
		s.methodRaw, err = s.value()
	case "params":
		return s.params()
	case "result":
		s.hasResult = true
		s.msg.Result, err = s.value()
	case "error":
		s.errorRaw, err = s.value()
	default:
		if s.badEnvelop == "" && isEnvelope(strings.ToLower(string(name))) {
			s.badEnvelop = string(name)
		}
		return s.dec.SkipValue()
	}
	return err
}

func isEnvelope(name string) bool {
	switch name {
	case "jsonrpc", "id", "method", "params", "result", "error":
		return true
	}
	return false
}

// params records the raw object and, inside it, the raw _meta.
func (s *scanner) params() error {
	if s.dec.PeekKind() != '{' {
		v, err := s.value()
		if err == nil && string(v) != "null" {
			s.badParams = "params must be a JSON object"
		}
		return err
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	start := s.dec.InputOffset() - 1
	for s.dec.PeekKind() != '}' {
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := s.paramsMember(name); err != nil {
			return err
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	s.msg.Params = s.frame[start:s.dec.InputOffset():s.dec.InputOffset()]
	return nil
}

func (s *scanner) paramsMember(name []byte) (err error) {
	if string(name) == "_meta" {
		s.msg.Meta, err = s.value()
		if err == nil && s.msg.Meta[0] != '{' {
			s.badParams = "params._meta must be a JSON object"
		}
		return err
	}
	if s.rules.Retry[string(name)] {
		s.msg.notes.Retry = true
	}
	if exact, ok := s.rules.Reserved[string(name)]; (!ok || exact != string(name)) && s.msg.notes.CaseVariant == "" {
		s.variant(string(name))
	}
	return s.dec.SkipValue()
}

// variant notes a name that differs from a reserved one only in its case.
func (s *scanner) variant(name string) {
	if exact, ok := s.rules.Reserved[strings.ToLower(name)]; ok && exact != name {
		s.msg.notes.CaseVariant = name
	}
}

// value returns the next value as a part of the frame.
func (s *scanner) value() (json.RawMessage, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := s.dec.InputOffset()
	return s.frame[end-int64(len(v)) : end : end], nil
}

func (s *scanner) finish() (*Message, error) {
	if s.badParams != "" {
		return nil, Errorf(CodeInvalidParams, "%s", s.badParams)
	}
	if s.badEnvelop != "" {
		return nil, Errorf(CodeInvalidRequest, "unknown member %q: names of members are case-sensitive", s.badEnvelop)
	}
	if string(s.version) != `"2.0"` {
		return nil, Errorf(CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if s.hasMethod {
		return s.finishCall()
	}
	return s.finishResponse()
}

func (s *scanner) finishCall() (*Message, error) {
	if s.hasResult || s.errorRaw != nil {
		return nil, Errorf(CodeInvalidRequest, "a message has either a method or a result or an error")
	}
	m := s.msg
	m.Kind, m.Method = Notification, s.method()
	if m.Method == "" {
		return nil, Errorf(CodeInvalidRequest, "method must be a non-empty string")
	}
	if s.id == nil {
		return &m, nil
	}
	m.Kind = Request
	var err error
	if m.ID, err = ParseID(s.id); err != nil {
		return nil, Errorf(CodeInvalidRequest, "%v", err)
	}
	return &m, nil
}

func (s *scanner) method() string {
	if raw := s.methodRaw; len(raw) > 2 {
		if known, ok := s.rules.Methods[string(raw[1:len(raw)-1])]; ok && raw[0] == '"' {
			return known
		}
	}
	return unquote(s.methodRaw)
}

// unquote decodes a value if it is a string, and returns "" for others.
func unquote(raw []byte) string {
	if raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(s)
}

func (s *scanner) finishResponse() (*Message, error) {
	if s.hasResult == (s.errorRaw != nil) {
		return nil, Errorf(CodeInvalidRequest, "a message needs a method, or exactly one of result and error")
	}
	m := s.msg
	m.Kind = Response
	var err error
	// The error for a frame whose ID could not be read has no ID, or null.
	noID := s.id == nil || string(s.id) == "null"
	if !noID || s.hasResult {
		if m.ID, err = ParseID(s.id); err != nil {
			return nil, Errorf(CodeInvalidRequest, "%v", err)
		}
	}
	if s.hasResult {
		return &m, nil
	}
	m.Error = new(Error)
	if err := wire.Unmarshal(s.errorRaw, m.Error); err != nil {
		return nil, Errorf(CodeInvalidRequest, "error member is malformed: %v", err)
	}
	return &m, nil
}

// syntax turns what the JSON library says into what the peer is told.
func syntax(err error) error {
	var rpc *Error
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.Is(err, jsontext.ErrDuplicateName):
		return Errorf(CodeInvalidRequest, "invalid request: %v", err)
	}
	return Errorf(CodeParseError, "parse error: %v", err)
}

// salvage finds the ID of a frame that was refused, so that the refusal reaches
// the caller waiting for a response, and what the frame was meant to be. A
// frame that is not JSON has neither. isJSON says whether it is JSON in valid
// UTF-8; a frame whose only fault is its UTF-8 still has an ID.
func salvage(frame []byte) (m *Message, isJSON bool) {
	m = new(Message)
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if !jsontext.Value(frame).IsValid(opts...) {
		return m, false
	}
	isJSON = jsontext.Value(frame).IsValid(opts[0])
	dec := jsontext.NewDecoder(bytes.NewBuffer(frame), opts...)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return m, isJSON
	}
	var id ID
	seen := map[string]int{}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return m, isJSON
		}
		name := tok.String()
		if isEnvelope(name) {
			seen[name]++
		}
		value, err := dec.ReadValue()
		if err != nil {
			return m, isJSON
		}
		switch name {
		case "id":
			id, _ = ParseID(value)
		case "method":
			m.Method = string(value)
		}
	}
	if seen["id"] == 1 {
		m.ID = id
	}
	switch {
	case strings.HasPrefix(m.Method, `"`) && seen["id"] == 0:
		m.Kind = Notification
	case m.Method == "" && seen["result"]+seen["error"] > 0:
		m.Kind = Response
	}
	return m, isJSON
}

func or(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}
