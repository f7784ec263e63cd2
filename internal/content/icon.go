package content

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/parley-mcp/parley/mcp"
)

// iconSize is "WxH" in pixels, or "any".
var iconSize = regexp.MustCompile(`^(?:any|[1-9][0-9]*x[1-9][0-9]*)$`)

// Icons checks icons that are about to be sent.
//
// Spec: 2026-07-28 basic#icons.
func Icons(icons []mcp.Icon) error {
	for i := range icons {
		if err := icon(&icons[i]); err != nil {
			return fmt.Errorf("icons[%d]: %w", i, err)
		}
	}
	return nil
}

func icon(c *mcp.Icon) error {
	if err := optionalMIMEType(c.MIMEType); err != nil {
		return err
	}
	if err := iconSource(c); err != nil {
		return err
	}
	for _, size := range c.Sizes {
		if !iconSize.MatchString(size) {
			return fmt.Errorf(`size %.100q is neither "any" nor of the form "48x48"`, size)
		}
	}
	if c.Theme != "" && c.Theme != "light" && c.Theme != "dark" {
		return fmt.Errorf(`theme %.100q is neither "light" nor "dark"`, c.Theme)
	}
	return nil
}

func iconSource(c *mcp.Icon) error {
	if err := URI(c.Src); err != nil {
		return fmt.Errorf("src: %w", err)
	}
	u, err := url.Parse(c.Src)
	switch {
	case err != nil:
		return fmt.Errorf("src %.100q: %w", c.Src, err)
	case u.Scheme == "data":
		return iconData(u.Opaque, c.MIMEType)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("src %.100q is neither an http or https URL with a host nor a data URI", c.Src)
	case u.User != nil:
		return fmt.Errorf("src %.100q holds a user name, which every client would see", u.Redacted())
	}
	return nil
}

// iconData checks a data URI without its scheme. Its own media type may be a
// generic one if the icon names a better one.
func iconData(data, mimeType string) error {
	media, text, ok := strings.Cut(data, ",")
	media, isBase64 := strings.CutSuffix(media, ";base64")
	if !ok || !isBase64 {
		return fmt.Errorf("src: a data URI must hold base64, as in %q", "data:image/png;base64,…")
	}
	if !isImage(media) && !isImage(mimeType) {
		return fmt.Errorf("src: a data URI of media type %.100q holds no image", media)
	}
	text, err := url.PathUnescape(text)
	if err == nil {
		_, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil {
		return fmt.Errorf("src: the data URI does not decode: %w", err)
	}
	return nil
}

func isImage(mimeType string) bool {
	top, _, _ := strings.Cut(mimeType, "/")
	return strings.EqualFold(top, "image") && MIMEType(mimeType) == nil
}

// SafeIcon reports whether a client may fetch or show an icon that it got: its
// source is an https URL without a user name, or a data URI of an image. Everything
// else, http among it, is to be rejected.
//
// Spec: 2026-07-28 basic#icons.
func SafeIcon(src string) bool {
	u, err := url.Parse(src)
	if err != nil {
		return false
	}
	if u.Scheme == "data" {
		media, _, _ := strings.Cut(u.Opaque, ",")
		media, _, _ = strings.Cut(media, ";")
		return isImage(media)
	}
	return u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}
