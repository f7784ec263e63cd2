package oauth

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"runtime"
)

// OpenBrowser opens a page in the user's browser without waiting for it. It
// fails if there is no program for that. Only http and https are opened.
func OpenBrowser(ctx context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("only web pages are opened in the browser")
	}
	name, args := browserCommand(runtime.GOOS)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, append(args, u.String())...) //nolint:gosec // a fixed program, and no shell
	if err := cmd.Start(); err != nil {
		return errors.New("the browser could not be opened")
	}
	go func() { _ = cmd.Wait() }() // ends with the program, which only hands the page to the browser
	return nil
}

// browserCommand returns the command that opens a page on a system.
func browserCommand(goos string) (name string, args []string) {
	switch goos {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
