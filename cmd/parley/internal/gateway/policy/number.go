package policy

import (
	"strconv"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
)

// scaled is a number as its digits, without zeros at either end, times a power of ten.
type scaled struct {
	sign, digits string
	exponent     int
}

// mostDigits is how many digits a whole number of 64 bits can have.
const mostDigits = 19

// scientific reads a JSON number.
func scientific(text string) scaled {
	var n scaled
	mantissa, power := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, power = text[:i], text[i+1:]
	}
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		n.sign, mantissa = "-", rest
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	n.digits = strings.TrimRight(digits, "0")
	exponent, err := strconv.ParseInt(power, 10, 30)
	if err != nil { // it is neither, whatever its digits are
		exponent = 1 << 29
	}
	n.exponent = int(exponent) + len(digits) - len(n.digits) - len(part)
	return n
}

// long returns a whole number of 64 bits, if the number is one.
func (n *scaled) long() (types.Long, bool) {
	switch {
	case n.digits == "":
		return 0, true
	case n.exponent < 0 || len(n.digits)+n.exponent > mostDigits:
		return 0, false
	}
	whole, err := strconv.ParseInt(n.sign+n.digits+strings.Repeat("0", n.exponent), 10, 64)
	return types.Long(whole), err == nil
}

// decimal returns a decimal, if the number is one.
func (n *scaled) decimal() (types.Decimal, bool) {
	digits, err := strconv.ParseInt(n.sign+n.digits, 10, 64)
	if err != nil || n.exponent >= 0 {
		return types.Decimal{}, false
	}
	d, err := types.NewDecimal(digits, n.exponent)
	return d, err == nil
}
