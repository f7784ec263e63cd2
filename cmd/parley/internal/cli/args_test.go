package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParsePairs(t *testing.T) {
	got, err := parsePairs([]string{"a=1", "b:=[1]", "c=", "d=x=y", "e=f:=g", "h:i=j", "k:= 1 "})
	if err != nil {
		t.Fatal(err)
	}
	want := []pair{
		{"a", "1", false},
		{"b", "[1]", true},
		{"c", "", false},
		{"d", "x=y", false},
		{"e", "f:=g", false},
		{"h:i", "j", false},
		{"k", " 1 ", true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, bad := range [][]string{{"a"}, {"=1"}, {":=1"}, {"a:=x"}, {"a:="}, {"a=1", "a:=2"}} {
		if _, err := parsePairs(bad); err == nil {
			t.Errorf("parsePairs(%q) has no error", bad)
		}
	}
}

const argSchema = `{"type":"object","required":["int"],"properties":{
	"text":{"type":"string"},
	"int":{"type":"integer"},
	"num":{"type":"number"},
	"flag":{"type":"boolean"},
	"list":{"type":"array"},
	"object":{"type":"object"},
	"nullable":{"type":["integer","null"]},
	"both":{"type":["integer","string"]},
	"either":{"anyOf":[{"type":"boolean"},{"type":"null"}]},
	"ref":{"$ref":"#/$defs/n"},
	"loop":{"$ref":"#/$defs/loop"},
	"free":{}
},"$defs":{"n":{"type":"integer"},"loop":{"$ref":"#/$defs/loop"}}}`

func TestArguments(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"text=5", `{"text":"5"}`},
		{"int=5", `{"int":5}`},
		{"int=12345678901234567890", `{"int":12345678901234567890}`},
		{"int=-1", `{"int":-1}`},
		{"int=five", `{"int":"five"}`},
		{"int=007", `{"int":"007"}`},
		{"int=true", `{"int":"true"}`},
		{"int=", `{"int":""}`},
		{"num=2.50", `{"num":2.50}`},
		{"flag=true", `{"flag":true}`},
		{"flag=yes", `{"flag":"yes"}`},
		{`list=["a"]`, `{"list":["a"]}`},
		{"list=a", `{"list":"a"}`},
		{`object={"a":1}`, `{"object":{"a":1}}`},
		{"nullable=null", `{"nullable":null}`},
		{"both=5", `{"both":"5"}`},
		{"either=false", `{"either":false}`},
		{"ref=5", `{"ref":5}`},
		{"loop=5", `{"loop":"5"}`},
		{"free=5", `{"free":"5"}`},
		{"unknown=5", `{"unknown":"5"}`},
		{"text:=5", `{"text":5}`},
	}
	for _, tt := range tests {
		pairs, err := parsePairs([]string{tt.arg})
		if err != nil {
			t.Fatal(err)
		}
		got, err := arguments(nil, pairs, json.RawMessage(argSchema))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.arg, got, err, tt.want)
		}
	}
}

func TestArgumentsReplaceInput(t *testing.T) {
	got, err := arguments(json.RawMessage(`{"a": {"deep": 1.0}, "b": 2}`), []pair{{"b", "3", false}, {"c", "4", true}}, nil)
	if want := `{"a":{"deep": 1.0},"b":"3","c":4}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestReadInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(`{"from":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := newTestApp(`{"from":"stdin"}`, false)
	for input, want := range map[string]string{"": "", `{"a":1}`: `{"a":1}`, "@" + file: `{"from":"file"}`, "-": `{"from":"stdin"}`} {
		got, err := a.readInput(input)
		if err != nil || string(got) != want {
			t.Errorf("readInput(%q) = %s, %v, want %s", input, got, err, want)
		}
	}
	for _, bad := range []string{"[1]", "null", "x", `{"a":1,"a":2}`, "@" + file + ".missing"} {
		if _, err := a.readInput(bad); err == nil || !strings.Contains(err.Error(), "--input") {
			t.Errorf("readInput(%q): error = %v", bad, err)
		}
	}
}
