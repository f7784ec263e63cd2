package wire

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
)

// UnknownMemberError is the error of ReadStrict for a member that the type does not have.
type UnknownMemberError struct {
	// Name is the member.
	Name string
}

// Error names the member.
func (e *UnknownMemberError) Error() string { return "unknown member " + e.Name }

// ReadStrict decodes one JSON value from r, as Unmarshal does, except that members that v
// does not have are an *UnknownMemberError, and that r must end with the value. Errors
// of r are returned as they are, wrapped.
func ReadStrict(r io.Reader, v any) error {
	err := json.UnmarshalRead(r, v, decodeOptions, json.RejectUnknownMembers(true))
	var bad *json.SemanticError
	if errors.As(err, &bad) && errors.Is(err, json.ErrUnknownName) {
		return &UnknownMemberError{Name: bad.JSONPointer.LastToken()}
	}
	return explain(err)
}
