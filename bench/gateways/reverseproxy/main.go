// Reverseproxy passes requests on and knows nothing of the protocol: what every
// gateway has to do at least.
package main

import (
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// moreThanEnough connections to the server are kept, so that none is opened
// for each request.
const moreThanEnough = 1 << 10

func main() {
	addr := flag.String("http", "", "address to listen on")
	to := flag.String("to", "", "origin to pass requests on to")
	flag.Parse()
	target, err := url.Parse(*to)
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = moreThanEnough, moreThanEnough
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if r.Out.Body != nil {
			r.Out.Body = &ended{ReadCloser: r.Out.Body}
		}
	}}
	s := &http.Server{Addr: *addr, Handler: proxy, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(s.ListenAndServe())
}

// ended remembers that a body has ended. The transport asks for more once again
// after the last byte. If the answer has begun by then, the body has been closed
// meanwhile; the transport would take that for a failure, and close the
// connection in the middle of the answer (golang/go#40747).
type ended struct {
	io.ReadCloser
	over bool
}

func (b *ended) Read(p []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	b.over = errors.Is(err, io.EOF)
	return n, err
}
