package script

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/podsapi/server"
)

// Run is what clients did from one start of the server to its stop.
type Run struct {
	// Number counts the starts from 1.
	Number  int      `json:"run"`
	Clients []Client `json:"clients"`
	// Forgotten is how many more clients there were, that have gone so long ago that
	// nothing is known of them any more.
	Forgotten int `json:"forgotten,omitempty"`
	// Refused is how many connections were closed because of the user who made them.
	Refused int64 `json:"refused,omitempty"`
}

// Client is what a client did on one connection, and what it missed.
type Client struct {
	server.Client
	// Behind are the pods that the client is behind on, by their names.
	Behind []Behind `json:"behind,omitempty"`
}

// Behind is a pod as its author knows it, and as a client does.
type Behind struct {
	// Name has the namespace, as in namespace/name.
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

func (p Behind) compare(q Behind) int {
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.UID, q.UID))
}

// Runs are what clients did up to now, by starts of the server.
func (n *Node) Runs() []Run {
	if n.server == nil {
		return n.runs
	}
	return append(slices.Clip(n.runs), n.run())
}

// run is the run that goes on.
func (n *Node) run() Run {
	r := Run{Number: len(n.runs) + 1, Clients: []Client{}, Refused: n.server.Refused()}
	for _, c := range n.server.Clients() {
		r.Clients = append(r.Clients, Client{Client: c, Behind: n.named(c.Behind)})
	}
	if count := len(r.Clients); count > 0 {
		r.Forgotten = r.Clients[count-1].ID - count // the server numbers them from 1
	}
	return r
}

// know remembers the names of pods.
func (n *Node) know(pods []*corev1.Pod) {
	for _, p := range pods {
		n.names[p.UID] = p.Namespace + "/" + p.Name
	}
}

// named are pods in the order of their names.
func (n *Node) named(uids []types.UID) (pods []Behind) {
	for _, uid := range uids {
		pods = append(pods, Behind{n.names[uid], uid})
	}
	slices.SortFunc(pods, Behind.compare)
	return pods
}
