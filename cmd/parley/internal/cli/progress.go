package cli

import (
	"math"

	"github.com/schollz/progressbar/v3"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// bar is a progress bar that appears with the first notification.
type bar struct {
	app   *app
	name  string
	total float64
	drawn *progressbar.ProgressBar
}

// progress asks a server for progress, which also lets a call take longer, and
// shows it on a terminal. done removes the bar.
func (a *app) progress(name string) (option client.CallOption, done func()) {
	b := &bar{app: a, name: label(name, 30)}
	a.screen.Lock()
	a.bar = b
	a.screen.Unlock()
	return client.WithProgress(b.update), func() {
		a.hideBar()
		a.screen.Lock()
		a.bar = nil
		a.screen.Unlock()
	}
}

// update draws the bar, unless the user is being asked something.
func (b *bar) update(p *mcp.ProgressParams) {
	if !b.app.err.terminal || !b.app.screen.TryLock() {
		return
	}
	defer b.app.screen.Unlock()
	if b.drawn == nil || b.total != p.Total {
		b.total = p.Total
		b.drawn = b.draw()
	}
	if p.Message != "" {
		b.drawn.Describe(b.name + ": " + oneLine(p.Message, 40))
	}
	_ = b.drawn.Set64(b.scaled(p.Progress)) // it fails only beyond the total
}

// draw makes a new bar, without a goroutine for its spinner: what the bar shows
// changes only with a notification.
func (b *bar) draw() *progressbar.ProgressBar {
	longest := int64(-1)
	if b.total > 0 {
		longest = b.scaled(b.total)
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(b.app.err),
		progressbar.OptionSetDescription(b.name),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0),
	}
	if whole(b.total) {
		options = append(options, progressbar.OptionShowCount())
	}
	return progressbar.NewOptions64(longest, options...)
}

// scaled converts a progress to an integer, because a bar takes nothing else.
func (b *bar) scaled(v float64) int64 {
	if !whole(b.total) {
		v = v / b.total * 1000
	}
	return int64(min(max(v, 0), 1<<53))
}

// whole reports whether a total can be counted. An unknown one can.
func whole(total float64) bool { return total == math.Trunc(total) && total < 1<<53 }

// hideBar takes the bar off the screen; the next notification brings it back.
func (a *app) hideBar() {
	if !a.err.terminal || !a.screen.TryLock() {
		return
	}
	defer a.screen.Unlock()
	a.clearBar()
}

// clearBar is hideBar for whoever holds the screen.
func (a *app) clearBar() {
	if a.bar != nil && a.bar.drawn != nil {
		_ = a.bar.drawn.Clear() // writing to a terminal
	}
}
