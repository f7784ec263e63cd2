// Package reference is the server that `parley serve` runs: every feature of
// the protocol as something real. What it returns is computed, or comes from
// its database, the files below its root, or its own log.
package reference

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// DefaultBasketTTL is how long a basket that nobody uses is kept.
const DefaultBasketTTL = 24 * time.Hour

const name = "parley-reference"

// CardName is the name of the server in its server card.
const CardName = "io.github.parley-mcp/" + name

const (
	maxBaskets  = 1000
	maxReceipts = 10000
	logEntries  = 1000
)

// Options configures the reference server. The zero value is a complete
// configuration.
type Options struct {
	// Root is a folder whose files are resources. Without it there are none.
	Root string
	// Skills are folders whose skills are served, besides the server's own.
	Skills []string
	// Logger logs failures and, at debug level, each request. nil means
	// slog.Default().
	Logger *slog.Logger
	// Version is the server's version; empty means "dev".
	Version string
	// BasketTTL is how long a basket is kept after it was last used; 0 means
	// DefaultBasketTTL.
	BasketTTL time.Duration
	// Tasks says how tools run as tasks. The server does not close the store.
	Tasks server.TaskOptions
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.BasketTTL == 0 {
		o.BasketTTL = DefaultBasketTTL
	}
	return o
}

// reference is the state that the features share.
type reference struct {
	opts    Options
	info    mcp.Implementation
	started time.Time
	srv     *server.Server
	log     *requestLog
	db      *database
	shop    *shop
	files   *files // nil without a root
	skills  []*skillFolder
}

// New returns the reference server and a function that releases what it holds:
// its database, which is created anew each time, and its file watcher. release
// must be called once the server no longer serves; it may be called more than
// once.
func New(o Options) (s *server.Server, release func() error, err error) {
	r, release, err := build(o)
	if err != nil {
		return nil, nil, err
	}
	return r.srv, release, nil
}

func build(o Options) (*reference, func() error, error) {
	if o.BasketTTL < 0 {
		return nil, nil, fmt.Errorf("Options.BasketTTL is %s", o.BasketTTL)
	}
	r := &reference{opts: o.withDefaults(), started: time.Now(), log: newRequestLog(logEntries)}
	r.info = mcp.Implementation{
		Name:        name,
		Title:       "Parley reference server",
		Version:     r.opts.Version,
		Description: "Every feature of the Model Context Protocol, with something real behind it.",
		Icons:       []mcp.Icon{icon()},
	}
	if err := r.open(); err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	r.srv = server.New(r.info, r.serverOptions())
	r.srv.Use(r.record)
	r.addFeatures()
	if err := r.begin(); err != nil {
		return nil, nil, errors.Join(err, r.close())
	}
	return r, sync.OnceValue(r.close), nil
}

// open opens what the features need.
func (r *reference) open() error {
	var err error
	if r.db, err = openDatabase(context.Background()); err != nil {
		return fmt.Errorf("sample database: %w", err)
	}
	r.shop = newShop(r.db, r.opts.BasketTTL)
	if r.opts.Root != "" {
		if r.files, err = openFiles(r.opts.Root); err != nil {
			return fmt.Errorf("root %q: %w", r.opts.Root, err)
		}
	}
	return nil
}

// begin starts what needs the server to exist.
func (r *reference) begin() error {
	if err := r.addSkills(); err != nil {
		return fmt.Errorf("skills: %w", err)
	}
	if r.files == nil {
		return nil
	}
	if err := r.files.watch(r.srv, r.opts.Logger); err != nil {
		return fmt.Errorf("watching root %q: %w", r.opts.Root, err)
	}
	return nil
}

func (r *reference) close() error {
	var errs []error
	for _, f := range r.skills {
		errs = append(errs, f.close())
	}
	if r.files != nil {
		errs = append(errs, r.files.close())
	}
	if r.db != nil {
		errs = append(errs, r.db.close())
	}
	return errors.Join(errs...)
}

func (r *reference) addFeatures() {
	r.addCalculate()
	r.addTimestamp()
	r.addCount()
	r.addQuery()
	r.addReport()
	r.addAnnualReport()
	r.addImport()
	r.addBasket()
	r.addCheckout()
	r.addClassify()
	r.addChart()
	r.addTone()
	r.addFeatureSwitch()
	r.addInfo()
	r.addRecentLog()
	r.addSchema()
	r.addCodeReview()
	r.addAnalyzeLogs()
	if r.files != nil {
		r.addFiles()
		r.addFindFiles()
	}
}

func (r *reference) serverOptions() *server.Options {
	// Lists are the same for everybody, but the names of files must not be
	// cached for anybody but the client that asked.
	public := server.CacheHint{TTL: time.Minute, Scope: mcp.CachePublic}
	private := server.CacheHint{TTL: time.Minute, Scope: mcp.CachePrivate}
	return &server.Options{
		Instructions:  r.instructions(),
		Logger:        r.opts.Logger,
		Logging:       true,
		WatchResource: r.watchResource,
		Tasks:         r.opts.Tasks,
		Cache: map[string]server.CacheHint{
			mcp.MethodDiscover:      public,
			mcp.MethodListTools:     public,
			mcp.MethodListPrompts:   public,
			mcp.MethodListTemplates: public,
			mcp.MethodListResources: private,
			mcp.MethodListSkills:    private,
			mcp.MethodGetSkill:      private,
		},
	}
}

func (r *reference) instructions() string {
	text := `Reference server of Parley. Read the resource db://schema before query_database; the database is SQLite and holds sample data of a shop. ` +
		`import_csv adds tables of your own to it. To buy something: create_basket, add_item (the SKUs are in the table products), view_basket, checkout; ` +
		`checkout asks the user before it charges. Amounts are in cents. Recent failures are in log://recent. ` +
		`How to work with the shop is in the skill ` + ownSkill + `.`
	if r.files != nil {
		text += ` Files are resources: file://` + r.files.slashBase() + ` and below; find_files finds them by name.`
	}
	return text
}

// watchResource is called when a resource gets a watcher. Only files need it:
// changes of other resources are published whether anybody watches or not.
func (r *reference) watchResource(uri string) (stop func(), err error) {
	if r.files == nil || !isFileURI(uri) {
		return func() {}, nil
	}
	return r.files.pin(uri)
}

// readOnly returns the annotations of a tool that only reads what this server
// has.
func readOnly() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
}

// additive returns the annotations of a tool that adds and never destroys.
func additive() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}
}

// icon is the server's icon: two speech bubbles.
func icon() mcp.Icon {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
		`<path fill="#2563eb" d="M3 5h17v12H10l-5 5v-5H3z"/><path fill="#f59e0b" d="M23 11h6v12h-2v5l-5-5H12v-4h11z"/></svg>`
	return mcp.Icon{
		Src:      "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)),
		MIMEType: "image/svg+xml",
		Sizes:    []string{"any"},
	}
}
