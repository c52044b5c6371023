package rehearse

import "slices"

// StageName names a stage of a rehearsal.
type StageName string

// The stages, in their order.
const (
	Stored    StageName = "stored"     // all is stored, and at rest, at From
	HalfWay   StageName = "half-way"   // one of two API servers is at To
	Upgraded  StageName = "upgraded"   // the control plane is at To
	Nodes     StageName = "nodes"      // and the nodes, one after the other
	Changed   StageName = "changed"    // and owners change their objects
	NodesBack StageName = "nodes back" // the nodes are at From again
	Back      StageName = "back"       // and the control plane
	Restored  StageName = "restored"   // and owners change their objects
	Forward   StageName = "forward"    // all is at To again
)

// Stages are all stages, in their order.
var Stages = []Stage{
	{Stored, "everything is stored, and comes to rest"},
	{HalfWay, "one of two API servers is upgraded, then the other one"},
	{Upgraded, "the controllers and the scheduler are upgraded"},
	{Nodes, "the nodes are drained and upgraded, one after the other"},
	{Changed, "owners change their objects: apply again, label, scale, restart"},
	{NodesBack, "the nodes go back, one after the other"},
	{Back, "the control plane goes back"},
	{Restored, "owners change their objects again"},
	{Forward, "everything is upgraded once more"},
}

// Stage is a part of a rehearsal.
type Stage struct {
	Name StageName `json:"name"`
	// Does says what happens in it.
	Does string `json:"does"`
}

// Index is the place of a stage in their order, or -1.
func (s StageName) Index() int {
	return slices.IndexFunc(Stages, func(o Stage) bool { return o.Name == s })
}

// IsBack reports whether a stage is part of the way back, or follows it.
func (s StageName) IsBack() bool { return s.Index() >= NodesBack.Index() }
