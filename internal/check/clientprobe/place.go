package clientprobe

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// pipes returns the two ends of a stream in this process. What one end has
// written before it closes arrives at the other.
func pipes() (client, server io.ReadWriteCloser) {
	a, b := newPipe(), newPipe()
	return ends{a, b}, ends{b, a}
}

type pipe struct {
	*io.PipeReader
	*io.PipeWriter
}

func newPipe() pipe {
	r, w := io.Pipe()
	return pipe{r, w}
}

// ends reads one pipe and writes the other.
type ends struct{ in, out pipe }

func (e ends) Read(p []byte) (int, error)  { return e.in.Read(p) }
func (e ends) Write(p []byte) (int, error) { return e.out.Write(p) }

// Close ends both directions.
func (e ends) Close() error {
	_ = e.out.PipeWriter.Close() // never fails
	return e.in.PipeReader.Close()
}

// listen serves a handler at two ports of this machine.
func listen(h http.Handler) (origin, other string, stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close() // its clients have ended
		}
	}
	var urls []string
	for range 2 {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return "", "", nil, err
		}
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, s)
		go func() { _ = s.Serve(l) }() // ends with Close
		urls = append(urls, "http://"+l.Addr().String())
	}
	return urls[0], urls[1], stop, nil
}
