package mcp_test

import (
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

// An error that comes from elsewhere may name the capability only by itself.
func TestMissingCapabilityInWords(t *testing.T) {
	required := mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}
	for feature, want := range map[string]string{
		"sampling": "the client has not declared the capability sampling",
		"":         `the client has not declared the capability {"sampling":{}}`,
	} {
		if got := (&mcp.MissingCapabilityError{Required: required, Feature: feature}).Error(); got != want {
			t.Errorf("%q: %s, want %s", feature, got, want)
		}
	}
}
