package sse_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

func TestReader(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"one", "data: a\n\n", "a"},
		{"several lines", "data: a\ndata: b\n\n", "a\nb"},
		{"no space", "data:a\n\n", "a"},
		{"carriage returns", "data: a\r\rdata: b\r\n\r\n", "a|b"},
		{"byte order mark", "\ufeffdata: a\n\n", "a"},
		{"comments", ": hello\n\ndata: a\n: more\n\n", "a"},
		{"unknown field", "x: y\ndata: a\n\n", "a"},
		{"priming", "id: 1\ndata:\n\ndata: a\n\n", "|a"},
		{"cut short", "data: a\n\ndata: b", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sse.NewReader(strings.NewReader(tt.stream), 100)
			var got []string
			for {
				e, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.Data))
			}
			if s := strings.Join(got, "|"); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

func TestReaderIsBounded(t *testing.T) {
	if _, err := sse.NewReader(strings.NewReader("data: "+strings.Repeat("x", 200)), 100).Next(); !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("error = %v, want ErrTooLong", err)
	}
}

func TestRoundTrip(t *testing.T) {
	want := sse.Event{ID: "7", Name: "endpoint", Data: []byte("a\nb"), Retry: 500 * time.Millisecond}
	got, err := sse.NewReader(strings.NewReader(string(sse.Append(nil, want))), 100).Next()
	if err != nil || got.ID != want.ID || got.Name != want.Name || string(got.Data) != "a\nb" || got.Retry != want.Retry {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if s := string(sse.Append(nil, sse.Event{ID: "a\nb", Data: []byte("x")})); s != "data: x\n\n" {
		t.Errorf("an ID with a line break gave %q", s)
	}
}

func FuzzReader(f *testing.F) {
	f.Add("data: a\n\n")
	f.Add("id: 1\rretry: 5\r\n\r\ndata\ndata:x\n\n: c\n")
	f.Fuzz(func(t *testing.T, stream string) {
		r := sse.NewReader(strings.NewReader(stream), 1<<10)
		for {
			e, err := r.Next()
			if err != nil {
				return
			}
			again, err := sse.NewReader(strings.NewReader(string(sse.Append(nil, e))), 1<<12).Next()
			if strings.ContainsAny(e.Name, "\x00") {
				return
			}
			if err != nil || string(again.Data) != string(e.Data) || again.ID != e.ID || again.Name != e.Name || again.Retry != e.Retry {
				t.Fatalf("%+v became %+v, %v", e, again, err)
			}
		}
	})
}

// The pieces in which a stream arrives make no difference.
func FuzzReaderInPieces(f *testing.F) {
	f.Add("\ufeffdata: a\r\n\r\nid: 1\rdata: b\r\rdata: c\n\n: d\n\nretry: 5\n\n", 100)
	f.Add("data: "+strings.Repeat("x", 5000)+"\r\ndata: y\n\n", 1<<20)
	f.Add("data: abc\n\ndata: abcdef\n\n", 10)
	f.Fuzz(func(t *testing.T, stream string, limit int) {
		limit &= 1<<20 - 1
		whole := sse.NewReader(strings.NewReader(stream), limit)
		pieces := sse.NewReader(iotest.OneByteReader(strings.NewReader(stream)), limit)
		for {
			want, wantErr := whole.Next()
			got, err := pieces.Next()
			if fmt.Sprintf("%+v %v", got, err) != fmt.Sprintf("%+v %v", want, wantErr) {
				t.Fatalf("got %+v, %v; want %+v, %v", got, err, want, wantErr)
			}
			if err != nil {
				return
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, n := range []int{100, 64 << 10} {
		stream := string(sse.Append(nil, sse.Event{ID: "1", Data: []byte(strings.Repeat("x", n))}))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				r := sse.NewReader(strings.NewReader(stream), 1<<20)
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
	}
}
