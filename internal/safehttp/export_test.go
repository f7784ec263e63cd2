package safehttp

import "context"

// DialForTest dials as the client does.
func DialForTest(ctx context.Context, o Options, addr string) error {
	c, err := o.dial(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}
