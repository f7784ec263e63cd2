package content_test

import (
	"encoding/json"
	"math"
	"mime"
	"net/url"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/content"
	"github.com/parley-mcp/parley/mcp"
)

// verdict compares an error with the words it must hold; "" stands for none.
func verdict(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("%s was accepted, not refused with %q", what, want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: error %q, want %q", what, err, want)
	}
}

// Spec: 2026-07-28 basic#meta.
func TestKey(t *testing.T) {
	official := content.Extensions{"io.modelcontextprotocol/tasks": nil}
	for _, c := range []struct {
		key      string
		declared content.Extensions
		want     string
	}{
		{key: "a"},
		{key: "a-b_c.d9"},
		{key: "com.example/a"},
		{key: "com.example/"},
		{key: "x/a"},
		{key: "com.ex-ample.a9/a"},
		{key: "com.example.mcp/a"},
		{key: "mcp/a"},
		{key: "traceparent"},
		{key: "", want: "not valid"},
		{key: "/a", want: "not valid"},
		{key: "bad key !", want: "not valid"},
		{key: "-a", want: "not valid"},
		{key: "a.", want: "not valid"},
		{key: "com.example/a/b", want: "not valid"},
		{key: "9com.example/a", want: "not valid"},
		{key: "com-.example/a", want: "not valid"},
		{key: "com..example/a", want: "not valid"},
		{key: ".example/a", want: "not valid"},
		{key: "com.éxample/a", want: "not valid"},
		{key: "a\n", want: "not valid"},
		{key: "io.modelcontextprotocol/a", want: "reserved"},
		{key: "dev.mcp/a", want: "reserved"},
		{key: "org.modelcontextprotocol.api/a", want: "reserved"},
		{key: "com.mcp.tools/", want: "reserved"},
		{key: "io.ModelContextProtocol/a", want: "reserved"},
		{key: "io.modelcontextprotocol/related-task", declared: official},
		{key: "dev.mcp/a", declared: official, want: "reserved"},
		{key: mcp.MetaServerInfo, declared: official, want: "is the protocol's"},
		{key: mcp.MetaProgressToken, want: "is the protocol's"},
	} {
		verdict(t, "key "+c.key, content.Key(c.key, c.declared), c.want)
	}
}

func TestMeta(t *testing.T) {
	var rules content.Rules
	verdict(t, "no _meta", rules.Meta(nil), "")
	verdict(t, "_meta", rules.Meta(mcp.Meta{"b": json.RawMessage("1"), "a b": nil, "a c": nil}), `"a b" is not valid`)
}

// Spec: 2026-07-28 basic/versioning#extension-negotiation.
func TestExtension(t *testing.T) {
	for id, want := range map[string]bool{"com.example/a": true, "io.modelcontextprotocol/ui": true, "a": false, "": false, "com.example/a b": false} {
		if got := content.IsExtension(id); got != want {
			t.Errorf("IsExtension(%q) is %v", id, got)
		}
	}
}

// Spec: 2026-07-28 basic#icons.
func TestIcons(t *testing.T) {
	for _, c := range []struct {
		icon mcp.Icon
		want string
	}{
		{icon: mcp.Icon{Src: "https://example.com/a.png?size=1#x", MIMEType: "image/svg+xml", Sizes: []string{"48x48", "any"}, Theme: "light"}},
		{icon: mcp.Icon{Src: "http://example.com/a", Theme: "dark"}},
		{icon: mcp.Icon{Src: "data:image/png;base64,aGk="}},
		{icon: mcp.Icon{Src: "data:image/png;base64,aGk%3D"}},
		{icon: mcp.Icon{Src: "data:;base64,aGk=", MIMEType: "image/png"}},
		{icon: mcp.Icon{}, want: "no scheme"},
		{icon: mcp.Icon{Src: "a.png"}, want: "no scheme"},
		{icon: mcp.Icon{Src: "javascript:alert(1)"}, want: "neither an http or https URL"},
		{icon: mcp.Icon{Src: "file:///etc/passwd"}, want: "neither an http or https URL"},
		{icon: mcp.Icon{Src: "https:///a.png"}, want: "neither an http or https URL"},
		{icon: mcp.Icon{Src: "https://me:secret@example.com/a"}, want: "holds a user name"},
		{icon: mcp.Icon{Src: "https://example.com/ä.png"}, want: `as "%C3%A4"`},
		{icon: mcp.Icon{Src: "data:image/svg+xml,%3Csvg/%3E"}, want: "must hold base64"},
		{icon: mcp.Icon{Src: "data:text/html;base64,aGk="}, want: "holds no image"},
		{icon: mcp.Icon{Src: "data:image/png;base64,aGk"}, want: "does not decode"},
		{icon: mcp.Icon{Src: "https://example.com/a", Sizes: []string{"big"}}, want: `size "big"`},
		{icon: mcp.Icon{Src: "https://example.com/a", Sizes: []string{"48X48"}}, want: `size "48X48"`},
		{icon: mcp.Icon{Src: "https://example.com/a", Sizes: []string{"0x48"}}, want: `size "0x48"`},
		{icon: mcp.Icon{Src: "https://example.com/a", Theme: "pink"}, want: `theme "pink"`},
		{icon: mcp.Icon{Src: "https://example.com/a", MIMEType: "png"}, want: `mimeType "png"`},
	} {
		verdict(t, c.icon.Src, content.Icons([]mcp.Icon{{Src: "https://example.com/first"}, c.icon}), c.want)
	}
	verdict(t, "the second icon", content.Icons([]mcp.Icon{{Src: "https://example.com/first"}, {}}), "icons[1]: ")
}

