package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/parley-mcp/parley/bench/payload"
)

// Checker checks answers. One that is the same as an earlier one, but for its
// ID and for how long it may still be kept, is not decoded again.
type Checker struct {
	check func(result json.RawMessage) error
	known *constant
}

// constant is what does not change between equal answers: what is before and
// after the ID, each without the time to live.
type constant [4][]byte

// NewChecker returns a Checker of results.
func NewChecker(check func(result json.RawMessage) error) *Checker { return &Checker{check: check} }

// Check returns an error when the answer is not right.
func (c *Checker) Check(a Answer) error {
	i := bytes.Index(a.Message, a.ID)
	if i < 0 {
		return fmt.Errorf("the ID %s is not in the answer %.300s", a.ID, a.Message)
	}
	var k constant
	k[0], k[1] = withoutTTL(a.Message[:i])
	k[2], k[3] = withoutTTL(a.Message[i+len(a.ID):])
	if c.known != nil && k.equal(c.known) {
		return nil
	}
	result, err := ResultOf(a)
	if err == nil {
		err = c.check(result)
	}
	if err != nil {
		return fmt.Errorf("%w; the answer is %.600s", err, a.Message)
	}
	for i := range k {
		k[i] = bytes.Clone(k[i])
	}
	c.known = &k
	return nil
}

func (k *constant) equal(other *constant) bool {
	for i := range k {
		if !bytes.Equal(k[i], other[i]) {
			return false
		}
	}
	return true
}

// withoutTTL returns what is before and after the value of ttlMs.
func withoutTTL(b []byte) (before, after []byte) {
	const key = `"ttlMs":`
	i := bytes.Index(b, []byte(key))
	if i < 0 {
		return b, nil
	}
	i += len(key)
	return b[:i], bytes.TrimLeft(b[i:], " 0123456789")
}

// ResultOf returns the result in an answer.
func ResultOf(a Answer) (json.RawMessage, error) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(a.Message, &m); err != nil {
		return nil, err
	}
	if !bytes.Equal(m.ID, a.ID) || m.Result == nil {
		return nil, fmt.Errorf("not the result for %s: error %s", a.ID, m.Error)
	}
	return m.Result, nil
}

// IsEcho returns a check of the result of a tool: the payload must be there
// both as structured content and as text.
func IsEcho(want payload.Echo) func(json.RawMessage) error {
	return func(result json.RawMessage) error {
		var r struct {
			IsError           bool          `json:"isError"`
			StructuredContent *payload.Echo `json:"structuredContent"`
			Content           []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		}
		if err := json.Unmarshal(result, &r); err != nil {
			return err
		}
		if r.IsError || r.StructuredContent == nil || !reflect.DeepEqual(*r.StructuredContent, want) {
			return fmt.Errorf("not the expected structured content")
		}
		var text payload.Echo
		if len(r.Content) != 1 || json.Unmarshal([]byte(r.Content[0].Text), &text) != nil || !reflect.DeepEqual(text, want) {
			return fmt.Errorf("not the expected content")
		}
		return nil
	}
}

// IsBlob checks the result of reading the resource.
func IsBlob(result json.RawMessage) error {
	var r struct {
		Contents []struct {
			URI  string `json:"uri"`
			Blob []byte `json:"blob"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	if len(r.Contents) != 1 || r.Contents[0].URI != payload.BlobURI || !bytes.Equal(r.Contents[0].Blob, payload.Blob()) {
		return fmt.Errorf("not the expected contents")
	}
	return nil
}
