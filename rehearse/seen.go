package rehearse

import (
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
)

// Seen is what a rehearsal left: Subject went to To and back, and Twin went through the same while it stayed at From.
type Seen struct {
	From, To release.Version
	// Nodes is the release of the nodes before the upgrade. If unset, it is From.
	Nodes release.Version
	// Until is the last stage that was to run. If unset, it is the last one of all.
	Until         StageName
	Subject, Twin Side
	// Operators are those that acted on the objects.
	Operators []Operator
	// Items are the objects that were stored, in the order of the input.
	Items []Item
}

// Item is an object that was stored.
type Item struct {
	Ref

	// Key is the object as a timeline has it: deployments/shop/web.
	Key string
	// Manifest is the object as it was read.
	Manifest map[string]any
}

// Side is a control plane that was changed, or its twin.
type Side struct {
	*timeline.Timeline

	Stages []StageSeen
	// Exit is how a component ended by itself. If unset, none did.
	Exit string
}

// StageSeen is what was seen in a stage.
type StageSeen struct {
	StageResult

	Began, Ended time.Time
	// Objects are the items as they were read when the stage ended, by key. Those of Secrets have no data.
	Objects map[string]map[string]any
	// Unread is why an object could not be read, by key.
	Unread map[string]string
	// Answers are what was said to the requests of the owners, by key.
	Answers map[string][]law.Said
	// Warnings are those of the API server, by key.
	Warnings map[string][]string
	// Exits are how operators ended by themselves, by their names.
	Exits map[string][]string
	// Evicted are the pods that a drain evicted, by namespace and name, and Evictions those that it could not, with the reason.
	Evicted   map[string]bool
	Evictions map[string]string
}

// stage is what was seen in a stage; nil if it did not run.
func (s Side) stage(name StageName) *StageSeen {
	for i := range s.Stages {
		if s.Stages[i].Name == name {
			return &s.Stages[i]
		}
	}
	return nil
}

// evictedOf is how many of some pods a drain evicted.
func (s StageSeen) evictedOf(pods map[string]bool) (n int) {
	for pod := range s.Evicted {
		if pods[pod] {
			n++
		}
	}
	return n
}

// owns reports whether a pod, by its namespace and name, is one of an item by its name.
func (i Item) owns(pod string) bool {
	namespace, name, _ := strings.Cut(pod, "/")
	return namespace == i.Namespace && (name == i.Name || strings.HasPrefix(name, i.Name+"-"))
}
