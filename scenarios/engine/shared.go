package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/record"
	"github.com/skewrig/skewrig/scenarios/check"
)

// swept are the kinds of objects that are taken away when a cell leaves its rig
// to another one, sweptResources their resources: owners before what they own.
var (
	swept          = []any{"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Pod"}
	sweptResources = []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "apps", Version: "v1", Resource: "replicasets"},
		{Version: "v1", Resource: "pods"},
	}
)

// sweepLimit is how long it may take until nothing of a cell is left.
const sweepLimit = 30 * time.Second

// tenancy is a rig that the cells of a group have one after the other. A cell
// sees nothing of an earlier one: when it begins, there are no objects and no
// containers, and what is still said of earlier ones does not get into its
// record. What it may notice is that an image is there already.
type tenancy struct {
	more    bool // another cell of the group comes after this one
	cluster *cluster.Cluster
	relay   *relay
	// tenant is the cell that had the rig last, and logs where its components
	// write.
	tenant, logs string
}

// enter gives a cell its rig: that of the cell before, if there is one.
func (t *tenancy) enter(ctx context.Context, e *Engine, r *rig, dir string) error {
	if t.cluster != nil {
		r.cluster = t.cluster
		t.relay.to(r.history)
		r.history.Append("engine", "", check.RigReused{After: t.tenant})
		t.tenant = r.cell.ID
		return linkLogs(t.logs, dir)
	}
	library, err := Library(r.cell.Images)
	if err != nil {
		return err
	}
	t.relay, t.tenant, t.logs = newRelay(r.history), r.cell.ID, filepath.Join(dir, "logs")
	config := ClusterConfig(r.cell.Topology, library, t.relay)
	config.Binary, config.TempDir, config.LogDir = e.Binary, e.TempDir, t.logs
	if r.cluster, err = r.start(ctx, config); err != nil {
		return fmt.Errorf("starting the rig: %w", err)
	}
	t.cluster = r.cluster
	return nil
}

// linkLogs has a cell's logs point to those of the rig's first cell.
func linkLogs(logs, dir string) error {
	target, err := filepath.Rel(dir, logs)
	if err != nil {
		return err
	}
	return os.Symlink(target, filepath.Join(dir, "logs"))
}

// leave takes the rig from a cell. It ends with the last one, with one that
// failed on it, and with one of which something stays behind.
func (t *tenancy) leave(ctx context.Context, r *rig, failed error) error {
	if failed == nil && t.more && t.cluster != nil && t.sweep(ctx, r) == nil {
		return nil
	}
	return t.end()
}

// end ends the rig, if there is one.
func (t *tenancy) end() error {
	if t.cluster == nil {
		return nil
	}
	err := t.cluster.Close()
	t.cluster = nil
	return err
}

// sweep deletes what a cell has created, and returns when it is gone.
func (t *tenancy) sweep(ctx context.Context, r *rig) error {
	t.relay.to(nil)
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	at := metav1.DeletePropagationBackground
	for _, resource := range sweptResources {
		list, err := r.objects.client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range list.Items {
			client := r.objects.client.Resource(resource).Namespace(o.GetNamespace())
			if err := client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &at}); err != nil && ctx.Err() != nil {
				return err
			}
		}
	}
	return t.relay.awaitEmpty(ctx)
}

// relay is the recorder of a rig that has several cells. What it is told goes
// into the record of the cell that has the rig, unless it is about something
// that was there before that cell.
type relay struct {
	mu      sync.Mutex
	tenant  *record.History // nil: nobody has the rig
	changed chan struct{}
	// made are the components and nodes as they were told last, in the order of
	// their first appearance: the beginning of every cell's record.
	made []told
	// live are the objects and containers that are there, current all that was
	// there since the cell began, and earlier what was before.
	live, current, earlier map[string]bool
}

type told struct {
	source, subject string
	payload         record.Payload
}

func newRelay(first *record.History) *relay {
	return &relay{
		tenant: first, changed: make(chan struct{}),
		live: make(map[string]bool), current: make(map[string]bool), earlier: make(map[string]bool),
	}
}

var _ record.Recorder = (*relay)(nil)

// Append implements record.Recorder.
func (r *relay) Append(source, subject string, payload record.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := told{source, subject, payload}
	if isPartOfRig(payload) {
		r.keep(t)
		r.tenant.Append(source, subject, payload)
		return
	}
	id, is := identify(payload)
	r.follow(id, is)
	if !r.earlier[id] {
		r.current[id] = id != ""
		r.tenant.Append(source, subject, payload)
	}
}

func (r *relay) keep(t told) {
	for i, known := range r.made {
		if known.subject == t.subject {
			r.made[i] = t
			return
		}
	}
	r.made = append(r.made, t)
}

func (r *relay) follow(id string, is presence) {
	switch is {
	case there:
		r.live[id] = true
	case gone:
		delete(r.live, id)
	default:
		return
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// to gives the rig to a cell, or to none. A cell's record begins with what the
// rig is made of.
func (r *relay) to(tenant *record.History) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, is := range r.current {
		if is {
			r.earlier[id] = true
		}
	}
	clear(r.current)
	r.tenant = tenant
	for _, t := range r.made {
		r.tenant.Append(t.source, t.subject, t.payload)
	}
}

// awaitEmpty returns when there are no objects and no containers.
func (r *relay) awaitEmpty(ctx context.Context) error {
	for {
		r.mu.Lock()
		left, changed := len(r.live), r.changed
		r.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%d objects or containers are left", left), ctx.Err())
		case <-changed:
		}
	}
}

// isPartOfRig reports whether a payload is about a component or a node.
func isPartOfRig(payload record.Payload) bool {
	switch p := payload.(type) {
	case cluster.ComponentStarted, cluster.ComponentStopped:
		return true
	case cluster.ObjectObserved:
		return p.Resource == "nodes"
	default:
		return false
	}
}

// presence is whether something is there, by what a payload says of it.
type presence int

const (
	unsaid presence = iota
	there
	gone
)

// identify returns what a payload is about, for good: the UID of an object, or
// of the one that an Event is about, or the id of a sandbox or a container.
func identify(payload record.Payload) (string, presence) {
	switch p := payload.(type) {
	case cluster.ObjectObserved:
		return identifyObject(p)
	case runtime.SandboxStarted:
		return p.ID, unsaid
	case runtime.SandboxStopped:
		return p.ID, unsaid
	case runtime.ContainerCreated:
		return p.ID, unsaid
	case runtime.ContainerStarted:
		return p.ID, there
	case runtime.ContainerExited:
		return p.ID, gone
	case runtime.Exec:
		return p.ID, unsaid
	default:
		return "", unsaid
	}
}

func identifyObject(p cluster.ObjectObserved) (string, presence) {
	var o struct {
		Metadata       struct{ UID string }
		InvolvedObject struct{ UID string }
	}
	if err := json.Unmarshal(p.Object, &o); err != nil {
		return "", unsaid
	}
	switch {
	case p.Resource == "events":
		return o.InvolvedObject.UID, unsaid
	case p.Change == "deleted":
		return o.Metadata.UID, gone
	default:
		return o.Metadata.UID, there
	}
}
