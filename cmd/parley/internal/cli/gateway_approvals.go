package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/approval"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/control"
	"github.com/parley-mcp/parley/internal/wire"
)

const gatewayApprovalsLong = `Decide about what waits for the approval of a human in the gateways of FILE that run, and
show what was approved for a time. What needs it is said in the configuration, under
approval and by policies with the annotation @approval.

An approval is for one call, unless it is given for a time. Then it covers calls of the same
principal, of the same tool, with the same arguments, until it ends or is revoked.`

func (a *app) gatewayApprovals() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approvals FILE | show|allow|deny|revoke FILE ID",
		Short:   "Decide about what waits for the approval of a human",
		Long:    gatewayApprovalsLong,
		Example: "  parley gateway approvals gateway.yaml\n  parley gateway approvals allow gateway.yaml 3kx7qa --for 10m\n  parley gateway approvals deny gateway.yaml 3kx7qa --reason \"ask me first\"",
		Args:    cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.approvalsShow(), a.approvalsAllow(), a.approvalsDeny(), a.approvalsRevoke())
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		switch len(args) {
		case 0:
			return cmd.Help()
		case 1:
			return a.listApprovals(cmd.Context(), args[0])
		}
		return usagef("there is no command %q; name one file, or one of show, allow, deny, revoke", "approvals "+args[0])
	}
	return cmd
}

// listApprovals shows what is on the desks of the gateways of a file.
func (a *app) listApprovals(ctx context.Context, file string) error {
	found, err := a.gatewaysOf(file)
	if err != nil {
		return err
	}
	all := deskList{Waiting: []deskRequest{}, Given: []approval.Grant{}}
	for _, c := range found {
		var one deskList
		if err := a.onDesk(ctx, c, http.MethodGet, "", nil, &one); err != nil {
			return &failure{code: codeFailed, err: err}
		}
		all.Waiting, all.Given = append(all.Waiting, one.Waiting...), append(all.Given, one.Given...)
	}
	if a.flags.json() {
		raw, err := wire.Marshal(all)
		a.out.json(raw)
		return err
	}
	a.showDesk(&all)
	return nil
}

// onDesk asks a gateway for something about approvals.
func (a *app) onDesk(ctx context.Context, c *control.Client, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return c.Do(ctx, method, "/approvals"+path, in, out)
}

func (a *app) showDesk(all *deskList) {
	now := time.Now()
	for i := range all.Waiting {
		r := &all.Waiting[i]
		a.out.printf("%s  %s\n", a.out.bold(r.ID), a.deskLine(r, now))
		a.out.printf("%s\n", indent(harmless(r.Text), "    "))
	}
	for i := range all.Given {
		g := &all.Given[i]
		what := "with any arguments"
		if !g.Tool {
			what = "with " + oneLine(g.Arguments, 200)
		}
		a.out.printf("%s  %s %s was approved by %s%s; %s left, used %s\n", a.out.bold(g.ID), label(g.Shown, 200), what, label(g.By, 100),
			forWhom(g.Principal, g.Client), left(g.Until, now), times(g.Used))
	}
	if len(all.Waiting)+len(all.Given) == 0 {
		a.out.printf("nothing waits, and nothing is approved for a time\n")
	}
}

// deskLine says who waits, and how long.
func (a *app) deskLine(r *deskRequest, now time.Time) string {
	return fmt.Sprintf("asked %s ago%s; %s left", now.Sub(r.Asked).Round(time.Second), forWhom(r.Principal, r.Client), left(r.Until, now))
}

// forWhom says whose calls something is about, as far as that is known.
func forWhom(principal, client string) string {
	text := ""
	if principal != "" {
		text = " for " + label(principal, 100)
	}
	if client != "" {
		text += " (" + label(client, 100) + ")"
	}
	return text
}

func left(until, now time.Time) string { return max(0, until.Sub(now)).Round(time.Second).String() }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// deciding is a command about one request or approval, by its ID.
func (a *app) deciding(cmd *cobra.Command, do func(ctx context.Context, c *control.Client, id string) error) *cobra.Command {
	honours(cmd, a.flags.format)
	completesFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.flags.check(); err != nil {
			return err
		}
		if len(args) != 2 {
			return usagef("name the configuration, and the ID that \"parley gateway approvals FILE\" shows: %s", cmd.UseLine())
		}
		found, err := a.gatewaysOf(args[0])
		if err != nil {
			return err
		}
		for _, c := range found { // each has IDs of its own
			err = do(cmd.Context(), c, args[1])
			if told, ok := errors.AsType[*control.Error](err); !ok || told.Status != http.StatusNotFound {
				break
			}
		}
		if err != nil {
			return &failure{code: codeFailed, err: fmt.Errorf("%s: %w", args[1], err)}
		}
		return nil
	}
	return cmd
}

