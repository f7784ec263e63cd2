package webserver

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// A connection on which nothing was said does not hold up the end of a server.
func TestUnusedConnectionAtShutdown(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n newcomers
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	n.watch(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends with Shutdown
	unused, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	resp, err := http.Get("http://" + listener.Addr().String()) // so that the server has met the first
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // less than Shutdown waits for a new connection
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	<-ended
}
