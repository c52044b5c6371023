package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/kube"
)

// restAt is the moment of the states of tests. Objects were made an hour before, if they do not say when.
var restAt = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// stateOf is a state with the objects of manifests, each of which may have several. The record has each of them once, an hour
// before. An object is in the namespace default and has the UID Kind/name, if it does not say otherwise. A reference to an owner
// without a UID is to the one of that kind and name, which controls the object.
func stateOf(t *testing.T, manifests ...string) *State {
	t.Helper()
	var events []record.Event
	seen := make(map[string]bool)
	for _, v := range versionsOf(t, strings.Join(manifests, "\n---\n")) {
		if seen[v.Key] {
			t.Fatalf("there are two of %s", v.Key)
		}
		seen[v.Key] = true
		events = append(events, eventAt(t, restAt.Add(-time.Hour), v.Key, shown(v, "added")))
	}
	return stateAfter(events)
}

// stateAfter is the state at the end of a record.
func stateAfter(events []record.Event) *State {
	return At(timeline.Of(events), &timeline.Rest{Moment: timeline.Moment{Place: len(events), Time: restAt}})
}

// happening is an event of a subject.
type happening struct {
	subject string
	payload record.Payload
}

// lasting is how long it takes from one entry of a history to the next.
const lasting = time.Minute

// historyOf is a record that ends with its last entry. Each is a happening, or manifests of objects that were written; with the
// prefix "gone ", of objects that were deleted.
func historyOf(t *testing.T, entries ...any) (events []record.Event) {
	t.Helper()
	for n, entry := range entries {
		at := restAt.Add(time.Duration(n-len(entries)) * lasting)
		switch entry := entry.(type) {
		case happening:
			events = append(events, eventAt(t, at, entry.subject, entry.payload))
		case string:
			change := "modified"
			text, gone := strings.CutPrefix(entry, "gone ")
			if gone {
				change = record.Deleted
			}
			for _, v := range versionsOf(t, text) {
				events = append(events, eventAt(t, at, v.Key, shown(v, change)))
			}
		default:
			t.Fatalf("an entry of type %T", entry)
		}
	}
	return events
}

// eventAt is an event of a record.
func eventAt(t *testing.T, at time.Time, subject string, payload record.Payload) record.Event {
	t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return record.Event{At: at, Kind: payload.EventKind(), Subject: subject, Data: data}
}

// shown is what a record has of a state of an object.
func shown(v *timeline.Version, change string) record.ObjectObserved {
	return record.ObjectObserved{Change: change, Resource: v.Resource, Namespace: v.Namespace, Name: v.Name, Object: v.Text()}
}

// versionsOf are the states of objects that manifests have.
func versionsOf(t *testing.T, manifests string) (all []*timeline.Version) {
	t.Helper()
	for text := range strings.SplitSeq(manifests, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if len(object) > 0 {
			all = append(all, versionOf(t, object))
		}
	}
	return all
}

// versionOf is a state of an object, with what it does not say.
func versionOf(t *testing.T, object map[string]any) *timeline.Version {
	t.Helper()
	kind, _ := object["kind"].(string)
	meta, _ := object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if kind == "" || name == "" {
		t.Fatalf("no kind or no name: %v", object)
	}
	orElse := func(of map[string]any, field string, value any) {
		if _, has := of[field]; !has {
			of[field] = value
		}
	}
	resource, namespace := kube.Resource(kind), ""
	key := resource + "/" + name
	if !kube.ClusterScoped(resource) {
		orElse(meta, "namespace", "default")
		namespace, _ = meta["namespace"].(string)
		key = resource + "/" + namespace + "/" + name
	}
	orElse(meta, "uid", kind+"/"+name)
	orElse(meta, "creationTimestamp", restAt.Add(-time.Hour).Format(time.RFC3339))
	owners, _ := meta["ownerReferences"].([]any)
	for _, o := range owners {
		owner, _ := o.(map[string]any)
		ofKind, _ := owner["kind"].(string)
		ofName, _ := owner["name"].(string)
		orElse(owner, "controller", true)
		orElse(owner, "uid", ofKind+"/"+ofName)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	v := timeline.NewVersion(key, text)
	v.Namespace, v.Name = namespace, name
	return v
}

// breachesOf are the objects that break a law, each as "key: how", sorted.
func breachesOf(s *State, l Law) (all []string) {
	l.judge(s, func(v *timeline.Version, format string, args ...any) {
		all = append(all, v.Key+": "+fmt.Sprintf(format, args...))
	})
	slices.Sort(all)
	return all
}
