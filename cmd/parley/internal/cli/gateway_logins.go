package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/config"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/who"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayLoginsLong = `A backend with auth: {user: {}} has each user log in there, in a browser. The gateway
keeps these logins, encrypted. FILE is the configuration of the gateway. Tokens are
never shown.

To forget a login revokes it, where the authorization server of the backend can do that.
The user is asked again when they next need the backend.`

func (a *app) gatewayLogins() *cobra.Command {
	return family(&cobra.Command{
		Use:     "logins list|forget",
		Short:   "Show and forget the logins of users at backends",
		Long:    gatewayLoginsLong,
		Example: "  parley gateway logins list gateway.yaml\n  parley gateway logins forget gateway.yaml --backend shop --user '*alice'",
	}, a.loginsList(), a.loginsForget())
}

// keptLogin is a login, as it is shown.
type keptLogin struct {
	Backend   string    `json:"backend"`
	URL       string    `json:"url"`
	Principal string    `json:"principal"`
	Since     time.Time `json:"since"`
	LoggedIn  bool      `json:"loggedIn"`
	Issuer    string    `json:"issuer,omitzero"`
	Scopes    []string  `json:"scopes,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
	Renewable bool      `json:"renewable"`
}

// onLogins is what a command does with the logins that were named.
type onLogins func(ctx context.Context, k *keptLogins) error

// keptLogins are logins that were named, and where they are kept.
type keptLogins struct {
	config     *config.Config
	vault      *login.Vault
	list       []login.Entry
	unreadable int
	lost       bool // those that cannot be read are meant
}

// loginsCommand fills in what all commands about logins have. forgets says that the
// command is about logins that have to be named.
func (a *app) loginsCommand(cmd *cobra.Command, forgets bool, do onLogins) *cobra.Command {
	var backends, users []string
	unreadable := false
	if forgets {
		cmd.Flags().BoolVar(&unreadable, "unreadable", false, "those that cannot be read: they were changed, or their key is lost")
	}
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.Flags().StringArrayVar(&backends, "backend", nil, "only those at the `BACKEND`; * stands for any characters (repeatable)")
	cmd.Flags().StringArrayVar(&users, "user", nil, "only those of the `PRINCIPAL`, as list shows it or without the issuer; * stands for any characters (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 1 {
			return usagef("name one file: %s", cmd.UseLine())
		}
		named := len(backends)+len(users) > 0
		switch {
		case unreadable && named:
			return usagef("nobody knows whose the logins are that cannot be read: use --unreadable without --backend and --user")
		case !unreadable && !named && forgets:
			return usagef("say which logins, with --backend or --user; --user '*' is everybody, and --unreadable what cannot be read")
		}
		c, err := config.Read(args[0], a.environment(cmd.Context()))
		if err != nil {
			return a.invalid(args[0], err)
		}
		k, err := a.keptLogins(cmd.Context(), c, naming.Selection{Include: backends}, naming.Selection{Include: users})
		if err != nil {
			return err
		}
		k.lost = unreadable
		return do(cmd.Context(), k)
	}
	return cmd
}

// keptLogins reads the logins of some users at some backends.
func (a *app) keptLogins(ctx context.Context, c *config.Config, backends, users naming.Selection) (*keptLogins, error) {
	vault, err := a.loginVault(ctx, c, a.logger())
	switch {
	case err != nil:
		return nil, err
	case vault == nil:
		return nil, usagef("%s keeps no logins: there is no keyring; name a key\n\n  logins: {key: \"${file:logins.key}\"}", c.Path)
	}
	k := &keptLogins{config: c, vault: vault}
	all, unreadable, err := vault.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if backends.Has(e.Backend) && (users.Has(e.Principal) || users.Has(who.Of(e.Principal).Name())) {
			k.list = append(k.list, e)
		}
	}
	k.sort()
	k.unreadable = unreadable
	return k, nil
}

func (k *keptLogins) sort() {
	slices.SortFunc(k.list, func(one, other login.Entry) int {
		return cmp.Or(cmp.Compare(one.Backend, other.Backend), cmp.Compare(one.Principal, other.Principal))
	})
}

// client returns what knows of a login. The client that it was given to is needed for
// revoking it.
func (k *keptLogins) client(e *login.Entry) (*oauth.Client, error) {
	store, err := k.vault.Store(e.Owner)
	if err != nil {
		return nil, err
	}
	o := &oauth.Options{URL: e.URL, Store: store}
	if b := k.config.Backend(e.Backend); b != nil {
		if p, err := b.Person(); err == nil && p != nil {
			o.PreRegistered = p.PreRegistered
		}
	}
	return oauth.New(o)
}

func (a *app) loginsList() *cobra.Command {
	return a.loginsCommand(&cobra.Command{
		Use: "list FILE", Short: "List who has logged in where",
		Example: "  parley gateway logins list gateway.yaml --backend shop",
	}, false, func(ctx context.Context, k *keptLogins) error {
		shown := make([]keptLogin, 0, len(k.list))
		for i := range k.list {
			e := &k.list[i]
			c, err := k.client(e)
			if err != nil {
				return err
			}
			s := c.Status(ctx)
			_ = c.Close() // it has done nothing
			shown = append(shown, keptLogin{e.Backend, e.URL, e.Principal, e.Since, s.LoggedIn, s.Issuer, s.Scopes, s.Expires, s.Renewable})
		}
		if a.flags.json() {
			raw, err := wire.Marshal(map[string]any{"logins": shown, "unreadable": k.unreadable})
			a.out.json(raw)
			return err
		}
		for i := range shown {
			a.showKept(&shown[i])
		}
		if len(shown) == 0 {
			a.note("There are no logins.")
		}
		if k.unreadable > 0 {
			a.note("%d more cannot be read: they were changed, or their key is not among those of %s. logins forget --unreadable removes them.", k.unreadable, filepath.Base(k.config.Path))
		}
		return nil
	})
}

// showKept shows a login on two lines.
func (a *app) showKept(l *keptLogin) {
	who := cmp.Or(l.Principal, "the user of the gateway")
	a.out.printf("%s  %s\n", a.out.bold(label(l.Backend, 40)), label(who, 300))
	state := "since " + l.Since.Local().Format(time.DateTime)
	switch {
	case !l.LoggedIn:
		state += ", and has ended"
	case !l.Renewable && !l.Expires.IsZero():
		state += ", until " + l.Expires.Local().Format(time.DateTime)
	}
	a.out.printf("    %s\n", a.out.dim(label(fmt.Sprintf("%s, %s", l.URL, state), 500)))
}

func (a *app) loginsForget() *cobra.Command {
	return a.loginsCommand(&cobra.Command{
		Use: "forget FILE", Short: "Revoke and forget logins",
		Example: "  parley gateway logins forget gateway.yaml --user '*alice'\n  parley gateway logins forget gateway.yaml --unreadable",
	}, true, func(ctx context.Context, k *keptLogins) error {
		if k.lost {
			return a.forgetUnreadable(ctx, k)
		}
		var failed error
		for i := range k.list {
			e := &k.list[i]
			if err := k.forget(ctx, e); err != nil {
				failed = err
				a.note("%s, %s: forgotten here, but not revoked: %v", label(e.Backend, 40), label(e.Principal, 300), err)
			}
		}
		if a.flags.json() {
			raw, err := wire.Marshal(map[string]any{"ok": failed == nil, "forgotten": len(k.list)})
			a.out.json(raw)
			return cmp.Or(err, failed)
		}
		a.out.printf("%d forgotten\n", len(k.list))
		return failed
	})
}

// forgetUnreadable removes what cannot be read, and so not be revoked either.
func (a *app) forgetUnreadable(ctx context.Context, k *keptLogins) error {
	n, err := k.vault.ForgetUnreadable(ctx)
	if err != nil {
		return err
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]any{"ok": true, "forgotten": n})
		a.out.json(raw)
		return err
	}
	a.out.printf("%d forgotten\n", n)
	if n > 0 {
		a.note("They could not be revoked: where that matters, users can do it where they have logged in.")
	}
	return nil
}

// forget revokes a login and forgets it. It is forgotten even if revoking fails.
func (k *keptLogins) forget(ctx context.Context, e *login.Entry) error {
	c, err := k.client(e)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it has done is done
	revoking := c.Logout(ctx)
	if err := k.vault.Forget(ctx, e.Owner); err != nil {
		return err
	}
	return revoking
}
