package naming_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
)

func TestStrict(t *testing.T) {
	many := func(twice string) string {
		var doc strings.Builder
		for i := range 100 {
			fmt.Fprintf(&doc, `"m%d":{"a":1,"b":{"a":[{"a":1}]}},`, i)
		}
		return `{"arguments":{` + doc.String() + `"` + twice + `":1}}`
	}
	for doc, want := range map[string]string{
		``:   "",
		`{}`: "",
		`{"name":"a","arguments":{"name":1,"Name":2,"ARGUMENTS":3}}`: "",
		`{"name":"a","name":"b"}`:                                    `"name" stands twice`,
		`{"name":"a","n\u0061me":"b"}`:                               `"name" stands twice`,
		`{"name":"a","Name":"b"}`:                                    `"Name" differs from "name" in case only`,
		`{"Name":"b"}`:                                               `"Name" differs from "name" in case only`,
		`{"\u004eame":"b"}`:                                          `"Name" differs from "name" in case only`,
		`{"argumentſ":{}}`:                                           `differs from "arguments" in case only`,
		`{"taskID":"b"}`:                                             `"taskID" differs from "taskId"`,
		`{"ref":{"type":"ref/prompt","URI":"x"}}`:                    `"URI" differs from "uri"`,
		`{"argument":{"Name":"x"}}`:                                  "",
		`{"arguments":{"ref":{"URI":"x"}}}`:                          "",
		`{"arguments":{"a":[1,{"b":{"c":1,"d":2,"c":3}}]}}`:          `"c" stands twice`,
		`{"arguments":{"a":{"x":1},"b":{"x":1}},"x":1}`:              "",
		`{"":1,"":2}`:                                                `"" stands twice`,
		many("new"):                                                  "",
		many("m7"):                                                   `"m7" stands twice`,
		many("m99"):                                                  `"m99" stands twice`,
		many(`m\u00399`):                                             `"m99" stands twice`,
		strings.Repeat("[", 500):                                     "",
		`{"a":` + strings.Repeat("[", 1_000_000):                     "nested more than 1000",
	} {
		err := naming.Strict([]byte(doc))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%.200s: %s, want %q", doc, got, want)
		}
	}
}

const small = `{"name":"files__read","arguments":{"path":"/data/reports/2026/q3.md","encoding":"utf-8","range":{"from":0,"to":4096},"tags":["a","b"]},"_meta":{"progressToken":7,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}`

func TestStrictDoesNotAllocate(t *testing.T) {
	params := []byte(small)
	if n := testing.AllocsPerRun(100, func() { _ = naming.Strict(params) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStrict(b *testing.B) {
	params := []byte(small)
	b.SetBytes(int64(len(params)))
	b.ReportAllocs()
	for b.Loop() {
		if err := naming.Strict(params); err != nil {
			b.Fatal(err)
		}
	}
}
