// Package library is a REST API to try the example with: books, and an index of
// their titles, which takes a while to make. Searching the index is an operation
// that exists only once it is made.
package library

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

type book struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

// API is the REST API. NewAPI makes one.
type API struct {
	http.ServeMux

	mu    sync.Mutex
	books []book
	steps int // of the index that are done; 0 means that nobody has begun it
}

// indexSteps is how often one asks for the index until it is made.
const indexSteps = 3

// NewAPI returns a library of two books, without an index.
func NewAPI() *API {
	a := &API{books: []book{{1, "Emma"}, {2, "Persuasion"}}}
	a.HandleFunc("GET /operations", a.locked(a.list))
	a.HandleFunc("GET /books", a.locked(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, a.books) }))
	a.HandleFunc("POST /books", a.locked(a.add))
	a.HandleFunc("GET /books/{id}", a.locked(a.read))
	a.HandleFunc("POST /index", a.locked(a.index))
	a.HandleFunc("GET /index/state", a.locked(a.state))
	a.HandleFunc("GET /search", a.locked(a.search))
	return a
}

// locked makes a handler have the library for itself.
func (a *API) locked(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		h(w, r)
	}
}

const (
	operations = `
	{"name": "list_books", "description": "Lists all books", "method": "GET", "path": "/books", "input": {"type": "object"}},
	{"name": "add_book", "description": "Adds a book", "method": "POST", "path": "/books",
		"input": {"type": "object", "properties": {"title": {"type": "string", "minLength": 1}}, "required": ["title"]}},
	{"name": "get_book", "description": "Reads one book", "method": "GET", "path": "/books/{id}",
		"input": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
	{"name": "make_index", "description": "Makes an index of all titles", "method": "POST", "path": "/index", "input": {"type": "object"}}`
	searching = `,
	{"name": "search", "description": "Searches the index", "method": "GET", "path": "/search",
		"input": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}}`
)

func (a *API) list(w http.ResponseWriter, _ *http.Request) {
	all := operations
	if a.steps > indexSteps {
		all += searching
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "[%s]", all)
}

func (a *API) add(w http.ResponseWriter, r *http.Request) {
	added := book{ID: len(a.books) + 1}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&added); err != nil {
		http.Error(w, "a book is an object with a title: "+err.Error(), http.StatusBadRequest)
		return
	}
	a.books = append(a.books, added)
	answer(w, http.StatusCreated, added)
}

func (a *API) read(w http.ResponseWriter, r *http.Request) {
	for _, b := range a.books {
		if fmt.Sprint(b.ID) == r.PathValue("id") {
			answer(w, http.StatusOK, b)
			return
		}
	}
	http.Error(w, "there is no book "+r.PathValue("id"), http.StatusNotFound)
}

func (a *API) index(w http.ResponseWriter, _ *http.Request) {
	a.steps = 1
	w.Header().Set("Location", "/index/state")
	answer(w, http.StatusAccepted, map[string]int{"done": 0, "of": indexSteps})
}

// state says how far the index is: 202 while it is being made.
func (a *API) state(w http.ResponseWriter, _ *http.Request) {
	if a.steps <= indexSteps {
		w.Header().Set("Location", "/index/state")
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusAccepted, map[string]int{"done": a.steps, "of": indexSteps})
		a.steps++
		return
	}
	answer(w, http.StatusOK, map[string]int{"titles": len(a.books)})
}

func (a *API) search(w http.ResponseWriter, r *http.Request) {
	found := []book{}
	for _, b := range a.books {
		if strings.Contains(strings.ToLower(b.Title), strings.ToLower(r.FormValue("word"))) {
			found = append(found, b)
		}
	}
	answer(w, http.StatusOK, found)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
