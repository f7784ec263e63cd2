package reference

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

type chartArgs struct {
	Values []float64 `json:"values" description:"Height of each bar; negative ones extend downwards" minItems:"1" maxItems:"100" minimum:"-1e15" maximum:"1e15"`
	Width  int       `json:"width" description:"Width of the picture in pixels" default:"480" minimum:"100" maximum:"1600"`
	Height int       `json:"height" description:"Height of the picture in pixels" default:"270" minimum:"60" maximum:"1200"`
}

func (r *reference) addChart() {
	server.AddTool(r.srv, mcp.Tool{
		Name:        "make_chart",
		Title:       "Bar chart",
		Description: "Draws numbers as a bar chart and returns it as a PNG image.",
		Annotations: readOnly(),
	}, makeChart)
}

func makeChart(_ context.Context, _ *server.Call, in chartArgs) (*mcp.CallToolResult, error) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, drawBars(in.Values, in.Width, in.Height)); err != nil {
		return nil, err
	}
	caption := fmt.Sprintf("Bar chart of %d values from %g to %g", len(in.Values), slices.Min(in.Values), slices.Max(in.Values))
	return &mcp.CallToolResult{Content: mcp.Contents{
		mcp.Text(caption),
		&mcp.ImageContent{Data: picture.Bytes(), MIMEType: "image/png", Annotations: &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}},
	}}, nil
}

func drawBars(values []float64, width, height int) image.Image {
	const margin = 8
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	fill(img, img.Bounds(), color.White)
	low, high := min(0, slices.Min(values)), max(0, slices.Max(values))
	if low == high {
		high = 1 // all are zero: an axis and no bars
	}
	scale := float64(height-2*margin) / (high - low)
	y := func(v float64) int { return margin + int((high-v)*scale+0.5) }
	x := func(i int) int { return margin + i*(width-2*margin)/len(values) }
	for i, v := range values {
		gap := min(2, (x(i+1)-x(i))/4)
		bar := image.Rect(x(i)+gap, y(v), x(i+1)-gap, y(0)) // Rect sorts the corners
		fill(img, bar, barColor(v))
	}
	fill(img, image.Rect(margin, y(0), width-margin, y(0)+1), color.Black)
	return img
}

func barColor(v float64) color.Color {
	if v < 0 {
		return color.RGBA{0xdc, 0x26, 0x26, 0xff}
	}
	return color.RGBA{0x25, 0x63, 0xeb, 0xff}
}

func fill(img draw.Image, where image.Rectangle, c color.Color) {
	draw.Draw(img, where, image.NewUniform(c), image.Point{}, draw.Src)
}
