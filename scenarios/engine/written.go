package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// written is answered for a write. What follows does not look at an older state of the object
// than the one that was written: the record has that by then.
func (r *run) written(ctx context.Context, answer record.APIAnswer, judged bool, err error) (int, error) {
	code, err := r.answered(answer, judged, err)
	if err != nil || code >= 400 || !observes(r.cell.Topology, answer.Object) {
		return code, err
	}
	wanted, is := versionOf(answer)
	if !is {
		return code, nil
	}
	ctx, cancel := r.machine.WithTimeout(ctx, seenLimit, nil)
	defer cancel()
	looked := 0
	_ = r.history.Wait(ctx, func(events []record.Event) bool { // what is not seen, no expression sees
		seen := hasSeen(events[looked:], wanted)
		looked = len(events)
		return seen
	})
	return code, nil
}

// seenLimit is how long what was written may take until it is observed.
const seenLimit = 5 * time.Second

// observes reports whether the states of an object go into the record.
func observes(t record.Topology, object string) bool {
	rest, ofSeed := strings.CutPrefix(object, spec.Seed+"/")
	resource, _, _ := strings.Cut(rest, "/")
	asked := resource
	if ofSeed {
		asked = path.Join(spec.Seed, resource)
	}
	return slices.Contains(record.Observed, resource) || slices.Contains(t.Observed, asked)
}

// version is which state of which object something is.
type version struct {
	Metadata struct {
		UID             string `json:"uid"`
		ResourceVersion uint64 `json:"resourceVersion,string"`
	} `json:"metadata"`
}

// versionOf is that of the object in an answer, and whether there is one.
func versionOf(answer record.APIAnswer) (v version, is bool) {
	text, err := json.Marshal(answer.Response)
	return v, err == nil && json.Unmarshal(text, &v) == nil && v.Metadata.UID != ""
}

// hasSeen reports whether an object was observed as it is wanted, or later.
func hasSeen(events []record.Event, wanted version) bool {
	for _, observed := range record.All[record.ObjectObserved](events) {
		var seen version
		if bytes.Contains(observed.Object, []byte(wanted.Metadata.UID)) && json.Unmarshal(observed.Object, &seen) == nil &&
			seen.Metadata.UID == wanted.Metadata.UID && seen.Metadata.ResourceVersion >= wanted.Metadata.ResourceVersion {
			return true
		}
	}
	return false
}
