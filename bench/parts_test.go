package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNamesOfRowsAndPeersDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range parts {
		for _, name := range p.rows() {
			if seen[name] {
				t.Errorf("%q is there twice", name)
			}
			seen[name] = true
		}
		for _, k := range p.peers() {
			if seen[k.name] {
				t.Errorf("the peer %q is there twice", k.name)
			}
			seen[k.name] = true
		}
	}
}

// samplePage is one with the markers of a part.
const samplePage = "# Page\n\n<!-- begin fake -->\nold\n<!-- end fake -->\n<!-- begin other -->\nother\n<!-- end other -->\n"

func TestOnlyACompletePartIsWritten(t *testing.T) {
	for _, tt := range []struct {
		only     string
		peers    []string
		measured int
		written  bool
	}{
		{"", nil, 1, true},
		{"gateways", nil, 1, true},
		{"gateways: one", nil, 1, false},
		{"nothing", nil, 0, false},
		{"", []string{"another"}, 0, false},
	} {
		file := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(file, []byte(samplePage), 0o600); err != nil {
			t.Fatal(err)
		}
		measured := 0
		p := &part{
			block: "fake", kind: "gateway", rows: func() []string { return []string{"gateways: one", "gateways: two"} },
			peers:   func() []named { return []named{{"some", "Some"}} },
			measure: func(options) (string, error) { measured++; return "new\n", nil },
		}
		if err := p.run(options{only: regexp.MustCompile(tt.only), peers: tt.peers, out: file}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if written := strings.Contains(string(b), "\nnew\n"); measured != tt.measured || written != tt.written || !strings.Contains(string(b), "\nother\n") {
			t.Errorf("-only %q measures %d times and writes: %v, want %d and %v; the page is\n%s", tt.only, measured, written, tt.measured, tt.written, b)
		}
	}
}

func TestPeersMustExist(t *testing.T) {
	if err := (options{peers: []string{"floor", "gateway"}}).checkPeers(); err != nil {
		t.Error(err)
	}
	if err := (options{peers: []string{"flor"}}).checkPeers(); err == nil {
		t.Error("a peer that does not exist is no error")
	}
}
