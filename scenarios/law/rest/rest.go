// Package rest has what must hold of the objects of a cluster once controllers, schedulers and kubelets have come to rest: that
// statuses say what is so, that what is wanted is there, and that nothing waits for what is there. Each law has its
// statement and the document that it is from.
//
// It looks at moments of a record at which all is at rest. Package law has the laws of what happens in between.
package rest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// Law is something that must hold of a cluster at rest.
type Law struct {
	// Breach is what is said of an object that breaks it. It is the name of the law, too.
	Breach string
	// Statement is what holds otherwise, and Source the document that says so.
	Statement, Source string
	// Class is the kind of harm: "pod never scheduled". Components are the programs of which one breaks it.
	Class      string
	Components []string
	// faulty is true if it holds while a fault keeps components from working, too.
	faulty bool
	// going is true if it holds in a namespace that is being deleted, too.
	going bool
	// frozen is true if it holds of objects that can't be changed, too.
	frozen bool
	// judge reports the objects that break it.
	judge func(s *State, report reporter)
}

// reporter takes an object that breaks a law, and how.
type reporter func(v *timeline.Version, format string, args ...any)

// Breach is a law that an object breaks.
type Breach struct {
	// Law is the breach of the law, and Key the object as a timeline has it.
	Law string `json:"law"`
	Key string `json:"object"`
	// Detail says how.
	Detail string `json:"detail"`
}

// All are the laws.
func All() []Law {
	return []Law{hasPods, hasNoMore, reportsPods, startsInOrder, readyInOrder, isProbed, staysRunning, keepsPods, routesToPods, warnsOfNothing, followsTemplate, starts, isScheduled, placedRight, ownsDevices, getsDevices, keepsTolerant, configuresOwn, namesDevices, hasStorage, countsBudget, countsQuota, keepsLimits, hasAmounts, isGone, acceptsStored, readsAsWatched, keepsSecret, readsNeeded}
}

// Named is the law with a breach.
func Named(breach string) (Law, bool) {
	all := All()
	if n := slices.IndexFunc(all, func(l Law) bool { return l.Breach == breach }); n >= 0 {
		return all[n], true
	}
	return Law{}, false
}

// Resources are those that the laws look at.
var Resources = []string{
	"pods", "nodes", "deployments", "replicasets", "daemonsets", "statefulsets", "jobs", "cronjobs", "controllerrevisions",
	"poddisruptionbudgets", "resourcequotas", "limitranges", "namespaces", "configmaps", "secrets", "services", "endpointslices",
	"persistentvolumeclaims", "persistentvolumes", "storageclasses", "csidrivers", "csistoragecapacities",
	"resourceclaims", "resourceslices", "deviceclasses",
}

// The documents that laws are from.
const conventions = "kubernetes/community, sig-architecture/api-conventions.md"

// State is the objects of a cluster at a moment.
type State struct {
	// At is the moment.
	At time.Time
	// Faulty is true if a fault keeps a component from working, or one does not run.
	Faulty bool
	// Settled is what API servers answered about the objects that are stored.
	record.Settled
	// Written are the keys of objects that clients changed after they had been made.
	Written map[string]bool

	record *timeline.Timeline
	place  int // of the moment in the record
	// mute is true if a fault may keep a controller from seeing what is so, or from saying it.
	mute bool
	// frozen are the keys of objects that could not be changed at this moment of rest, or before.
	frozen map[string]bool

	// good are what goodCommands returns, once it was asked for.
	good map[string][]command

	byResource map[string][]*timeline.Version
	byOwner    map[string][]*timeline.Version // by UID of the controller
	byKey      map[string]*timeline.Version
}

