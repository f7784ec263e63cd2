package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestSavedFilesStayInTheirFolder(t *testing.T) {
	tests := []struct{ name, mimeType, want string }{
		{"chart", "image/png", "chart.png"},
		{"chart", "image/jpeg; q=1", "chart.jpg"},
		{"../../etc/passwd", "text/plain", "..-..-etc-passwd.plain"},
		{"..", "application/zip", "content.zip"},
		{"", "", "content.bin"},
		{"a b\n.tar", "", "a-b-.tar"},
		{"C:\\x", "audio/mpeg", "C--x.mp3"},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		got, err := saveFile(filepath.Join(dir, "new"), tt.name, tt.mimeType, []byte("x"))
		if want := filepath.Join(dir, "new", tt.want); err != nil || got != want {
			t.Errorf("saveFile(%q, %q) = %s, %v, want %s", tt.name, tt.mimeType, got, err, want)
		}
	}
}

func TestSavedFilesReplaceNothing(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"a.png", "a-2.png", "a-3.png"} {
		got, err := saveFile(dir, "a", "image/png", []byte(want))
		if err != nil || got != filepath.Join(dir, want) {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a.png")); err != nil || string(b) != "a.png" {
		t.Errorf("a.png holds %q, %v", b, err)
	}
}

func TestContentsOnATerminal(t *testing.T) {
	a, c := newTestApp("", true)
	err := a.showContents([]*mcp.ResourceContents{
		mcp.TextResource("note://1", "text/plain", "one\x1b[2J"),
		mcp.BlobResource("note://2", "image/png", []byte{0, 1}),
	}, "")
	want := "\x1b[1mnote://1\x1b[0m\none\uFFFD[2J\n" +
		"\x1b[1mnote://2\x1b[0m\n[resource note://2, image/png, 2 bytes; --output json shows it, --save DIR writes it to a file]\n"
	if err != nil || c.out.String() != want {
		t.Errorf("got %q, %v\nwant %q", c.out.String(), err, want)
	}
}
