package policy_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
)

// A policy decides about what a number is worth, and how it is written makes no difference.
func TestNumbers(t *testing.T) {
	for _, test := range []struct{ equal, numbers string }{
		{`500`, `500 500.0 500.000000 5e2 5E+2 0.5e3 50000e-2 0.0000000005e12`},
		{`0`, `0 -0 0.0 -0.0 0e5 0E-999999999999999999999 -0e999999999999999999999`},
		{`-7`, `-7 -7.0 -70e-1`},
		{`9223372036854775807`, `9223372036854775807 9223372036854775807.0 922337203685477580.7e1`},
		{`-9223372036854775808`, `-9223372036854775808 -9223372036854775808.00 -9223372036854775808e0`},
		{`1000000000000000000`, `1e18 1000000000000000000000e-3`},
		{`decimal("100.5")`, `100.5 100.50000 1005e-1 1.005e2`},
		{`decimal("-0.0007")`, `-0.0007 -7e-4 -0.00070`},
		{`decimal("922337203685477.5807")`, `922337203685477.5807 9223372036854775807e-4`},
		{`"9223372036854775808"`, `9223372036854775808`},
		{`"922337203685477.5808"`, `922337203685477.5808`},
		{`"0.00001"`, `0.00001`},
		{`"1e19"`, `1e19`},
		{`"1E2000"`, `1E2000`},
		{`"1e999999999999999999999"`, `1e999999999999999999999`},
		{`"1e-999999999999999999999"`, `1e-999999999999999999999`},
	} {
		p := load(t, `permit(principal, action, resource) when { context.arguments.n == `+test.equal+` };`, policy.Options{})
		for n := range strings.FieldsSeq(test.numbers) {
			if d := p.Decide(reading(nobody, `{"n":`+n+`}`)); !d.Allowed {
				t.Errorf("%s is not %s", n, test.equal)
			}
		}
	}
}

// Whatever spelling a client chooses, what is forbidden stays so: by what the number is worth,
// or because that cannot be told.
func TestSpellings(t *testing.T) {
	p := load(t, `permit(principal, action, resource);
@id("large-sums") forbid(principal, action, resource) when { context.arguments.amount > 100 };`, policy.Options{})
	for _, n := range []string{
		"500", "500.0", "5e2", "100.5", "50000e-2", "9223372036854775808", "1E2000", "1e999999999", `"500"`, "[500]", `{"a":500}`, "true", "null",
	} {
		d := p.Decide(reading(alice, `{"amount":`+n+`}`))
		if d.Allowed || len(d.Reasons) != 1 || d.Reasons[0].ID != "large-sums" {
			t.Errorf("an amount of %s: allowed %t, by %+v", n, d.Allowed, d.Reasons)
		}
	}
	for _, n := range []string{"100", "100.0", "1e2", "-500.0", "-0", "0e999999999"} {
		if d := p.Decide(reading(alice, `{"amount":`+n+`}`)); !d.Allowed {
			t.Errorf("an amount of %s is denied: %s", n, d)
		}
	}
}

// FuzzNumbers compares how numbers are read with exact arithmetic.
func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{"1", "-0.0", "12.340e1", "9223372036854775808", "1e-4", "922337203685477.5807", "0.00001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		exact, ok := plain(text)
		if !ok {
			t.Skip()
		}
		got := policy.Number(text)
		units := new(big.Rat).Mul(exact, big.NewRat(10_000, 1))
		want := `"` + text + `"`
		switch {
		case exact.IsInt() && exact.Num().IsInt64():
			want = exact.Num().String()
		case units.IsInt() && units.Num().IsInt64():
			want = `decimal("` + strings.TrimRight(exact.FloatString(4), "0") + `")`
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	})
}

// plain reads a JSON number that is not too large to be computed with.
func plain(text string) (*big.Rat, bool) {
	if !isNumber(text) || len(text) > 60 {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func isNumber(text string) bool {
	return json.Valid([]byte(text)) && strings.Trim(text[:1], "-0123456789") == ""
}
