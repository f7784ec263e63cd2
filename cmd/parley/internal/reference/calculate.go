package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// maxNodes bounds the size of an expression and thereby its cost, because there
// are no loops.
const maxNodes = 500

type calculateArgs struct {
	Expression string `json:"expression" description:"What to compute, for example \"2 + 3 * 4\" or \"sqrt(2) ^ 3 % 5\"" minLength:"1" maxLength:"1000"`
}

// calculator is what expressions may use.
type calculator struct {
	functions map[string]function
	names     string // of the functions
	options   []expr.Option
}

func newCalculator() *calculator {
	c := &calculator{functions: functions()}
	c.names = strings.Join(functionNames(c.functions), ", ")
	c.options = []expr.Option{expr.DisableAllBuiltins(), expr.DisableIfOperator(), expr.MaxNodes(maxNodes)}
	for name, f := range c.functions {
		c.options = append(c.options, expr.Function(name, f.call(name)))
	}
	return c
}

func (r *reference) addCalculate() {
	c := newCalculator()
	server.AddTool(r.srv, mcp.Tool{
		Name:  "calculate",
		Title: "Calculator",
		Description: "Evaluates an arithmetic expression. Operators: + - * / % and ^ or ** for powers; parentheses; constants pi, e and tau; functions " +
			c.names + ". Angles are in radians; log is the natural logarithm. Integers are exact up to 64 bits, all else is floating point.",
		Annotations: readOnly(),
	}, func(_ context.Context, _ *server.Call, in calculateArgs) (string, error) {
		text, err := c.evaluate(in.Expression)
		if err != nil {
			return "", fmt.Errorf("cannot compute %q: %s", in.Expression, explain(err))
		}
		return text, nil
	})
}

// evaluate writes the result as JavaScript would.
func (c *calculator) evaluate(expression string) (string, error) {
	guard := &arithmeticOnly{calculator: c, bare: map[ast.Node]string{}}
	program, err := expr.Compile(expression, append(slices.Clip(c.options), expr.Patch(guard))...)
	for _, name := range guard.bare {
		guard.refuse("%s is a function; write %s(…)", name, name)
	}
	if guard.err != nil {
		return "", guard.err // the library's error only follows from this one
	}
	if err != nil {
		return "", err
	}
	result, err := expr.Run(program, nil)
	if err != nil {
		return "", err
	}
	return formatNumber(result)
}

// explain leaves out the picture that the library draws of the position.
func explain(err error) string {
	var at *file.Error
	if errors.As(err, &at) {
		return fmt.Sprintf("%s (at character %d)", at.Message, at.Column+1)
	}
	return err.Error()
}

func formatNumber(v any) (string, error) {
	switch n := v.(type) {
	case int:
		return strconv.Itoa(n), nil
	case float64:
		if math.IsInf(n, 0) {
			return "", errors.New("the result is too large for a 64-bit floating-point number")
		}
		if math.IsNaN(n) {
			return "", errors.New("the result is not a number: an argument is outside a function's domain")
		}
		text, err := json.Marshal(n + 0) // + 0 turns -0 into 0
		return string(text), err
	}
	return "", errors.New("the result is not a number; write an arithmetic expression such as \"2 + 3 * 4\"")
}

// arithmeticOnly visits the syntax tree before it is compiled. It refuses
// everything that is not arithmetic, and replaces the library's operators,
// which overflow silently, with our own functions.
type arithmeticOnly struct {
	*calculator
	bare map[ast.Node]string // functions that are named and not, so far, called
	err  error
}

// Visit implements ast.Visitor.
func (a *arithmeticOnly) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.ConstantNode:
	case *ast.CallNode:
		delete(a.bare, n.Callee)
	case *ast.IdentifierNode:
		a.identifier(node, n.Value)
	case *ast.UnaryNode:
		a.operator(node, "unary "+n.Operator, n.Node)
	case *ast.BinaryNode:
		a.operator(node, n.Operator, n.Left, n.Right)
	default:
		a.refuse("only arithmetic on numbers is possible")
	}
}

func (a *arithmeticOnly) identifier(node *ast.Node, name string) {
	constants := map[string]float64{"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi}
	if v, ok := constants[strings.ToLower(name)]; ok {
		ast.Patch(node, &ast.FloatNode{Value: v})
	} else if _, ok := a.functions[name]; !ok {
		a.refuse("unknown name %q; known are pi, e, tau, %s", name, a.names)
	} else {
		a.bare[*node] = name
	}
}

func (a *arithmeticOnly) operator(node *ast.Node, operator string, operands ...ast.Node) {
	if _, ok := a.functions[operator]; !ok {
		a.refuse("unknown operator %q; known are + - * / %% ^ **", strings.TrimPrefix(operator, "unary "))
		return
	}
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: operator}, Arguments: operands})
}

func (a *arithmeticOnly) refuse(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}
