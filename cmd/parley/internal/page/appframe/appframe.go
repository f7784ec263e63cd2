// Package appframe has the frames in which the page shows MCP Apps. An app is somebody
// else's program, so its frames come from a listener of their own, at a host that is
// another site than the page: what happens there has no cookies of the page's, no key,
// no storage, and in most browsers a process of its own.
//
// What is in such a frame is the sandbox proxy, which is ours. It puts the app into a
// frame of its own again, which has no origin at all, and passes messages on.
//
// Spec: extensions/apps 2026-01-26 specification#sandbox-proxy.
package appframe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/apps"
	"github.com/parley-mcp/parley/cmd/parley/internal/page/web"
)

// mostFrames bounds the frames that are known; the oldest go first.
const mostFrames = 256

// host is where frames are. Pages are at 127.0.0.1, which no browser takes for the same
// site.
const host = "localhost"

// Frames serves frames for the apps of one page. It is safe for concurrent use.
type Frames struct {
	listeners []net.Listener
	port      string
	pages     []string // origins that may show frames
	pagePorts []string

	mu     sync.Mutex
	frames []*frame // oldest first
}

// frame is what an app may do where it is shown.
type frame struct {
	id     string
	policy string
	grants string // the value of Permissions-Policy
}

// Listen opens the listener, at a port of its own. pages are the origins that the page has,
// such as "http://127.0.0.1:7000".
func Listen(ctx context.Context, pages []string) (*Frames, error) {
	f := &Frames{pages: pages}
	for _, page := range pages {
		if at := strings.LastIndexByte(page, ':'); at >= 0 {
			f.pagePorts = append(f.pagePorts, page[at+1:])
		}
	}
	var err error
	for range 5 { // the port may be taken where IPv6 is
		if f.listeners, err = listen(ctx); err == nil {
			_, f.port, err = net.SplitHostPort(f.listeners[0].Addr().String())
			return f, err
		}
	}
	return nil, fmt.Errorf("a listener for the frames of apps: %w", err)
}

// listen opens one port on both loopback addresses, so that nobody else can answer for
// either of them. Not every machine has IPv6.
func listen(ctx context.Context) ([]net.Listener, error) {
	var config net.ListenConfig
	four, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if !hasIPv6(ctx, &config) {
		return []net.Listener{four}, nil
	}
	_, port, _ := net.SplitHostPort(four.Addr().String()) // a listener's address has a port
	six, err := config.Listen(ctx, "tcp6", net.JoinHostPort("::1", port))
	if err != nil {
		return nil, errors.Join(err, four.Close())
	}
	return []net.Listener{four, six}, nil
}

func hasIPv6(ctx context.Context, config *net.ListenConfig) bool {
	l, err := config.Listen(ctx, "tcp6", "[::1]:0")
	return err == nil && l.Close() == nil
}

// Origin is the origin of all frames, for the page's policy.
func (f *Frames) Origin() string { return "http://" + net.JoinHostPort(host, f.port) }

// Serve serves frames until ctx ends, and then closes the listener.
func (f *Frames) Serve(ctx context.Context, logger *slog.Logger) error {
	errs := make([]error, len(f.listeners))
	var group sync.WaitGroup
	for i, l := range f.listeners {
		group.Go(func() { errs[i] = web.Serve(ctx, l, f, logger) }) // ends with ctx
	}
	group.Wait()
	for i, err := range errs {
		if errors.Is(err, http.ErrServerClosed) {
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

// Frame is a frame that was opened.
type Frame struct {
	// ID names the frame, and cannot be guessed.
	ID string `json:"id"`
	// URL is what to show.
	URL string `json:"url"`
	// Policy is the Content-Security-Policy that the app is under.
	Policy string `json:"policy"`
	// Allow is the value of the attribute "allow" that the frame needs.
	Allow string `json:"allow"`
}

// Open opens a frame for an app that needs ui, of which granted are the permissions that
// it gets. Where an app asks for the ports of the page or of these frames, it does not get them.
//
// Spec: extensions/apps 2026-01-26 specification#host-behavior.
func (f *Frames) Open(ui apps.ResourceUI, granted apps.Permissions) *Frame {
	ui.Permissions = slices.DeleteFunc(slices.Clone(ui.Permissions), func(p apps.Permission) bool { return !slices.Contains(granted, p) })
	ui.CSP = f.within(ui.CSP)
	made := &frame{id: rand.Text(), policy: ui.Policy() + "; frame-ancestors " + strings.Join(f.pages, " "), grants: grants(ui.Allow())}
	f.mu.Lock()
	f.frames = append(f.frames, made)
	if len(f.frames) > mostFrames {
		f.frames = f.frames[1:]
	}
	f.mu.Unlock()
	return &Frame{ID: made.id, URL: f.Origin() + "/" + made.id + "/", Policy: made.policy, Allow: ui.Allow()}
}

// Close forgets a frame. What is shown already stays.
func (f *Frames) Close(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = slices.DeleteFunc(f.frames, func(one *frame) bool { return one.id == id })
}

func (f *Frames) byID(id string) *frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.frames {
		if one.id == id {
			return one
		}
	}
	return nil
}

// within returns what an app may reach: what it declares, less this program itself.
func (f *Frames) within(c *apps.CSP) *apps.CSP {
	if c == nil {
		return nil
	}
	return &apps.CSP{
		ConnectDomains:  f.foreign(c.ConnectDomains),
		ResourceDomains: f.foreign(c.ResourceDomains),
		FrameDomains:    f.foreign(c.FrameDomains),
		BaseURIDomains:  f.foreign(c.BaseURIDomains),
	}
}

// foreign leaves out what is at a port of ours, by whatever name: names may lead anywhere.
func (f *Frames) foreign(origins []string) []string {
	return slices.DeleteFunc(slices.Clone(origins), func(origin string) bool {
		port, err := strconv.Atoi(origin[strings.LastIndexByte(origin, ':')+1:])
		if err != nil {
			return false
		}
		own := strconv.Itoa(port)
		return own == f.port || slices.Contains(f.pagePorts, own)
	})
}

// grants returns a Permissions-Policy that has the browser give what is in an attribute
// "allow", and nothing else of what apps can ask for.
func grants(allow string) string {
	all := apps.ResourceUI{Permissions: apps.Permissions{apps.Camera, apps.Microphone, apps.Geolocation, apps.ClipboardWrite}}.Allow()
	given := strings.Split(allow, "; ")
	var list []string
	for _, feature := range append(strings.Split(all, "; "), "clipboard-read", "display-capture", "usb", "serial", "hid", "midi", "payment") {
		if slices.Contains(given, feature) {
			list = append(list, feature+"=*")
		} else {
			list = append(list, feature+"=()")
		}
	}
	return strings.Join(list, ", ")
}