// Spec: 2026-07-28 basic#icons.
func TestSafeIcon(t *testing.T) {
	for src, want := range map[string]bool{
		"https://example.com/a.png":         true,
		"HTTPS://example.com/a.png":         true,
		"data:image/png;base64,aGk=":        true,
		"data:image/svg+xml,%3Csvg/%3E":     true,
		"http://example.com/a.png":          false,
		"https://me:secret@example.com/":    false,
		"https:///a.png":                    false,
		"data:text/html;base64,aGk=":        false,
		"data:,aGk=":                        false,
		"javascript:alert(1)":               false,
		" javascript:alert(1)":              false,
		"java\nscript:alert(1)":             false,
		"file:///etc/passwd":                false,
		"ftp://example.com/a":               false,
		"ws://example.com/a":                false,
		"vscode://file/a":                   false,
		"/a.png":                            false,
		"":                                  false,
		"https://example.com/\x00":          false,
		"https://exa mple.com/":             false,
		"blob:https://example.com/00000000": false,
	} {
		if got := content.SafeIcon(src); got != want {
			t.Errorf("SafeIcon(%q) is %v", src, got)
		}
	}
}

// Spec: 2026-07-28 server/prompts#image-content.
func TestMIMEType(t *testing.T) {
	for text, want := range map[string]string{
		"image/png":                      "",
		"image/svg+xml":                  "",
		"inode/directory":                "",
		"text/plain; charset=utf-8":      "",
		"text/html;profile=mcp-app":      "",
		"application/vnd.a.b-c+json":     "",
		"":                               "is not a MIME type",
		"png":                            "is not a MIME type",
		"image/":                         "is not a MIME type",
		"/png":                           "is not a MIME type",
		"image/png/x":                    "is not a MIME type",
		"image /png":                     "is not a MIME type",
		"image/png\r\nX-Evil: 1":         "is not a MIME type",
		"text/plain; charset":            "is not a MIME type",
		"text/plain; charset=a; charset": "is not a MIME type",
		"bíld/png":                       "is not a MIME type",
	} {
		verdict(t, text, content.MIMEType(text), want)
	}
}

// Spec: 2026-07-28 server/resources#annotations.
func TestAnnotations(t *testing.T) {
	priority := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		notes *mcp.Annotations
		want  string
	}{
		{notes: nil},
		{notes: &mcp.Annotations{}},
		{notes: &mcp.Annotations{Audience: []mcp.Role{"user", "assistant"}, Priority: priority(0), LastModified: "2025-01-12T15:00:58Z"}},
		{notes: &mcp.Annotations{Priority: priority(1), LastModified: "2025-01-12T15:00:58.123456+01:00"}},
		{notes: &mcp.Annotations{LastModified: "2025-01-12"}},
		{notes: &mcp.Annotations{LastModified: "2025-01-12T15:00"}},
		{notes: &mcp.Annotations{Audience: []mcp.Role{"user", "martian"}}, want: `audience "martian"`},
		{notes: &mcp.Annotations{Priority: priority(7.5)}, want: "priority 7.5"},
		{notes: &mcp.Annotations{Priority: priority(-0.1)}, want: "priority -0.1"},
		{notes: &mcp.Annotations{Priority: priority(math.NaN())}, want: "priority NaN"},
		{notes: &mcp.Annotations{LastModified: "yesterday"}, want: `lastModified "yesterday"`},
		{notes: &mcp.Annotations{LastModified: "2025-13-40T15:00:58Z"}, want: "lastModified"},
	} {
		verdict(t, "annotations", content.Annotations(c.notes), c.want)
	}
}

