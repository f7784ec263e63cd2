package streamable_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/transport/streamable"
)

// BenchmarkClient measures typed calls of a client over HTTP, one at a time and
// many at a time, and as the floor the same calls with bare net/http and
// encoding/json. The server costs next to nothing.
func BenchmarkClient(b *testing.B) {
	for _, r := range []mcp.Revision{mcp.Revision20260728, mcp.Revision20251125} {
		for _, events := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/events=%t", r, events), func(b *testing.B) { benchmarkClient(b, r, events) })
		}
		for _, n := range []int{16, 256} {
			b.Run(fmt.Sprintf("%s/%d at a time", r, n), func(b *testing.B) {
				c := connectCanned(b, r, false)
				atATime(b, n, func() error { return callAdd(b, c) })
			})
		}
	}
	b.Run("floor", func(b *testing.B) {
		s := newCannedServer(b, false)
		b.ReportAllocs()
		for b.Loop() {
			if err := bareCall(http.DefaultClient, s.url()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("floor, 16 at a time", func(b *testing.B) {
		s := newCannedServer(b, false)
		web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		b.Cleanup(web.CloseIdleConnections)
		atATime(b, 16, func() error { return bareCall(web, s.url()) })
	})
}

func benchmarkClient(b *testing.B, r mcp.Revision, events bool) {
	c := connectCanned(b, r, events)
	b.ReportAllocs()
	for b.Loop() {
		if err := callAdd(b, c); err != nil {
			b.Fatal(err)
		}
	}
}

// atATime makes calls, n of them at any time.
func atATime(b *testing.B, n int, call func() error) {
	b.ReportAllocs()
	todo := make(chan struct{}, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { // ends when nothing is left to do
			for range todo {
				if err := call(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		todo <- struct{}{}
	}
	close(todo)
	wg.Wait()
}

type operands struct {
	A int `json:"a"`
	B int `json:"b"`
}

type total struct {
	Sum int `json:"sum"`
}

func callAdd(b *testing.B, c *client.Client) error {
	got, err := client.Call[total](b.Context(), c, "add", operands{1, 2})
	if err == nil && got.Sum != 3 {
		err = fmt.Errorf("got %+v", got)
	}
	return err
}

func connectCanned(b *testing.B, r mcp.Revision, events bool) *client.Client {
	s := newCannedServer(b, events)
	c, err := client.Connect(b.Context(), &streamable.Client{URL: s.url(), Logger: mcptest.Quiet()}, &client.Options{Revisions: []mcp.Revision{r}, Logger: mcptest.Quiet()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// bareCall is what a call costs without the protocol.
func bareCall(web *http.Client, url string) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "add", "arguments": operands{1, 2}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := web.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Structured total `json:"structuredContent"`
		} `json:"result"`
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	if err == nil && answer.Result.Structured.Sum != 3 {
		err = fmt.Errorf("got %+v", answer)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be reused
	return err
}

// What a canned server answers, by what is in the request.
var canned = []struct{ method, result string }{
	{`"method":"tools/call"`, `{"resultType":"complete","content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}`},
	{`"method":"server/discover"`, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`},
	{`"method":"initialize"`, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"b","version":"1"}}`},
}

// cannedServer is a server that allocates nothing for an answer.
type cannedServer struct {
	net.Listener
	events bool
}

func newCannedServer(b *testing.B, events bool) *cannedServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &cannedServer{Listener: l, events: events}
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.serve(conn) }) // ends with its client
		}
	})
	b.Cleanup(func() {
		_ = l.Close()
		http.DefaultClient.CloseIdleConnections()
		wg.Wait()
	})
	return s
}

func (s *cannedServer) url() string { return "http://" + s.Addr().String() + "/mcp" }

func (s *cannedServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	var answer, body []byte
	for {
		length, post := 0, false
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			post = post || bytes.HasPrefix(line, []byte("POST "))
			if digits, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(digits)))
			}
			if len(line) == 2 {
				break
			}
		}
		request, err := r.Peek(length)
		if err != nil {
			return
		}
		body, answer = s.answer(body[:0], answer[:0], request, post)
		_, _ = r.Discard(length) // just peeked at
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

func (s *cannedServer) answer(body, answer, request []byte, post bool) (grownBody, grownAnswer []byte) {
	if !post {
		return body, append(answer, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"...)
	}
	_, id, _ := bytes.Cut(request, []byte(`"id":`))
	id, _, _ = bytes.Cut(id, []byte(","))
	for _, c := range canned {
		if !bytes.Contains(request, []byte(c.method)) {
			continue
		}
		kind := "application/json"
		if s.events {
			kind, body = "text/event-stream", append(body, "data: "...)
		}
		body = append(append(append(body, `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
		body = append(append(body, c.result...), "}\n\n"...)
		answer = append(append(answer, "HTTP/1.1 200 OK\r\nDate: Fri, 31 Jul 2026 12:00:00 GMT\r\nContent-Type: "...), kind...)
		answer = strconv.AppendInt(append(answer, "\r\nContent-Length: "...), int64(len(body)), 10)
		return body, append(append(answer, "\r\n\r\n"...), body...)
	}
	return body, append(answer, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"...)
}
