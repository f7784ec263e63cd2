package approval

import (
	"log/slog"
	"time"
)

// Kind is what has happened to a request or an approval.
type Kind string

// The kinds.
const (
	Asked     Kind = "asked"
	Given     Kind = "given"
	Refused   Kind = "refused"
	Expired   Kind = "expired"   // nobody has answered, or the time of an approval is over
	Withdrawn Kind = "withdrawn" // the client does not want it any more
	Revoked   Kind = "revoked"
)

// Event says what has happened to a request, or to an approval for a time.
type Event struct {
	Kind      Kind      `json:"kind"`
	Time      time.Time `json:"time"`
	ID        string    `json:"id"`
	Principal string    `json:"principal,omitzero"`
	Client    string    `json:"client,omitzero"`
	Backend   string    `json:"backend"`
	Method    string    `json:"method"`
	Subject   string    `json:"subject"`
	Shown     string    `json:"shown"`
	Digest    string    `json:"digest,omitzero"`
	// By is who has done it, and Reason why; "" if nobody has, or has said why.
	By     string `json:"by,omitzero"`
	Reason string `json:"reason,omitzero"`
	// Until is the end of an approval for a time; zero for one call.
	Until time.Time `json:"until,omitzero"`
}

func about(kind Kind, r *Request) Event {
	return Event{
		Kind: kind, Time: time.Now(), ID: r.ID, Principal: r.Principal, Client: r.Client, Backend: r.Backend,
		Method: r.Method, Subject: r.Subject, Shown: r.Shown, Digest: r.Digest,
	}
}

// Watch has f called with everything that happens from now on, in its order, until stop is
// called. f must not block, nor use the desk.
func (d *Desk) Watch(f func(Event)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watched[&f] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watched, &f)
	}
}

// tell says what has happened. The caller holds d.mu.
func (d *Desk) tell(e Event) {
	attrs := make([]any, 0, 10)
	for _, a := range [][2]string{
		{"id", e.ID},
		{"principal", e.Principal},
		{"client", e.Client},
		{"backend", e.Backend},
		{"method", e.Method},
		{"subject", e.Subject},
		{"digest", e.Digest},
		{"by", e.By},
		{"reason", e.Reason},
	} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", e.Until))
	}
	d.log.Info("approval "+string(e.Kind), attrs...)
	for f := range d.watched {
		(*f)(e)
	}
}
