package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// viewer shows content blocks.
type viewer struct {
	app  *app
	out  *output
	save string // the folder for what is not text; "" for none
	name string // of files that come without one
}

func (v *viewer) show(block mcp.Content) error {
	switch b := block.(type) {
	case *mcp.TextContent:
		v.out.printf("%s", endLine(b.Text))
	case *mcp.ImageContent:
		return v.blob("image", v.name, b.MIMEType, b.Data)
	case *mcp.AudioContent:
		return v.blob("audio", v.name, b.MIMEType, b.Data)
	case *mcp.EmbeddedResource:
		return v.resource(b.Resource)
	case *mcp.ResourceLink:
		v.out.printf("[link, %s%s]\n", label(b.URI, 500), linkDetails(b))
	default:
		raw, err := wire.Marshal(block)
		if err != nil {
			return err
		}
		v.out.printf("%s\n", pretty(raw))
	}
	return nil
}

func linkDetails(b *mcp.ResourceLink) string {
	var s strings.Builder
	for _, part := range []string{b.Name, b.MIMEType, b.Description} {
		if part != "" {
			s.WriteString(", " + label(part, 200))
		}
	}
	return s.String()
}

func (v *viewer) resource(r *mcp.ResourceContents) error {
	if r == nil {
		return nil
	}
	if r.Blob != nil {
		return v.blob("resource "+label(r.URI, 200), path.Base(r.URI), r.MIMEType, r.Blob)
	}
	v.out.printf("%s\n", v.out.dim("[resource "+label(r.URI, 200)+", "+label(r.MIMEType, 80)+"]"))
	if r.Text != nil {
		v.out.printf("%s", endLine(*r.Text))
	}
	return nil
}

// blob describes content that is not text, and saves it if there is a folder
// for it.
func (v *viewer) blob(kind, name, mimeType string, data []byte) error {
	where := "--output json shows it, --save DIR writes it to a file"
	if v.save != "" {
		file, err := saveFile(v.save, name, mimeType, data)
		if err != nil {
			return err
		}
		where = "saved to " + file
	}
	v.out.printf("[%s, %s, %d bytes; %s]\n", kind, label(mimeType, 80), len(data), where)
	return nil
}

// saveFile writes data to a new file, whose name it returns. The server can
// influence the name, so everything but letters, digits and a few other
// characters is removed from it.
func saveFile(dir, name, mimeType string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	ext := path.Ext(name)
	base := strings.TrimSuffix(safeName(strings.TrimSuffix(name, ext)), ".")
	if ext = safeName(ext); len(ext) < 2 {
		ext = extension(mimeType)
	}
	if base == "" {
		base = "content"
	}
	for n := 1; ; n++ {
		file := filepath.Join(dir, base+ext)
		if n > 1 {
			file = filepath.Join(dir, fmt.Sprintf("%s-%d%s", base, n, ext))
		}
		err := writeNew(file, data)
		if !errors.Is(err, fs.ErrExist) || n == 10000 {
			return file, err
		}
	}
}

func writeNew(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // a file for its user
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '-'
	}, s)
	return s[:min(len(s), 100)]
}

// extension returns the usual file name extension of a type. The system's table
// lists extensions in alphabetical order, so its first one is seldom the usual
// one.
func extension(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ".bin"
	}
	switch kind {
	case "image/jpeg":
		return ".jpg"
	case "audio/mpeg":
		return ".mp3"
	case "audio/wav", "audio/x-wav", "audio/wave":
		return ".wav"
	case "image/svg+xml":
		return ".svg"
	case "application/octet-stream":
		return ".bin"
	}
	_, sub, _ := strings.Cut(kind, "/")
	return "." + safeName(strings.TrimPrefix(sub, "x-"))
}

// pretty indents JSON for people.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
