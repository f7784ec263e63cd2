package webserver

import (
	"net"
	"net/http"
	"sync"
)

// newcomers are the connections that have not brought a request yet.
// http.Server.Shutdown waits five seconds for those: browsers and pools open some in
// advance.
type newcomers struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// watch lets a server that shuts down close its newcomers.
func (n *newcomers) watch(server *http.Server) {
	n.conns = map[net.Conn]bool{}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if state == http.StateNew {
			n.conns[c] = true
			return
		}
		delete(n.conns, c)
	}
	server.RegisterOnShutdown(n.close)
}

func (n *newcomers) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		_ = c.Close() // nothing was said on it
	}
}
