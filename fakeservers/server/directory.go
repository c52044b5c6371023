package server

import "sync"

// Directory finds the servers that are running, so that a scenario can change
// what one does without knowing the program that started it. The zero value is
// empty. It is safe for concurrent use.
type Directory struct{ servers sync.Map } // *Server by place

// place is where a server is found: a container has each port once.
type place struct {
	container string
	port      int32
}

// Find returns the running server of a container, "namespace/pod/container",
// on a port. It returns nil if there is none.
func (d *Directory) Find(container string, port int32) *Server {
	found, _ := d.servers.Load(place{container, port})
	s, _ := found.(*Server)
	return s
}

func (d *Directory) add(s *Server) {
	if d != nil {
		d.servers.Store(s.place(), s)
	}
}

// remove takes a server out. Its successor, if there is one already, stays.
func (d *Directory) remove(s *Server) {
	if d != nil {
		d.servers.CompareAndDelete(s.place(), s)
	}
}

func (s *Server) place() place { return place{s.config.Container, s.config.Listener.Port} }