// At is the state of a cluster when it had come to rest, as far as it had: nothing is reported of namespaces in which it had not.
func At(t *timeline.Timeline, rest *timeline.Rest) *State {
	place := rest.Place
	s := &State{
		At: rest.Time, record: t, place: place, Settled: rest.Settled, Written: make(map[string]bool), frozen: make(map[string]bool),
		byResource: make(map[string][]*timeline.Version), byOwner: make(map[string][]*timeline.Version), byKey: make(map[string]*timeline.Version),
	}
	for _, v := range t.Versions {
		if v.Place < place && v.Cluster == "" && !v.Static() {
			s.byKey[v.Key] = v
		}
	}
	for _, v := range s.byKey {
		if v.Gone() {
			delete(s.byKey, v.Key)
			continue
		}
		s.byResource[v.Resource] = append(s.byResource[v.Resource], v)
		if owner := metav1.GetControllerOfNoCopy(v.Meta()); owner != nil {
			s.byOwner[string(owner.UID)] = append(s.byOwner[string(owner.UID)], v)
		}
	}
	for _, index := range []map[string][]*timeline.Version{s.byResource, s.byOwner} {
		for _, all := range index {
			slices.SortFunc(all, func(a, b *timeline.Version) int { return cmp.Compare(a.Key, b.Key) })
		}
	}
	for _, r := range t.Rests {
		for _, refused := range r.Refused {
			s.frozen[refused.Object] = s.frozen[refused.Object] || r.Place <= place && !isOfPolicy(refused)
		}
	}
	for _, f := range t.Faults {
		if f.LastsAt(place) {
			s.Faulty, s.mute = true, s.mute || mutes(f.LinkFault)
		}
	}
	for name := range t.Ran {
		_, runs := t.ReadyAt(name, place)
		s.Faulty, s.mute = s.Faulty || !runs, s.mute || !runs && record.Program(name) == record.ControllerManager
	}
	for _, a := range t.Answers {
		if a.Place < place && a.Code < 400 && !a.Created() {
			s.Written[a.Object] = true
		}
	}
	return s
}

// mutes reports whether a fault may keep a controller from seeing what is so, or from saying it. A fault of a single request, of
// requests that write something else than a status, or of calls to a container runtime does not.
func mutes(f record.LinkFault) bool {
	writes := f.OfRequests() && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, f.Verb)
	return !f.OfCalls() && f.Nth == 0 && (!writes || f.Resource == "" || strings.HasSuffix(f.Resource, "/status"))
}

// Breaches are the laws that objects break, in the order of the laws and of the objects.
func (s *State) Breaches() (all []Breach) {
	for _, l := range All() {
		if s.Faulty && !l.faulty {
			continue
		}
		l.judge(s, func(v *timeline.Version, format string, args ...any) {
			if s.isRestless(v) || s.frozen[v.Key] && !l.frozen {
				return // an object that can't be changed breaks more laws than that one
			}
			if namespace := s.get("namespaces", "", v.Namespace); namespace != nil && namespace.Meta().DeletionTimestamp != nil && !l.going {
				return // all of it goes
			}
			all = append(all, Breach{Law: l.Breach, Key: v.Key, Detail: fmt.Sprintf(format, args...)})
		})
	}
	return all
}

// isRestless reports whether an object was not at rest at the moment, or another one in its namespace.
func (s *State) isRestless(v *timeline.Version) bool {
	return slices.ContainsFunc(s.Restless, func(key string) bool {
		resource, rest, _ := strings.Cut(key, "/")
		namespace, _, within := strings.Cut(rest, "/")
		return key == v.Key || v.Namespace != "" && v.Namespace == namespace && (within || resource == "namespaces")
	})
}

// all are the objects of a resource, by key.
func (s *State) all(resource string) []*timeline.Version { return s.byResource[resource] }

// in are those of a namespace.
func (s *State) in(namespace, resource string) (all []*timeline.Version) {
	for _, v := range s.byResource[resource] {
		if v.Namespace == namespace {
			all = append(all, v)
		}
	}
	return all
}

// owned are those of a resource that an object controls: in its namespace, since a reference has none.
func (s *State) owned(owner *timeline.Version, resource string) (all []*timeline.Version) {
	for _, v := range s.byOwner[string(owner.Meta().UID)] {
		if v.Resource == resource && v.Namespace == owner.Namespace {
			all = append(all, v)
		}
	}
	return all
}

// get is an object; nil if there is none.
func (s *State) get(resource, namespace, name string) *timeline.Version {
	key := resource + "/" + name
	if namespace != "" {
		key = resource + "/" + namespace + "/" + name
	}
	return s.byKey[key]
}

// firstPlace is where in the record an object was seen first.
func (s *State) firstPlace(v *timeline.Version) int {
	for _, first := range s.record.States(v.Key) {
		if first.Meta().UID == v.Meta().UID && !first.Static() {
			return first.Place
		}
	}
	return v.Place
}

// since is how long ago a time was at the moment of the state.
func (s *State) since(t metav1.Time) time.Duration { return s.At.Sub(t.Time) }

// selects reports whether a selector matches labels. One that is not valid matches nothing.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(of))
}
