package jsonrpc_test

import (
	"fmt"
	"log"

	"github.com/parley-mcp/parley/jsonrpc"
)

// A request is made, and its answer is told by its ID.
func Example() {
	request, err := jsonrpc.NewRequest(jsonrpc.IntID(1), "tools/call", map[string]string{"name": "greet"})
	if err != nil {
		log.Fatal(err)
	}
	frame, err := jsonrpc.Append(nil, request)
	fmt.Println(string(frame), err)

	var decoder jsonrpc.Decoder
	answer, err := decoder.Decode([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}}`))
	fmt.Println(answer.ID == request.ID, answer.Error, err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}} <nil>
	// true unknown tool (-32602) <nil>
}

// Numbers keep every digit, and a text is never the same as a number.
func ExampleParseID() {
	for _, raw := range []string{`9007199254740993`, `"9007199254740993"`, `1.5`} {
		id, err := jsonrpc.ParseID([]byte(raw))
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(id)
	}
	// Output:
	// 9007199254740993
	// "9007199254740993"
	// id must be a string or an integer
}

func ExampleErrorf() {
	err := jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "no place named %q", "Atlantis")
	fmt.Println(err)
	// Output: no place named "Atlantis" (-32602)
}
