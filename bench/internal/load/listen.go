package load

import (
	"bufio"
	"fmt"

	"github.com/parley-mcp/parley/bench/payload"
)

// Listen opens a subscription to changes of the list of tools. It returns once
// the server has acknowledged it; next then waits for one change.
func (c *HTTP) Listen() (next func() error, err error) {
	r := payload.NewRequest(payload.Stateless, "subscriptions/listen", "", map[string]any{
		"notifications": map[string]any{"toolsListChanged": true},
	}, false)
	resp, err := c.post(r)
	if err != nil {
		return nil, err
	}
	c.out = nil // a listener sends nothing more
	body := bufio.NewReaderSize(resp.Body, 1<<10)
	expect := func(method string) error {
		msg, err := event(body, c.buf[:0])
		if err != nil {
			return err
		}
		c.buf = msg
		h, err := headOf(msg)
		if err == nil && h.Method != method {
			err = fmt.Errorf("the stream said %.200s instead of %s", msg, method)
		}
		return err
	}
	if err := expect("notifications/subscriptions/acknowledged"); err != nil {
		return nil, err
	}
	return func() error { return expect("notifications/tools/list_changed") }, nil
}
