package check

import (
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// cuts is what is needed to tell the connections that ended because their
// kubelet did, in the middle of a probe. They say nothing of what the kubelet
// would have done, so expressions don't see them.
type cuts struct {
	nodes   map[string]string    // by pod
	stopped map[string]time.Time // when the kubelet of a node ended last
	// short are the connections that clients gave up since the current step
	// began, which may be the one that stops their kubelet.
	short []cutConnection
}

type cutConnection struct {
	container string
	id        int
	port      int32
}

// connected adds a connection, unless its kubelet ended before it did.
func (s *state) connected(name string, e record.Event) {
	s.known[name] = true
	c, ok := record.As[record.Connection](e)
	if ok && c.GivenUp() {
		if stopped, has := s.cuts.stopped[s.nodeOf(name)]; has && c.Opened.Before(stopped) {
			return
		}
		s.cuts.short = append(s.cuts.short, cutConnection{name, c.ID, c.Port})
	}
	s.connections[name] = append(s.connections[name], connection(e))
}

// cutOff takes away the connections that ended because the kubelet did.
func (s *state) cutOff(component string, at time.Time) {
	node, isKubelet := strings.CutPrefix(component, "kubelet/")
	if !isKubelet {
		return
	}
	s.cuts.stopped[node] = at
	for _, cut := range s.cuts.short {
		if s.nodeOf(cut.container) != node {
			continue
		}
		// Who has the list keeps it as it was.
		s.connections[cut.container] = slices.DeleteFunc(slices.Clone(s.connections[cut.container]), func(c any) bool {
			seen, _ := c.(map[string]any)
			return seen["id"] == int64(cut.id) && seen["port"] == int64(cut.port)
		})
	}
}

// nodeOf returns the node of a container's pod.
func (s *state) nodeOf(container string) string {
	return s.cuts.nodes[container[:max(0, strings.LastIndex(container, "/"))]]
}
