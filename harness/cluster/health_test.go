package cluster

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestOneConnectionAsksUntilReady: a component that is asked again and again is asked on one
// connection.
func TestOneConnectionAsksUntilReady(t *testing.T) {
	var asked, connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	asker := new(Cluster).newAsker()
	defer asker.CloseIdleConnections()
	for healthy(t.Context(), asker, server.URL) != nil {
		if asked.Load() > 3 {
			t.Fatal("it is ready and not found to be")
		}
	}
	if connections.Load() != 1 || asked.Load() != 3 {
		t.Errorf("asked %d times on %d connections", asked.Load(), connections.Load())
	}
}
