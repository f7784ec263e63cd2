package jsonrpc_test

import (
	"fmt"

	"github.com/parley-mcp/parley/jsonrpc"
)

// The decoder refuses what two parsers could interpret differently, and still
// says which request to refuse.
func ExampleDecoder_Decode() {
	var decoder jsonrpc.Decoder
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call"}`,
	} {
		m, err := decoder.Decode([]byte(frame))
		fmt.Println(m.ID, err)
	}
	// Output:
	// 12345678901234567890 <nil>
	// 7 unknown member "Method": names of members are case-sensitive (-32600)
}
