// Package payload holds what all servers and clients of the comparison have
// in common: the types of the one tool, the sizes, and the requests. Servers
// in other languages repeat it.
package payload

import (
	"fmt"
	"strings"
)

// Echo is the argument and the result of every tool.
type Echo struct {
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Tags  []string `json:"tags"`
}

// Name and Size are the answers to the two questions of the tool "ask".
type (
	Name struct {
		Name string `json:"name"`
	}
	Size struct {
		Size int `json:"size"`
	}
)

// What every server has.
const (
	// Steps is how many notifications the tool "progress" sends.
	Steps = 10
	// BaseTools are echo, progress, ask and change; the rest is padding.
	BaseTools = 4
	// BlobURI is the resource to read, and BlobSize its size in bytes.
	BlobURI  = "bench://blob"
	BlobSize = 1 << 20
	// AnswerName and AnswerSize answer the questions of the tool "ask".
	AnswerName = "Ann"
	AnswerSize = 42
)

// Small is the payload of the small call.
func Small() Echo { return Sized(32) }

// Sized returns a payload whose text has n bytes: words, with occasional line
// breaks and quotation marks, as in real text.
func Sized(n int) Echo {
	const lines = "The quick brown fox jumps over the lazy dog, again and again, as it has\n" +
		"done ever since people wanted to see all of the letters in one line. It\n" +
		"is said to be \"tired\" of that, and has asked the dog to jump for once.\n"
	text := strings.Repeat(lines, n/len(lines)+1)[:n]
	return Echo{Text: text, Count: 7, Tags: []string{"alpha", "beta", "gamma"}}
}

// Blob returns the bytes of the resource.
func Blob() []byte {
	b := make([]byte, BlobSize)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// PaddingName and PaddingText describe tool i of the padding.
func PaddingName(i int) string { return fmt.Sprintf("tool-%05d", i) }

// PaddingText is the description of every tool of the padding.
const PaddingText = "One of many tools: it returns its arguments, and has a description of ordinary length."
