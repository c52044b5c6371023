package check

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/record"
)

// Node is what the API server says of a node.
type Node struct {
	// Ready is the status of its condition of that name: True, False or Unknown.
	Ready string `json:"ready"`
	Zone  string `json:"zone"`
	// Changes are the values that Ready has had.
	Changes []ReadyChange `json:"changes"`
}

// ReadyChange is a new value of a node's condition Ready.
type ReadyChange struct {
	Ready string `json:"ready"`
	// At is when it was seen, in seconds since the record began.
	At float64 `json:"at"`
}

// Dependent is a Deployment on the seed that dependency-watchdog may scale.
type Dependent struct {
	Replicas    int32             `json:"replicas"`
	Annotations map[string]string `json:"annotations"`
	// Scaled are the numbers of replicas that it has had.
	Scaled []Scale `json:"scaled"`
}

// Scale is a new number of replicas.
type Scale struct {
	Replicas int32 `json:"replicas"`
	// At is when it was seen, in seconds since the record began.
	At float64 `json:"at"`
}

// Call is a request of dependency-watchdog to an API server.
type Call struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Code is the status of the answer; 0 if there was none.
	Code int `json:"code"`
	// Answered is true if it was the link that answered.
	Answered bool `json:"answered"`
	// At is when it was answered, in seconds since the record began.
	At float64 `json:"at"`
}

// landscape is what a record says of what is beside the pods of a rig.
type landscape struct {
	began      time.Time
	since      float64 // when the step began, in seconds since then
	nodes      map[string]*Node
	dependents map[string]*Dependent

	// These are the same, and what else there is, as expressions see them.
	shownNodes, shownDependents, leases map[string]any
	calls                               map[string][]any // by link
}

func newLandscape() landscape {
	return landscape{
		nodes: make(map[string]*Node), dependents: make(map[string]*Dependent),
		shownNodes: make(map[string]any), shownDependents: make(map[string]any), leases: make(map[string]any),
		calls: make(map[string][]any),
	}
}

// at is when an event happened, in seconds since the record began.
func (l *landscape) at(e record.Event) float64 {
	if l.began.IsZero() {
		l.began = e.At
	}
	return math.Round(e.At.Sub(l.began).Seconds()*1000) / 1000
}

// saw takes an object into account: a node of the rig, or a Deployment of the
// seed.
func (l *landscape) saw(e record.Event, seen record.ObjectObserved) {
	switch {
	case seen.Cluster == "" && seen.Resource == "nodes":
		l.node(e, seen)
	case seen.Cluster != "" && seen.Resource == "deployments":
		l.dependent(e, seen)
	}
}

func (l *landscape) node(e record.Event, seen record.ObjectObserved) {
	if seen.Change == "deleted" {
		delete(l.nodes, seen.Name)
		delete(l.shownNodes, seen.Name)
		return
	}
	var object struct {
		Metadata struct{ Labels map[string]string }
		Status   struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(seen.Object, &object); err != nil {
		return
	}
	n := l.nodes[seen.Name]
	if n == nil {
		n = &Node{Changes: []ReadyChange{}}
		l.nodes[seen.Name] = n
	}
	n.Zone = object.Metadata.Labels["topology.kubernetes.io/zone"]
	for _, c := range object.Status.Conditions {
		if c.Type == "Ready" && c.Status != n.Ready {
			n.Ready = c.Status
			n.Changes = append(n.Changes, ReadyChange{Ready: c.Status, At: l.at(e)})
		}
	}
	l.shownNodes[seen.Name] = decoded(n)
}

func (l *landscape) dependent(e record.Event, seen record.ObjectObserved) {
	if seen.Change == "deleted" {
		delete(l.dependents, seen.Name)
		delete(l.shownDependents, seen.Name)
		return
	}
	var object struct {
		Metadata struct{ Annotations map[string]string }
		Spec     struct{ Replicas int32 }
	}
	if err := json.Unmarshal(seen.Object, &object); err != nil {
		return
	}
	d := l.dependents[seen.Name]
	if d == nil {
		d = &Dependent{Replicas: -1}
		l.dependents[seen.Name] = d
	}
	d.Annotations = object.Metadata.Annotations
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	if d.Replicas != object.Spec.Replicas {
		d.Replicas = object.Spec.Replicas
		d.Scaled = append(d.Scaled, Scale{Replicas: d.Replicas, At: l.at(e)})
	}
	l.shownDependents[seen.Name] = decoded(d)
}

// called takes a request into account that passed a link.
func (l *landscape) called(e record.Event) {
	r, ok := record.As[record.LinkRequest](e)
	if !ok {
		return
	}
	call := Call{Method: r.Method, Path: r.Path, Code: r.Code, Answered: r.Answered, At: l.at(e)}
	l.calls[e.Subject] = append(l.calls[e.Subject], decoded(call))
}

// renewed takes into account how old leases are.
func (l *landscape) renewed(e record.Event) {
	ages, _ := record.As[record.LeaseAges](e)
	for _, z := range ages.Zones {
		l.leases[strings.TrimSuffix(lease.Component+"/"+z.Zone, "/")] = decoded(z)
	}
}
