package static

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources are the files of the pages whose names end so.
func sources(t *testing.T, ends ...string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if slices.Contains(ends, path.Ext(name)) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Nothing makes a program or a document of a text.
func TestTextsStayTexts(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|createContextualFragment|DOMParser|srcdoc|setAttribute\("on|javascript:`)
	for _, name := range sources(t, ".js") {
		for i, line := range strings.Split(read(t, name), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if found := bad.FindString(code); found != "" && !strings.HasPrefix(strings.TrimSpace(line), "*") {
				t.Errorf("%s:%d has %s", name, i+1, found)
			}
		}
	}
}

// What is vendored is what was published, but for the one word that vendor/README.md names.
func TestVendored(t *testing.T) {
	about := read(t, "vendor/README.md")
	for name, original := range map[string]string{
		"preact.mjs": read(t, "vendor/preact.mjs"),
		"hooks.mjs":  strings.Replace(read(t, "vendor/hooks.mjs"), `from"./preact.mjs"`, `from"preact"`, 1),
		"htm.mjs":    read(t, "vendor/htm.mjs"),
	} {
		sum := sha256.Sum256([]byte(original))
		row := regexp.MustCompile("(?m)^\\| `" + name + "` .*`" + hex.EncodeToString(sum[:]) + "` \\|$")
		if !row.MatchString(about) {
			t.Errorf("vendor/README.md does not have %s with the digest %x", name, sum)
		}
	}
}