func (a *app) approvalsShow() *cobra.Command {
	return a.deciding(&cobra.Command{
		Use: "show FILE ID", Short: "Show all of what waits",
		Long:    "Show what waits, with all of its arguments exactly as the server would get them.",
		Example: "  parley gateway approvals show gateway.yaml 3kx7qa",
	}, func(ctx context.Context, c *control.Client, id string) error {
		var r deskRequest
		if err := a.onDesk(ctx, c, http.MethodGet, deskPath(id, ""), nil, &r); err != nil {
			return err
		}
		if a.flags.json() {
			raw, err := wire.Marshal(r)
			a.out.json(raw)
			return err
		}
		a.out.printf("%s  %s\n%s\n", a.out.bold(r.ID), a.deskLine(&r, time.Now()), indent(harmless(r.Text), "    "))
		return nil
	})
}

func (a *app) approvalsAllow() *cobra.Command {
	var (
		forTime time.Duration
		once    bool
		tool    bool
	)
	cmd := a.deciding(&cobra.Command{
		Use: "allow FILE ID", Short: "Approve what waits",
		Long: `Approve what waits: once, or with --for also the calls that are the same in that time. The
configuration bounds it with approval.max_time, and says with approval.tool_wide whether
--any-arguments is possible.`,
		Example: "  parley gateway approvals allow gateway.yaml 3kx7qa\n  parley gateway approvals allow gateway.yaml 3kx7qa --for 10m",
	}, func(ctx context.Context, c *control.Client, id string) error {
		err := a.onDesk(ctx, c, http.MethodPost, deskPath(id, "allow"), deskAnswer{Seconds: forTime.Seconds(), Tool: tool}, nil)
		return a.decided(err, id, "approved")
	})
	cmd.Flags().BoolVar(&once, "once", false, "approve this one call, which is the default")
	cmd.Flags().DurationVar(&forTime, "for", 0, "approve calls with the same arguments for this `TIME`, such as 10m")
	cmd.Flags().BoolVar(&tool, "any-arguments", false, "with --for, approve the tool with any arguments")
	cmd.MarkFlagsMutuallyExclusive("once", "for")
	cmd.MarkFlagsMutuallyExclusive("once", "any-arguments")
	return cmd
}

func (a *app) approvalsDeny() *cobra.Command {
	var reason string
	cmd := a.deciding(&cobra.Command{
		Use: "deny FILE ID", Short: "Refuse what waits",
		Example: "  parley gateway approvals deny gateway.yaml 3kx7qa --reason \"ask me first\"",
	}, func(ctx context.Context, c *control.Client, id string) error {
		return a.decided(a.onDesk(ctx, c, http.MethodPost, deskPath(id, "deny"), deskAnswer{Reason: reason}, nil), id, "denied")
	})
	cmd.Flags().StringVar(&reason, "reason", "", "what the client is told, as `TEXT`")
	return cmd
}

func (a *app) approvalsRevoke() *cobra.Command {
	return a.deciding(&cobra.Command{
		Use: "revoke FILE ID", Short: "End what was approved for a time",
		Example: "  parley gateway approvals revoke gateway.yaml 3kx7qa",
	}, func(ctx context.Context, c *control.Client, id string) error {
		return a.decided(a.onDesk(ctx, c, http.MethodPost, deskPath(id, "revoke"), nil, nil), id, "revoked")
	})
}

// deskPath is the path of what is done about an ID.
func deskPath(id, verb string) string {
	return strings.TrimSuffix("/"+url.PathEscape(id)+"/"+verb, "/")
}

// decided says what was done.
func (a *app) decided(err error, id, what string) error {
	if err != nil {
		return err
	}
	if a.flags.json() {
		raw, err := wire.Marshal(map[string]string{what: id})
		a.out.json(raw)
		return err
	}
	a.out.printf("%s %s\n", what, label(id, 100))
	return nil
}
