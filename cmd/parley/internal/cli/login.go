package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/signin"
	"github.com/parley-mcp/parley/cmd/parley/internal/target"
	"github.com/parley-mcp/parley/internal/wire"
)

const loginLong = `Log in to a server: your browser shows the server's own login, and what parley
would be allowed to do. The other commands then use what was granted, and renew
it. On a terminal they log in by themselves when a server demands it; this command
is for logging in ahead, with other rights, or as a client that is registered.

Credentials are kept in files that only you can read, encrypted with a key in the
keyring of the operating system where there is one. PARLEY_CREDENTIALS names
another folder, and PARLEY_KEYRING=off leaves the keyring alone.`

const loginExamples = `  parley login https://mcp.example.com/mcp
  parley login https://mcp.example.com/mcp --scope files:write
  parley login https://mcp.example.com/mcp --paste       # the browser is on another machine
  parley login https://mcp.example.com/mcp --client-id my-app --issuer https://auth.example.com`

// loginFlags are the flags of login.
type loginFlags struct {
	signin.Registration

	scopes []string
	secret string
	paste  bool
}

func (a *app) login() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:     "login URL|@NAME",
		Short:   "Log in to a server",
		Long:    loginLong,
		Example: loginExamples,
	}
	set := cmd.Flags()
	set.StringArrayVar(&f.scopes, "scope", nil, "also ask for this `SCOPE` (repeatable)")
	set.BoolVar(&f.paste, "paste", false, "print the address to open, and read the one that the browser ends at")
	set.StringVar(&f.ClientID, "client-id", "", "the `ID` of a client that you have registered")
	set.StringVar(&f.secret, "client-secret", "", "the client's secret, as `@FILE`")
	set.StringVar(&f.Issuer, "issuer", "", "the `URL` of the authorization server that knows the client")
	set.StringVar(&f.MetadataURL, "client-metadata", "", "the `URL` of a Client ID Metadata Document to log in as")
	set.BoolVar(&f.DPoP, "dpop", false, "accept only tokens that are bound to a key")
	honours(cmd, a.flags.named, a.flags.format)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if err := f.check(t); err != nil {
			return err
		}
		return a.runLogin(ctx, t.URL, &f)
	})
	return cmd
}

// check validates the flags, and reads the secret.
func (f *loginFlags) check(t target.Target) error {
	if t.URL == "" {
		return usagef("there is no login for a command; give it its secrets with --env")
	}
	if ok, err := signin.Possible(t.URL); err == nil && !ok {
		return usagef("there is no login without https, where anybody on the network could read the token, nor for a URL that has a user name")
	}
	if f.secret == "" {
		return nil
	}
	file, ok := strings.CutPrefix(f.secret, "@")
	switch {
	case !ok:
		return usagef("--client-secret takes @FILE: other users of this machine could read it here")
	case f.ClientID == "" || f.Issuer == "":
		return usagef("--client-secret needs --client-id and --issuer, so that it goes to nobody else")
	}
	content, err := os.ReadFile(file) //nolint:gosec // the user named it
	if err != nil {
		return usagef("--client-secret: %v", err)
	}
	f.SecretText = strings.TrimSpace(string(content))
	return nil
}

func (a *app) runLogin(ctx context.Context, url string, f *loginFlags) error {
	v, err := a.vault(ctx)
	if err != nil {
		return err
	}
	r := &f.Registration
	if *r == (signin.Registration{}) {
		if r, err = signin.Recall(ctx, v, url); err != nil {
			return err
		}
	}
	receiver := a.browser()
	if f.paste {
		receiver = &oauth.Paste{Out: safe{a.err}, In: a.io.In}
	}
	c, err := a.authorizer(url, r, v, receiver)
	if err != nil {
		return err
	}
	if err := c.Login(ctx, f.scopes...); err != nil {
		return err
	}
	status := c.Status(ctx)
	// Spec: 2026-07-28 basic/authorization/client-registration#authorization-server-binding.
	if r.ClientID != "" && r.Issuer == "" {
		r.Issuer = status.Issuer // it was used there, and must not be used anywhere else
	}
	if err := r.Remember(ctx, v, url); err != nil {
		return err
	}
	return a.showLogin(status, v)
}

func (a *app) showLogin(s oauth.Status, v *vault) error {
	if a.flags.json() {
		raw, err := wire.Marshal(struct {
			Issuer    string     `json:"issuer"`
			ClientID  string     `json:"client_id"`
			Resource  string     `json:"resource"`
			Scopes    []string   `json:"scopes"`
			Expires   *time.Time `json:"expires,omitzero"`
			Renewable bool       `json:"renewable"`
		}{s.Issuer, s.ClientID, s.Resource, s.Scopes, orNil(s.Expires), s.Renewable})
		a.out.json(raw)
		return err
	}
	a.out.printf("Logged in to %s\n", label(s.Resource, 500))
	a.fact("by", s.Issuer)
	a.fact("as", s.ClientID)
	a.fact("scopes", strings.Join(s.Scopes, " "))
	switch {
	case s.Renewable:
		a.fact("until", "you log out; it is renewed automatically")
	case !s.Expires.IsZero():
		a.fact("until", s.Expires.Local().Format(time.DateTime)+"; then log in again")
	}
	a.fact("kept in", v.where())
	return nil
}

func (a *app) fact(name, value string) {
	if value != "" {
		a.out.printf("  %s %s\n", a.out.dim(name), label(value, 2000))
	}
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *app) logout() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logout URL|@NAME",
		Short:   "Forget the login to a server",
		Long:    "Revoke the tokens for a server, if its authorization server supports that, and\nforget both them and parley's registration there.",
		Example: "  parley logout https://mcp.example.com/mcp",
	}
	honours(cmd, a.flags.named, a.flags.format)
	a.completes(cmd, nil)
	cmd.RunE = a.onServer(0, 0, func(ctx context.Context, t target.Target, _ []string) error {
		if t.URL == "" {
			return usagef("there is no login for a command")
		}
		return a.runLogout(ctx, t.URL)
	})
	return cmd
}

func (a *app) runLogout(ctx context.Context, url string) error {
	v, err := a.vault(ctx)
	if err != nil {
		return err
	}
	r, err := signin.Recall(ctx, v, url)
	if err != nil {
		return err
	}
	c, err := a.authorizer(url, r, v, nobody{url, nil})
	if err != nil {
		return err
	}
	known := c.Status(ctx).Issuer != ""
	if err := c.Logout(ctx); err != nil {
		return err
	}
	if err := signin.Forget(ctx, v, url); err != nil {
		return err
	}
	switch {
	case a.flags.json():
		raw, err := wire.Marshal(struct {
			Resource string `json:"resource"`
			Known    bool   `json:"was_logged_in"`
		}{url, known})
		a.out.json(raw)
		return err
	case known:
		a.out.printf("Logged out of %s\n", url)
	default:
		a.out.printf("You were not logged in to %s\n", url)
	}
	return nil
}
