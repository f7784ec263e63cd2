package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// cardName is that of the pin of a server's card: BACKEND/server/card.
const cardName = "card"

// reading bounds how long a card may take.
const reading = 10 * time.Second

// shownCard is the card of a server, as it was read last.
type shownCard struct {
	with    *mcp.Description // what the server said of itself when it was read
	reading bool
	doc     json.RawMessage // without the version; nil is none
}

// showsCard reports whether the card of a server is one that was approved, as far as it is
// known. It is read anew after each connection, which brings a new description.
func (p *Pins) showsCard(backend string, d *mcp.Description) bool {
	if p.opts.Card == nil {
		return true
	}
	doc := p.cardOf(backend, d)
	if doc == nil {
		return true
	}
	return p.judge(Key{backend, serverKind, cardName}, &doc[0], func() (json.RawMessage, error) { return doc, nil })
}

// cardOf returns the card of a server that is known, and has it read if it may be another.
func (p *Pins) cardOf(backend string, d *mcp.Description) json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cards[backend]
	if c == nil {
		c = new(shownCard)
		p.cards[backend] = c
	}
	if c.with != d && !c.reading && !p.closed {
		c.with, c.reading = d, true
		p.work.Go(func() { p.readCard(backend, c) }) // ends in a while, or with Close
	}
	return c.doc
}

// readCard reads the card of a server. What cannot be read is as it was: most servers have
// none, and one that is down has not changed.
func (p *Pins) readCard(backend string, c *shownCard) {
	ctx, cancel := context.WithTimeout(p.running, reading)
	defer cancel()
	doc, err := p.opts.Card(ctx, backend)
	if err != nil {
		p.opts.Logger.Debug("the card of a server cannot be read", "backend", backend, "error", err)
	}
	if doc != nil {
		doc = wire.Except(doc, "version")
	}
	if p.replaceCard(c, doc) {
		p.opts.Changed()
	}
}

// replaceCard reports whether a card is another than the one before.
func (p *Pins) replaceCard(c *shownCard, doc json.RawMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.reading = false
	if doc == nil || bytes.Equal(doc, c.doc) {
		return false
	}
	c.doc = doc
	return true
}
