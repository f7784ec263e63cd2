package login_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/auth/oauth"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/login"
	"github.com/parley-mcp/parley/mcptest"
)

// exchanging is an account that exchanges tokens with the secret.
func exchanging(secret oauth.Secret) func(*world) (login.Account, error) {
	return func(w *world) (login.Account, error) {
		return login.NewExchange(login.ExchangeOptions{
			URL: w.shop.url, Logger: mcptest.Quiet(),
			Grant: func(subject func(context.Context) (oauth.Secret, string, error)) oauth.Grant {
				return &oauth.TokenExchange{Issuer: w.issuer.url, Client: oauth.Credentials{ClientID: "gateway", Secret: secret}, Subject: subject}
			},
		})
	}
}

const secret = "the secret of the gateway"

// Each user is themselves behind the gateway, with tokens that the shop alone gets, and
// that are fetched once.
func TestExchange(t *testing.T) {
	for _, revision := range eras {
		t.Run(revision.String(), func(t *testing.T) {
			w := newWorld(t, false, exchanging(secret))
			var group sync.WaitGroup
			for _, name := range []string{"ada", "bob"} {
				group.Go(func() {
					u := w.user(t, name, revision, nil)
					var calls sync.WaitGroup
					for range 8 {
						calls.Go(func() {
							if got, err := u.whoami(t.Context()); err != nil || got != name+" by gateway" {
								t.Errorf("%s is %q, %v", name, got, err)
							}
						})
					}
					calls.Wait()
					if w.shop.saw(u.token(t)) {
						t.Errorf("the shop got the token of %s for the gateway", name)
					}
				})
			}
			group.Wait()
			if n := w.issuer.asked("token-exchange"); n != 2 {
				t.Errorf("%d tokens were exchanged", n)
			}
		})
	}
}

// A token that the shop refuses is replaced, once; that the shop refuses the next one, too,
// is the user's affair alone.
func TestExchangeAgain(t *testing.T) {
	w := newWorld(t, false, exchanging(secret))
	u := w.user(t, "ada", eras[1], nil)
	if _, err := u.whoami(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.shop.set(1000)
	if _, err := u.whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "401") && !strings.Contains(err.Error(), "unauthorized") {
		t.Errorf("a refused token: %v", err)
	}
	before := w.issuer.asked("token-exchange")
	if before > 3 {
		t.Errorf("%d tokens were exchanged", before)
	}
	w.shop.set(0)
	if got, err := w.user(t, "bob", eras[1], nil).whoami(t.Context()); got != "bob by gateway" {
		t.Errorf("another user: %q, %v", got, err)
	}
}

// An authorization server that refuses is asked once for all who wait, and its reason is
// told without a secret.
func TestExchangeRefused(t *testing.T) {
	w := newWorld(t, false, exchanging("another secret"))
	u := w.user(t, "ada", eras[1], nil)
	for range 3 {
		if _, err := u.whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "another secret") {
			t.Errorf("got %v", err)
		}
	}
	if n := w.issuer.asked("token-exchange"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
