package server

import "sync"

// Directory finds the servers that are running, so that a scenario can change
// what one does without knowing the program that started it. The zero value is
// empty. It is safe for concurrent use.
type Directory struct {
	mu      sync.Mutex
	servers map[place]*Server
}

// place is where a server is found: a container has each port once.
type place struct {
	container string
	port      int32
}

// Find returns the running server of a container, "namespace/pod/container",
// on a port. It returns nil if there is none.
func (d *Directory) Find(container string, port int32) *Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.servers[place{container, port}]
}

func (d *Directory) add(s *Server) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.servers == nil {
		d.servers = map[place]*Server{}
	}
	d.servers[s.place()] = s
}

// remove takes a server out. Its successor, if there is one already, stays.
func (d *Directory) remove(s *Server) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.servers[s.place()] == s {
		delete(d.servers, s.place())
	}
}

func (s *Server) place() place { return place{s.config.Container, s.config.Listener.Port} }
