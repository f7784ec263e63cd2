package reference

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	dirType    = "inode/directory"
	sniffBytes = 512
)

// typeByName returns the MIME type that a file's name implies, or "". It does
// not ask the system, so that the answer is the same everywhere.
func typeByName(name string) string {
	types := map[string]string{
		".c": "text/x-c", ".cpp": "text/x-c++", ".css": "text/css", ".csv": "text/csv", ".diff": "text/x-diff",
		".gif": "image/gif", ".go": "text/x-go", ".gz": "application/gzip", ".h": "text/x-c", ".htm": "text/html", ".html": "text/html",
		".java": "text/x-java", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json",
		".log": "text/plain", ".md": "text/markdown", ".mjs": "text/javascript", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
		".ogg": "audio/ogg", ".pdf": "application/pdf", ".php": "text/x-php", ".png": "image/png", ".py": "text/x-python",
		".rb": "text/x-ruby", ".rs": "text/x-rust", ".sh": "text/x-shellscript", ".sql": "application/sql", ".svg": "image/svg+xml",
		".tar": "application/x-tar", ".toml": "application/toml", ".ts": "text/x-typescript", ".tsv": "text/tab-separated-values",
		".txt": "text/plain", ".wasm": "application/wasm", ".wav": "audio/wav", ".webp": "image/webp", ".xml": "application/xml",
		".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
	}
	return types[strings.ToLower(filepath.Ext(name))]
}

// typeByContent tells text from binary content.
func typeByContent(data []byte) string {
	if isText(data) {
		return "text/plain"
	}
	return "application/octet-stream"
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// typeOf returns the MIME type of a regular file, and reads it only if its name
// does not tell.
func (f *files) typeOf(name string) string {
	if t := typeByName(name); t != "" {
		return t
	}
	file, err := f.root.Open(name)
	if err != nil {
		return "application/octet-stream"
	}
	defer file.Close()
	start := make([]byte, sniffBytes)
	n, err := io.ReadFull(file, start)
	if err == nil {
		n -= incomplete(start) // the end may be within a character
	}
	return typeByContent(start[:n])
}

// incomplete returns the number of bytes at the end that begin a character
// without completing it.
func incomplete(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
