package sample

import (
	"encoding/json"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxDigits is how many decimal places a number may get.
const maxDigits = 1100

// numbers yields numbers within the bounds.
func (t *target) numbers(whole bool, yield func(json.RawMessage) bool) {
	low, high, steps := limits(t.plain)
	if whole {
		steps = append(steps, big.NewRat(1, 1))
	}
	step := big.NewRat(1, 1)
	if len(steps) > 0 {
		step = common(steps)
	}
	var starts []*big.Rat
	for _, n := range []int64{1, 0} {
		starts = append(starts, big.NewRat(n, 1))
	}
	if low != nil {
		starts = append(starts, low)
	}
	if high != nil {
		starts = append(starts, high)
	}
	if low != nil && high != nil {
		half := new(big.Rat).Add(low, high)
		starts = append(starts, half.Quo(half, big.NewRat(2, 1)))
	}
	for _, start := range starts {
		for i := range 3 + len(t.avoid) {
			for _, up := range []bool{true, false} {
				n := shifted(start, step, len(steps) > 0, i, up)
				if low != nil && n.Cmp(low) < 0 || high != nil && n.Cmp(high) > 0 {
					continue
				}
				if text := decimal(n); text != nil && !yield(text) {
					return
				}
			}
		}
	}
}

// limits returns the bounds of numbers, nil for none, and what they are to be
// multiples of.
func limits(plain []*jsonschema.Schema) (low, high *big.Rat, steps []*big.Rat) {
	for _, s := range plain {
		for _, bound := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
			if bound != nil && (low == nil || bound.Cmp(low) > 0) {
				low = bound
			}
		}
		for _, bound := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
			if bound != nil && (high == nil || bound.Cmp(high) < 0) {
				high = bound
			}
		}
		if s.MultipleOf != nil && s.MultipleOf.Sign() > 0 {
			steps = append(steps, s.MultipleOf)
		}
	}
	return low, high, steps
}

// common returns the least common multiple of fractions.
func common(all []*big.Rat) *big.Rat {
	num, denom := new(big.Int).Set(all[0].Num()), new(big.Int).Set(all[0].Denom())
	for _, r := range all[1:] {
		// Of fractions in lowest terms: the lcm of numerators over the gcd of denominators.
		gcd := new(big.Int).GCD(nil, nil, num, r.Num())
		num.Mul(num, new(big.Int).Quo(r.Num(), gcd))
		denom.GCD(nil, nil, denom, r.Denom())
		if num.BitLen() > 8*maxDigits {
			break // nothing that anybody means
		}
	}
	return new(big.Rat).SetFrac(num, denom)
}

// shifted returns the number that is some steps above or below a start, which is
// moved to a multiple of the step first if there are only those.
func shifted(start, step *big.Rat, multiples bool, i int, up bool) *big.Rat {
	n := new(big.Rat).Set(start)
	if multiples {
		q := new(big.Rat).Quo(start, step)
		whole := new(big.Int).Div(q.Num(), q.Denom()) // rounded down
		if up && !q.IsInt() {
			whole.Add(whole, big.NewInt(1))
		}
		n = new(big.Rat).Mul(new(big.Rat).SetInt(whole), step)
	}
	shift := new(big.Rat).Mul(step, big.NewRat(int64(i), 1))
	if !up {
		shift.Neg(shift)
	}
	return n.Add(n, shift)
}

// decimal writes a number, or returns nil if it has no end.
func decimal(n *big.Rat) json.RawMessage {
	if n.IsInt() {
		if n.Num().BitLen() > 4*maxDigits {
			return nil
		}
		return []byte(n.Num().String())
	}
	digits, exact := n.FloatPrec()
	if !exact || digits > maxDigits {
		return nil
	}
	return slices.Clip([]byte(n.FloatString(digits)))
}
