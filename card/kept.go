package card

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds on what a client keeps.
const (
	maxKept     = 64       // documents
	maxKeptText = 64 << 10 // bytes of each
	maxFresh    = 24 * time.Hour
)

// document is what a server answered.
type document struct {
	text      []byte
	mediaType string
	tag       string // its entity tag, or ""
	fresh     time.Time
}

// fault adds where a document is from to what is wrong with it.
func (d *document) fault(at string, err error) error {
	if d.mediaType == "" || strings.Contains(d.mediaType, "json") {
		return fmt.Errorf("%s: %w", at, err)
	}
	return fmt.Errorf("%s: %w (it was served as %.100q)", at, err, d.mediaType)
}

// shelf keeps documents. It is safe for concurrent use.
type shelf struct {
	mu   sync.Mutex
	docs map[string]*document
}

func (s *shelf) find(key string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[key]
}

// keep keeps a document if it can be used again: it is fresh for a while, or its server can
// tell whether it has changed. The one that was fresh the shortest makes room.
func (s *shelf) keep(key string, d *document, h http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, key)
	if len(d.text) > maxKeptText || directive(h, "no-store") != nil || d.tag == "" && !time.Now().Before(d.fresh) {
		return
	}
	if s.docs == nil {
		s.docs = map[string]*document{}
	}
	for len(s.docs) >= maxKept {
		oldest := ""
		for k, other := range s.docs {
			if oldest == "" || other.fresh.Before(s.docs[oldest].fresh) {
				oldest = k
			}
		}
		delete(s.docs, oldest)
	}
	s.docs[key] = d
}

// freshUntil returns until when a response may be used without asking again.
func freshUntil(h http.Header) time.Time {
	now := time.Now()
	age := directive(h, "max-age")
	if age == nil || directive(h, "no-cache") != nil {
		return now
	}
	seconds, err := strconv.Atoi(strings.Trim(*age, `"`))
	if err != nil || seconds < 0 {
		return now
	}
	spent, _ := strconv.Atoi(h.Get("Age")) // 0 if there is none
	return now.Add(min(maxFresh, time.Duration(max(0, min(seconds, 1<<31)-max(0, min(spent, 1<<31))))*time.Second))
}

// directive returns the value of a directive of Cache-Control, or nil.
func directive(h http.Header, name string) *string {
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(key, name) {
			return &value
		}
	}
	return nil
}