// Spec: 2026-07-28 server/resources#custom-uri-schemes.
func TestURI(t *testing.T) {
	for text, want := range map[string]string{
		"file:///project/src/main.rs":   "",
		"https://me@[::1]:8080/a?b=c#d": "",
		"urn:isbn:0451450523":           "",
		"note:%C3%A4?q=/?:@#f?/":        "",
		"a:":                            "",
		"git+ssh://h/%7e":               "",
		"not a uri":                     "no scheme",
		"":                              "no scheme",
		":a":                            "no scheme",
		"1a:b":                          "no scheme",
		"ä:b":                           "no scheme",
		"note:ä":                        `"ä" must be percent-encoded, as "%C3%A4"`,
		"note:a b":                      `" " must be percent-encoded, as "%20"`,
		"note:50%":                      `"%" must be percent-encoded, as "%25"`,
		"note:%4":                       `"%" must be percent-encoded, as "%25"`,
		"note:%zz":                      `"%" must be percent-encoded, as "%25"`,
		"file:///a[1].txt":              `"[" must be percent-encoded, as "%5B"`,
		"note:a#b#c":                    `"#" must be percent-encoded, as "%23"`,
		"note:<script>":                 `"<" must be percent-encoded, as "%3C"`,
		"note:\xff":                     `must be percent-encoded, as "%FF"`,
		"note:a\n":                      `as "%0A"`,
	} {
		verdict(t, text, content.URI(text), want)
	}
}

func TestEncode(t *testing.T) {
	for text, want := range map[string]string{
		"note:ä/50%25%":    "note:%C3%A4/50%25%25",
		"x://[::1]/[ä]?[]": "x://[::1]/%5B%C3%A4%5D?%5B%5D",
		"x:a#b#ä":          "x:a#b%23%C3%A4",
		"x:#":              "x:#",
		"x://":             "x://",
	} {
		if got := content.Encode(text); got != want {
			t.Errorf("Encode(%q) is %q, want %q", text, got, want)
		}
	}
}

// Spec: 2026-07-28 server/tools#tool-result.
func TestBlocks(t *testing.T) {
	bad := &mcp.Annotations{Audience: []mcp.Role{"martian"}}
	meta := mcp.Meta{"a b": nil}
	text, blob := "t", []byte{1}
	var none *mcp.ImageContent
	for _, c := range []struct {
		block mcp.Content
		want  string
	}{
		{block: mcp.Text("a")},
		{block: &mcp.ImageContent{MIMEType: "image/png"}},
		{block: &mcp.AudioContent{MIMEType: "audio/wav"}},
		{block: &mcp.ResourceLink{URI: "test://a", Name: "a", MIMEType: "text/plain"}},
		{block: &mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "", "a")}},
		{block: &mcp.EmbeddedResource{Resource: mcp.BlobResource("test://a", "image/png", nil)}},
		{block: &mcp.UnknownContent{Type: "hologram"}},
		{block: nil, want: "nil"},
		{block: none, want: "nil"},
		{block: &mcp.TextContent{Annotations: bad}, want: "martian"},
		{block: &mcp.TextContent{Meta: meta}, want: `"a b"`},
		{block: &mcp.ImageContent{}, want: `mimeType ""`},
		{block: &mcp.ImageContent{MIMEType: "image/png", Annotations: bad}, want: "martian"},
		{block: &mcp.AudioContent{MIMEType: "loud"}, want: `mimeType "loud"`},
		{block: &mcp.ResourceLink{URI: "not a uri"}, want: "no scheme"},
		{block: &mcp.ResourceLink{URI: "test://a", MIMEType: "a"}, want: `mimeType "a"`},
		{block: &mcp.ResourceLink{URI: "test://a", Icons: []mcp.Icon{{}}}, want: "icons[0]"},
		{block: &mcp.ResourceLink{URI: "test://a", Annotations: bad}, want: "martian"},
		{block: &mcp.EmbeddedResource{}, want: "resource: it is nil"},
		{block: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://a"}}, want: "neither text nor bytes"},
		{block: &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://a", Text: &text, Blob: blob}}, want: "both text and bytes"},
		{block: &mcp.EmbeddedResource{Resource: mcp.TextResource("not a uri", "", "")}, want: "no scheme"},
		{block: &mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "plain", "")}, want: `mimeType "plain"`},
		{block: &mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "", ""), Meta: meta}, want: `"a b"`},
		{block: &mcp.ToolUseContent{}, want: "in sampling only"},
		{block: &mcp.ToolResultContent{}, want: "in sampling only"},
	} {
		err := content.Rules{}.Blocks([]mcp.Content{mcp.Text("first"), c.block})
		verdict(t, "block", err, c.want)
		if err != nil && !strings.HasPrefix(err.Error(), "content[1]: ") {
			t.Errorf("error %q does not name the place", err)
		}
	}
}

