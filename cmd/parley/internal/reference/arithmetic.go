package reference

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"regexp"
	"slices"
)

// function is an operator or a function of the calculator. Its arguments are
// ints or float64s.
type function struct {
	min, max int // how many arguments; max < 0 means any number
	apply    func(args []any) (any, error)
}

// call makes f callable by the expression library.
func (f function) call(name string) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		if len(args) < f.min || f.max >= 0 && len(args) > f.max {
			return nil, fmt.Errorf("%s takes %s, not %d", name, f.arity(), len(args))
		}
		for i, arg := range args {
			switch arg.(type) {
			case int, float64:
			default:
				return nil, fmt.Errorf("argument %d of %s is not a number", i+1, name)
			}
		}
		return f.apply(args)
	}
}

func (f function) arity() string {
	switch {
	case f.max < 0:
		return fmt.Sprintf("at least %d argument(s)", f.min)
	case f.min == f.max:
		return fmt.Sprintf("%d argument(s)", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

// functions returns the functions of the calculator, including its operators.
func functions() map[string]function {
	all := map[string]function{
		"unary +": {1, 1, func(a []any) (any, error) { return a[0], nil }},
		"unary -": {1, 1, func(a []any) (any, error) { return subtract(0, a[0]), nil }},
		"+":       {2, 2, func(a []any) (any, error) { return add(a[0], a[1]), nil }},
		"-":       {2, 2, func(a []any) (any, error) { return subtract(a[0], a[1]), nil }},
		"*":       {2, 2, func(a []any) (any, error) { return multiply(a[0], a[1]), nil }},
		"/":       {2, 2, func(a []any) (any, error) { return divide(a[0], a[1]) }},
		"%":       {2, 2, func(a []any) (any, error) { return modulo(a[0], a[1]) }},
		"^":       {2, 2, func(a []any) (any, error) { return power(a[0], a[1]), nil }},
		"**":      {2, 2, func(a []any) (any, error) { return power(a[0], a[1]), nil }},
		"pow":     {2, 2, func(a []any) (any, error) { return power(a[0], a[1]), nil }},
		"min":     {1, -1, func(a []any) (any, error) { return slices.MinFunc(a, compare), nil }},
		"max":     {1, -1, func(a []any) (any, error) { return slices.MaxFunc(a, compare), nil }},
		"sum":     {1, -1, func(a []any) (any, error) { return sum(a), nil }},
		"mean":    {1, -1, func(a []any) (any, error) { return divide(sum(a), len(a)) }},
		"abs":     {1, 1, func(a []any) (any, error) { return slices.MaxFunc([]any{a[0], subtract(0, a[0])}, compare), nil }},
		"atan2":   {2, 2, func(a []any) (any, error) { return math.Atan2(float(a[0]), float(a[1])), nil }},
		"hypot":   {2, 2, func(a []any) (any, error) { return math.Hypot(float(a[0]), float(a[1])), nil }},
	}
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "log": math.Log, "log2": math.Log2, "log10": math.Log10,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
	} {
		all[name] = function{1, 1, func(a []any) (any, error) { return f(float(a[0])), nil }}
	}
	for name, f := range map[string]func(float64) float64{
		"floor": math.Floor, "ceil": math.Ceil, "round": math.Round, "trunc": math.Trunc,
	} {
		all[name] = function{1, 1, func(a []any) (any, error) { return toInteger(a[0], f), nil }}
	}
	return all
}

// functionNames returns the names that can be written before a parenthesis.
func functionNames(all map[string]function) []string {
	names := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(names, func(name string) bool { return !functionName.MatchString(name) })
}

var functionName = regexp.MustCompile(`^[a-z0-9]+$`)

func float(v any) float64 {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	f, _ := v.(float64) // call has checked
	return f
}

// integers returns a and b if both are integers.
func integers(a, b any) (x, y int, ok bool) {
	x, okX := a.(int)
	y, okY := b.(int)
	return x, y, okX && okY
}

func compare(a, b any) int {
	if x, y, ok := integers(a, b); ok {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(float(a), float(b))
}

func add(a, b any) any {
	if x, y, ok := integers(a, b); ok {
		if s := x + y; (s > x) == (y > 0) {
			return s
		}
	}
	return float(a) + float(b)
}

func subtract(a, b any) any {
	if x, y, ok := integers(a, b); ok {
		if d := x - y; (d < x) == (y > 0) {
			return d
		}
	}
	return float(a) - float(b)
}

func multiply(a, b any) any {
	if x, y, ok := integers(a, b); ok {
		if p, exact := exactProduct(x, y); exact {
			return p
		}
	}
	return float(a) * float(b)
}

func exactProduct(x, y int) (int, bool) {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	return x * y, true
}

func magnitude(x int) uint64 {
	if x < 0 {
		return -uint64(x) //nolint:gosec // in two's complement, this is right for the smallest int, too
	}
	return uint64(x)
}

func divide(a, b any) (any, error) {
	if float(b) == 0 {
		return nil, errors.New("division by zero")
	}
	if x, y, ok := integers(a, b); ok && y != -1 && x%y == 0 {
		return x / y, nil
	}
	if y, ok := b.(int); ok && y == -1 {
		return subtract(0, a), nil
	}
	return float(a) / float(b), nil
}

// modulo has the sign of a, as in C and JavaScript.
func modulo(a, b any) (any, error) {
	if float(b) == 0 {
		return nil, errors.New("division by zero")
	}
	if x, y, ok := integers(a, b); ok {
		return x % y, nil
	}
	return math.Mod(float(a), float(b)), nil
}

func power(a, b any) any {
	if x, y, ok := integers(a, b); ok && y >= 0 {
		if p, exact := exactPower(x, y); exact {
			return p
		}
	}
	return math.Pow(float(a), float(b))
}

// exactPower multiplies while the result fits, which takes few steps.
func exactPower(x, y int) (int, bool) {
	if x == 0 || x == 1 || x == -1 {
		y = min(y, 2-y%2) // the same power, sooner
	}
	result, exact := 1, true
	for i := 0; i < y && exact; i++ {
		result, exact = exactProduct(result, x)
	}
	return result, exact
}

func sum(list []any) any {
	var total any = 0
	for _, v := range list {
		total = add(total, v)
	}
	return total
}

// toInteger rounds to an integer, as an int where it fits.
func toInteger(v any, round func(float64) float64) any {
	if n, ok := v.(int); ok {
		return n
	}
	f := round(float(v))
	if math.Abs(f) < 1<<53 {
		return int(f)
	}
	return f
}
