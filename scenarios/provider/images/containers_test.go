package images

import (
	"testing"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// Nothing waits for a program that never says that it has come up.
func TestProgramsThatSayThatTheyHaveComeUp(t *testing.T) {
	const server, own, pause = "registry.example/server", "registry.example/own", Sandbox
	c := &Containers{
		library: container.Library{Images: []record.Image{
			{Image: server, Listen: []behavior.Listener{{Port: 8080, Protocol: behavior.HTTP1}}},
		}},
		given:    map[string]string{own: "own.tar"},
		archives: map[string]string{own: "own.tar", server: "image-1.tar", "busybox": "image-2.tar", pause: "image-3.tar"},
	}
	for reference, want := range map[string]bool{server: true, "busybox": true, pause: false, own: false, "registry.example/not-pulled": false} {
		if got := c.tells(reference); got != want {
			t.Errorf("tells(%s) = %v, want %v", reference, got, want)
		}
	}
}