// Spec: 2026-07-28 client/sampling#messages.
func TestSampled(t *testing.T) {
	meta := mcp.Meta{"a b": nil}
	for _, c := range []struct {
		block mcp.Content
		want  string
	}{
		{block: mcp.Text("a")},
		{block: &mcp.ToolUseContent{}},
		{block: &mcp.ToolResultContent{Content: mcp.Contents{mcp.Text("a"), &mcp.ResourceLink{URI: "test://a"}}}},
		{block: &mcp.UnknownContent{Type: "hologram"}},
		{block: nil, want: "nil"},
		{block: (*mcp.ToolUseContent)(nil), want: "nil"},
		{block: (*mcp.ToolResultContent)(nil), want: "nil"},
		{block: &mcp.ImageContent{MIMEType: "picture"}, want: `mimeType "picture"`},
		{block: &mcp.ResourceLink{URI: "test://a"}, want: "not possible in sampling"},
		{block: &mcp.EmbeddedResource{Resource: mcp.TextResource("test://a", "", "")}, want: "not possible in sampling"},
		{block: &mcp.ToolUseContent{Meta: meta}, want: `"a b"`},
		{block: &mcp.ToolResultContent{Meta: meta}, want: `"a b"`},
		{block: &mcp.ToolResultContent{Content: mcp.Contents{&mcp.ImageContent{}}}, want: "content[0]: mimeType"},
		{block: &mcp.ToolResultContent{Content: mcp.Contents{&mcp.ToolUseContent{}}}, want: "in sampling only"},
	} {
		verdict(t, "block", content.Rules{}.Sampled(c.block), c.want)
	}
}

// Plain blocks are on the path of every call.
func TestPlainBlocksCostNothing(t *testing.T) {
	blocks := []mcp.Content{mcp.Text("a"), &mcp.ImageContent{MIMEType: "image/png"}, &mcp.ResourceLink{URI: "file:///a/b%20c", MIMEType: "text/plain"}}
	if n := testing.AllocsPerRun(100, func() { _ = content.Rules{}.Blocks(blocks) }); n != 0 {
		t.Errorf("checking %d blocks allocates %v times", len(blocks), n)
	}
}

// What a reader of the grammar would write by hand is what the pattern accepts.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"a", "com.example/a", "io.modelcontextprotocol/x", "/", "a..b/c", "a-.b/c", "é/a", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		err := content.Key(key, nil)
		if valid, taken := parseKey(key); (err == nil) != (valid && !taken && !mcp.ReservedMeta(key)) {
			t.Errorf("key %q: error %v, but valid is %v and reserved %v", key, err, valid, taken)
		}
	})
}

func parseKey(key string) (valid, reserved bool) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const digits = "0123456789"
	of := func(s, set string) bool { return strings.Trim(s, set) == "" }
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		prefix, name = "", key
	}
	valid = key != ""
	if ok {
		labels := strings.Split(prefix, ".")
		for _, l := range labels {
			valid = valid && l != "" && of(l[:1], letters) && of(l[len(l)-1:], letters+digits) && of(l, letters+digits+"-")
		}
		second := strings.ToLower(append(labels, "")[1])
		reserved = second == "mcp" || second == "modelcontextprotocol"
	}
	if name != "" {
		valid = valid && of(name[:1], letters+digits) && of(name[len(name)-1:], letters+digits) && of(name, letters+digits+"-_.")
	}
	return valid, reserved
}

// Whatever is percent-encoded is a URI, and a URI has nothing that must be.
func FuzzURI(f *testing.F) {
	for _, s := range []string{"file:///a b", "a:ä%", "//", "a://[::1]/[#]#", "x:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := content.URI("x:" + url.PathEscape(text)); err != nil {
			t.Errorf("encoded: %v", err)
		}
		err := content.URI(text)
		if clean := content.Encode(text); err == nil && clean != text {
			t.Errorf("%q became %q", text, clean)
		} else if err != nil && !strings.Contains(err.Error(), "no scheme") && content.URI(clean) != nil {
			t.Errorf("%q became %q, which is no URI either", text, clean)
		}
		if err != nil {
			return
		}
		if _, err := url.PathUnescape(text); err != nil || strings.Count(text, "#") > 1 {
			t.Errorf("%q was accepted: %v", text, err)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }); i >= 0 {
			t.Errorf("%q was accepted with %q", text, text[i:])
		}
	})
}

func FuzzMIMEType(f *testing.F) {
	for _, s := range []string{"a/b", "a/b;c=d", "a", "/", "a/b;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if content.MIMEType(text) != nil {
			return
		}
		if _, _, err := mime.ParseMediaType(text); err != nil {
			t.Errorf("%q was accepted, but: %v", text, err)
		}
	})
}
