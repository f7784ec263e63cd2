package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// entered is a request of somebody who was let in.
func entered(t *testing.T, d *Door, who Visitor) *http.Request {
	t.Helper()
	w := httptest.NewRecorder()
	key := d.Enter(w, who)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/x", nil)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	r.Header.Set("Parley-Key", key)
	return r
}

// A visit ends when nothing is heard of it, when it is old, and when the visitor leaves;
// that a stream looks whether it lasts is not hearing of it.
func TestEndOfVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoor(DoorOptions{Hosts: []string{"127.0.0.1:7000"}, Idle: 30 * time.Minute, Life: time.Hour, Hint: "log in again"})
		quiet := entered(t, d, Visitor{Name: "ada"})
		busy := entered(t, d, Visitor{Name: "bob"})
		leaving := entered(t, d, Visitor{Name: "eve"})
		d.Leave(httptest.NewRecorder(), leaving)
		if _, err := d.visitor(leaving); err == nil {
			t.Error("who has left is let in")
		}
		for range 3 {
			pass(14 * time.Minute)
			if _, err := d.visitor(busy); err != nil {
				t.Error(err)
			}
			d.lasts(quiet)
		}
		_, err := d.visitor(quiet)
		if e := asError(err); err == nil || e.Hint != "log in again" {
			t.Errorf("a visit that nothing was heard of goes on: %v", err)
		}
		pass(20 * time.Minute)
		if d.lasts(busy) {
			t.Error("a visit goes on for longer than any does")
		}
	})
}

// What a visitor may do follows what it is by now.
func TestRoleOfVisits(t *testing.T) {
	role, has := Operator, true
	d := NewDoor(DoorOptions{Hosts: []string{"127.0.0.1:7000"}})
	r := entered(t, d, Visitor{Name: "ada", Role: Viewer, Still: func() (Role, bool) { return role, has }})
	if who, err := d.visitor(r); err != nil || who.Role != Operator {
		t.Errorf("%v, %v", who.Role, err)
	}
	if has = false; d.lasts(r) {
		t.Error("a visit lasts of somebody who has no role any more")
	}
	if has = true; d.lasts(r) {
		t.Error("a visit that has ended begins again")
	}
}

// Another port of the host can plant cookies of the page's name, and that locks nobody out.
func TestPlantedCookies(t *testing.T) {
	d := NewDoor(DoorOptions{Hosts: []string{"127.0.0.1:7000"}})
	r := entered(t, d, Visitor{Name: "ada"})
	own := r.Header.Get("Cookie")
	name, _, _ := strings.Cut(own, "=")
	r.Header.Set("Cookie", name+"=planted; "+own+"; "+name+"=planted")
	if _, err := d.visitor(r); err != nil || !d.lasts(r) {
		t.Errorf("who has more cookies is turned away: %v", err)
	}
	r.Header.Set("Cookie", name+"=planted")
	if _, err := d.visitor(r); err == nil {
		t.Error("a cookie that was planted is taken for the page's")
	}
	r.Header.Set("Cookie", name+"=planted; "+own)
	d.Leave(httptest.NewRecorder(), r)
	if d.lasts(r) {
		t.Error("who has left is let in")
	}
}

// Whoever keeps a log hears of each code before it lets somebody in, and can keep them out.
func TestRedeemed(t *testing.T) {
	var heard []bool
	var full error
	d := NewDoor(DoorOptions{Hosts: []string{"127.0.0.1:7000"}, Redeemed: func(_ *http.Request, who Visitor, right bool) error {
		if who.Name != "operator" || who.Role != Operator {
			t.Errorf("%+v comes in", who)
		}
		heard = append(heard, right)
		return full
	}})
	redeem := func(code string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		if !d.letIn(w, httptest.NewRequest(http.MethodGet, "/?code="+code, nil)) {
			t.Error("a code is not looked at")
		}
		return w
	}
	code := d.Code()
	if w := redeem(code); !strings.HasPrefix(w.Header().Get("Location"), "/#key=") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := redeem(code); w.Header().Get("Location") != "/#refused" {
		t.Errorf("the second time: %d %v", w.Code, w.Header())
	}
	full = errors.New("the log is full")
	if w := redeem("wrong"); w.Header().Get("Location") != "/#refused" {
		t.Errorf("a wrong code, unheard: %d %v", w.Code, w.Header())
	}
	if w := redeem(d.Code()); w.Code != http.StatusServiceUnavailable || w.Header().Get("Location") != "" || len(w.Result().Cookies()) > 0 || !strings.Contains(w.Body.String(), full.Error()) {
		t.Errorf("unheard: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if !slices.Equal(heard, []bool{true, false, false, true}) {
		t.Errorf("heard %v", heard)
	}
}
