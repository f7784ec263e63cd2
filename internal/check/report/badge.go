package report

import (
	"fmt"
	"html"
	"io"

	"github.com/parley-mcp/parley/internal/check/verdict"
)

// writeBadge writes an SVG of one line: what it is, and the score with the share
// of the rows that was verified. It has no text of the peer.
func writeBadge(w io.Writer, r *verdict.Report, _ Options) error {
	label, text, colour := "MCP "+roleName(r.Role), badgeText(r), badgeColour(r)
	left, right := badgeWidth(label), badgeWidth(text)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[4]s: %[5]s">
  <title>%[4]s: %[5]s</title>
  <clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="%[2]d" height="20" fill="#444"/>
    <rect x="%[2]d" width="%[3]d" height="20" fill="%[6]s"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="%[7]g" y="14" textLength="%[9]d">%[4]s</text>
    <text x="%[8]g" y="14" textLength="%[10]d">%[5]s</text>
  </g>
</svg>
`, left+right, left, right, html.EscapeString(label), html.EscapeString(text), colour,
		float64(left)/2, float64(left)+float64(right)/2, left-badgePadding, right-badgePadding)
	return err
}

func badgeText(r *verdict.Report) string {
	n, of := r.Score.Verified()
	if of == 0 {
		return "nothing verified"
	}
	text := fmt.Sprintf("%s · %d%% verified", points(&r.Score), 100*n/of)
	if r.Partial != "" {
		text += " · partial"
	}
	return text
}

// badgeColour goes by the score. A partial report is grey, whatever it says.
// White text has a contrast of 4.5 or more on each colour.
func badgeColour(r *verdict.Report) string {
	_, of := r.Score.Verified()
	switch {
	case r.Partial != "" || of == 0:
		return "#666"
	case r.Score.Points == 100:
		return "#1a7f37"
	case r.Score.Points >= 90 && r.Score.Must.Failed == 0:
		return "#4c7a12"
	case r.Score.Points >= 75:
		return "#946200"
	case r.Score.Points >= 50:
		return "#b84a00"
	}
	return "#c0282d"
}

const badgePadding = 12

// badgeWidth estimates how wide a text is in pixels; textLength makes it so.
func badgeWidth(s string) int {
	width := 0.0
	for _, c := range s {
		switch {
		case c >= 'A' && c <= 'Z', c == '%', c == 'm', c == 'w':
			width += 8.6
		case c == ' ' || c == '.' || c == 'i' || c == 'l' || c == 't' || c == 'f' || c == 'r' || c == '·':
			width += 4.2
		default:
			width += 6.8
		}
	}
	return int(width+0.5) + badgePadding
}
