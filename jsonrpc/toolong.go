package jsonrpc

import "fmt"

// TooLongError says that a frame was over the reader's limit and was skipped:
// the next frame can be read.
type TooLongError struct {
	Limit int // bytes
}

// Error says what the limit is.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("message is over the limit of %d bytes", e.Limit)
}
