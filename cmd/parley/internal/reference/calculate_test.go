package reference

import (
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcptest"
)

func TestCalculateOverTheWire(t *testing.T) {
	mcptest.Run(t, shared(t, Options{}), nil, func(t *testing.T, c *client.Client) {
		r, err := c.CallTool(t.Context(), "calculate", map[string]any{"expression": "2 + 3 * 4"})
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, r); got != "14" || r.IsError || len(r.Content) != 1 {
			t.Errorf("result = %q, IsError %t, %d blocks; want 14 alone", got, r.IsError, len(r.Content))
		}
		n, err := client.Call[float64](t.Context(), c, "calculate", map[string]any{"expression": "7 / 2"})
		if err != nil || n != 3.5 {
			t.Errorf("7 / 2 = %v, %v", n, err)
		}
		wantToolError(t, c, "calculate", map[string]any{"expression": "1 / 0"}, "division by zero")
		wantToolError(t, c, "calculate", map[string]any{}, "expression")
	})
}

func TestCalculate(t *testing.T) {
	c := newCalculator()
	for _, tt := range []struct{ expression, want string }{
		{"2 + 3 * 4", "14"},
		{"(2 + 3) * 4", "20"},
		{"2 ^ 10", "1024"},
		{"2 ** 3 ** 2", "512"},
		{"2 ^ -1", "0.5"},
		{"-2 ^ 2", "-4"},
		{"(-1) ^ 1000000001", "-1"},
		{"0 ^ 0", "1"},
		{"7 % 3", "1"},
		{"-7 % 3", "-1"},
		{"7.5 % 2", "1.5"},
		{"6 / 3", "2"},
		{"1 / 3", "0.3333333333333333"},
		{"0.1 + 0.2", "0.30000000000000004"},
		{"-0.0", "0"},
		{"1e-7", "1e-7"},
		{"1e21", "1e+21"},
		{"9007199254740993 + 1", "9007199254740994"},
		{"9223372036854775807 + 1", "9223372036854776000"},
		{"9223372036854775807 * 1", "9223372036854775807"},
		{"2 ^ 62 - 1 + 2 ^ 62", "9223372036854775807"},
		{"2 ^ 64", "18446744073709552000"},
		{"sqrt(16) + abs(-3) + max(1, 2, 3)", "10"},
		{"min(2, 1.5)", "1.5"},
		{"floor(-2.5) + ceil(2.1) + round(2.5) + trunc(2.9)", "5"},
		{"sum(1, 2, 3.5)", "6.5"},
		{"mean(1, 2)", "1.5"},
		{"hypot(3, 4)", "5"},
		{"cos(pi)", "-1"},
		{"log(e)", "1"},
		{"+5", "5"},
		{"1_000 * 0x10", "16000"},
	} {
		if got, err := c.evaluate(tt.expression); err != nil || got != tt.want {
			t.Errorf("%s = %q, %v; want %q", tt.expression, got, err, tt.want)
		}
	}
}

func TestCalculateRefuses(t *testing.T) {
	c := newCalculator()
	for _, tt := range []struct{ expression, want string }{
		{"1 / 0", "division by zero"},
		{"1 % 0", "division by zero"},
		{"0 / 0.0", "division by zero"},
		{"sqrt(-1)", "not a number"},
		{"1e308 * 10", "too large"},
		{"10 ^ 400", "too large"},
		{"2 +", "unexpected token"},
		{"hello", `unknown name "hello"`},
		{"sqrt", "sqrt is a function"},
		{"sqrt + 1", "sqrt is a function"},
		{"sqrt()", "takes 1 argument(s), not 0"},
		{"atan2(1)", "takes 2 argument(s), not 1"},
		{`"a" + "b"`, "only arithmetic"},
		{"1 < 2", `unknown operator "<"`},
		{"not true", "only arithmetic"},
		{"[1, 2]", "only arithmetic"},
		{"1..1000000000", "unknown operator"},
		{"map(1..10, # * 2)", ""},
		{"filter([1], true)", ""},
		{`repeat("a", 1000000000)`, ""},
		{"now()", ""},
		{"$env", ""},
		{"let x = 1; x", ""},
		{"1 ? 2 : 3", "only arithmetic"},
		{"if true { 1 } else { 2 }", ""},
		{"1; 2", "only arithmetic"},
		{strings.Repeat("(", 400) + "1", ""},
		{strings.Repeat("1+", 499) + "1", ""},
	} {
		got, err := c.evaluate(tt.expression)
		if err == nil || !strings.Contains(explain(err), tt.want) {
			t.Errorf("%s = %q, %v; want an error with %q", tt.expression, got, err, tt.want)
		}
	}
}
