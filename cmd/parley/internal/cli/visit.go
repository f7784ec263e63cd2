package cli

import (
	"context"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// visit asks whether the user wants to go to a URL that the server names. It
// never opens or fetches the URL by itself.
//
// Spec: 2026-07-28 client/elicitation#safe-url-handling.
func (s *answers) visit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	s.app.takeScreen()
	defer s.app.screen.Unlock()
	s.app.clearBar()
	e := s.app.err
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		e.printf("parley: %s wants you to visit %q: declined, that is not a web address\n", s.server, p.URL)
		return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
	}
	e.printf("\n%s\n%s\n\n", e.bold(s.server.String()+" wants you to visit a web page:"), indent(p.Message, "  "))
	e.printf("  host  %s\n  URL   %s\n", e.bold(label(u.Host, 500)), label(p.URL, 8000))
	for _, warning := range suspicious(u) {
		e.printf("  %s\n", e.red("careful: "+warning))
	}
	for {
		text, err := s.lines.ask(ctx, "\nGo there? [y]es, I open it myself, [o]pen it in the browser, [n]o > ")
		if err != nil {
			return cancelled(err)
		}
		switch strings.ToLower(text) {
		case "o", "open":
			if err := openBrowser(ctx, u.String()); err != nil {
				e.printf("The browser could not be opened (%v); please open the URL yourself.\n", err)
			}
			return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
		case "y", "yes":
			return &mcp.ElicitResult{Action: mcp.ActionAccept}, nil
		case "n", "no":
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		}
	}
}

// suspicious says what makes a URL look like another one.
func suspicious(u *url.URL) []string {
	var warnings []string
	if u.Scheme == "http" {
		warnings = append(warnings, "the connection is not encrypted")
	}
	if u.User != nil {
		warnings = append(warnings, `what stands before "@" is not the host`)
	}
	for _, r := range u.Host {
		if r > 127 {
			return append(warnings, "the host has letters that may look like others")
		}
	}
	if strings.Contains(strings.ToLower(u.Host), "xn--") {
		warnings = append(warnings, "the host has letters that may look like others")
	}
	return warnings
}

// openBrowser starts the system's browser and does not wait for it.
func openBrowser(ctx context.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...) //nolint:gosec // the user agreed to this URL
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
