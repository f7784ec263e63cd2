package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/parley-mcp/parley/bench/payload"
)

// Checker checks answers. One that is the same as an earlier one, but for its
// ID, is not decoded again.
type Checker struct {
	check         func(result json.RawMessage) error
	before, after []byte
}

// NewChecker returns a Checker of results.
func NewChecker(check func(result json.RawMessage) error) *Checker { return &Checker{check: check} }

// Check returns an error when the answer is not right.
func (c *Checker) Check(a Answer) error {
	i := bytes.Index(a.Message, a.ID)
	if i < 0 {
		return fmt.Errorf("the ID %s is not in the answer %.300s", a.ID, a.Message)
	}
	before, after := a.Message[:i], a.Message[i+len(a.ID):]
	if c.before != nil && bytes.Equal(before, c.before) && bytes.Equal(after, c.after) {
		return nil
	}
	result, err := ResultOf(a)
	if err == nil {
		err = c.check(result)
	}
	if err != nil {
		return fmt.Errorf("%w; the answer is %.600s", err, a.Message)
	}
	c.before, c.after = bytes.Clone(before), bytes.Clone(after)
	return nil
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
