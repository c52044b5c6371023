package rehearse

import "slices"

// StageName names a stage of a rehearsal.
type StageName string

// The stages, in their order.
const (
	Stored       StageName = "stored"
	HalfWay      StageName = "half-way"
	Upgraded     StageName = "upgraded"
	Nodes        StageName = "nodes"
	Changed      StageName = "changed"
	NodesBack    StageName = "nodes back"
	HalfWayBack  StageName = "half-way back"
	Back         StageName = "back"
	ChangedAgain StageName = "changed again"
	Forward      StageName = "forward"
	Deleted      StageName = "deleted"
)

// Stages are all stages, in their order.
var Stages = []Stage{
	{Stored, "everything is stored, and comes to rest"},
	{HalfWay, "one of two API servers is upgraded: controllers ask the new one, clients the old one"},
	{Upgraded, "the other API server, the controllers and the scheduler are upgraded"},
	{Nodes, "the nodes are upgraded one after the other, the first one after a drain"},
	{Changed, "owners apply, label, scale and restart what they have"},
	{NodesBack, "the nodes go back one after the other, the first one after a drain"},
	{HalfWayBack, "the controllers, the scheduler and their API server go back: clients ask the newer one"},
	{Back, "the other API server goes back"},
	{ChangedAgain, "owners change what they have again"},
	{Forward, "everything is upgraded once more"},
	{Deleted, "everything is deleted"},
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
