package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/reports"
)

// swept are the objects that are taken away when a cell leaves its rig to another
// one: owners before what they own.
var swept = []struct {
	kind string
	schema.GroupVersionResource
}{
	{"Deployment", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}},
	{"DaemonSet", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}},
	{"StatefulSet", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}},
	{"ReplicaSet", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}},
	{"Pod", schema.GroupVersionResource{Version: "v1", Resource: "pods"}},
}

// isSwept reports whether objects of a kind, or of a resource, are.
func isSwept(kindOrResource string) bool {
	for _, s := range swept {
		if kindOrResource == s.kind || kindOrResource == s.Resource {
			return true
		}
	}
	return false
}

// sweepLimit is how long it may take until nothing of a cell is left.
const sweepLimit = 30 * time.Second

// sharedRig is a rig that the cells of a group have one after the other. A cell
// sees nothing of an earlier one: when it begins, there are no objects and no
// containers, and what is still said of earlier ones does not get into its
// record. What it may notice is that an image is there already.
type sharedRig struct {
	more    bool // another cell of the group comes after this one
	cluster *Rig
	relay   *relay
	// last is the cell that had the rig last, and logs where its components
	// write.
	last, logs string
}

// enter gives a cell its rig: that of the cell before, if there is one.
func (t *sharedRig) enter(ctx context.Context, e *Engine, r *run, dir string) error {
	if t.cluster != nil {
		r.Rig = t.cluster
		t.relay.to(r.history)
		r.history.Append("engine", "", record.RigReused{After: t.last})
		t.last = r.cell.ID
		return errors.Join(t.cluster.SetPurpose(r.cell.ID), linkLogs(t.logs, dir))
	}
	if err := e.built(ctx, r.cell); err != nil {
		return err
	}
	library, err := Library(ctx, r.cell.Images, e.Binary)
	if err != nil {
		return err
	}
	t.relay, t.last, t.logs = newRelay(r.history), r.cell.ID, filepath.Join(dir, reports.LogsDir)
	config := ClusterConfig(r.cell.Topology, library, t.relay)
	config.Binary, config.TempDir, config.LogDir = e.Binary, e.TempDir, t.logs
	config.Purpose, config.ReportDir = r.cell.ID, e.Dir
	ctx, cancel := r.machine.withTimeout(ctx, startLimit, fmt.Errorf("not up within %s", startLimit))
	defer cancel()
	if r.Rig, err = Start(ctx, r.cell.Topology, config); err != nil {
		return fmt.Errorf("starting the rig: %w", err)
	}
	t.cluster = r.Rig
	return nil
}

// linkLogs has a cell's logs point to those of the rig's first cell.
func linkLogs(logs, dir string) error {
	target, err := filepath.Rel(dir, logs)
	if err != nil {
		return err
	}
	return os.Symlink(target, filepath.Join(dir, reports.LogsDir))
}

// leave takes the rig from a cell. It ends with the last one, with one that
// failed on it, and with one of which something stays behind.
func (t *sharedRig) leave(ctx context.Context, r *run, failed error) error {
	if failed != nil || !t.more || t.cluster == nil {
		return t.end()
	}
	t.relay.to(nil)
	err := t.sweep(ctx, r)
	if t.cluster.Context().Err() != nil {
		return errors.Join(context.Cause(t.cluster.Context()), t.end()) // it was this cell's
	}
	if err != nil {
		r.history.Append("engine", "", record.RigNotReused{Reason: err.Error()})
		return t.end()
	}
	return nil
}

// end ends the rig, if there is one.
func (t *sharedRig) end() error {
	if t.cluster == nil {
		return nil
	}
	err := t.cluster.Close()
	t.cluster = nil
	return err
}

// sweep deletes what a cell has created, and returns when it is gone. What
// controllers make meanwhile is deleted in another round.
func (t *sharedRig) sweep(ctx context.Context, r *run) error {
	ctx, unbind := t.cluster.Bind(ctx)
	defer unbind()
	ctx, cancel := r.machine.withTimeout(ctx, sweepLimit, fmt.Errorf("not gone after %s", sweepLimit))
	defer cancel()
	for {
		t.relay.sweepBegins()
		found, err := t.deleteAll(ctx, r.objects[""].client)
		if err != nil {
			return err
		}
		if empty, err := t.relay.awaitEmpty(ctx); err != nil || empty && found == 0 {
			return err
		}
	}
}

// deleteAll deletes all objects that cells create, and says how many there were.
func (t *sharedRig) deleteAll(ctx context.Context, client dynamic.Interface) (found int, err error) {
	soon, background := int64(1), metav1.DeletePropagationBackground
	for _, s := range swept {
		client := client.Resource(s.GroupVersionResource)
		list, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return found, err
		}
		for _, o := range list.Items {
			found++
			t.relay.expect(string(o.GetUID()))
			err := client.Namespace(o.GetNamespace()).Delete(ctx, o.GetName(),
				metav1.DeleteOptions{GracePeriodSeconds: &soon, PropagationPolicy: &background})
			if err != nil && !apierrors.IsNotFound(err) {
				return found, err
			}
		}
	}
	return found, nil
}
