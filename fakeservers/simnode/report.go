package simnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// line is the way to the API server for one pod's matters: one call at a time, and
// a wait after one that failed.
type line struct {
	busy bool
	backoff
}

// settling is how long it may take until the watch shows what was written.
const settling = firstWait

// call calls the API server if the line is free. Once the call has succeeded, then
// is called by run, and the line is left to rest.
func (n *Node) call(ctx context.Context, l *line, rest time.Duration, do func(context.Context) (then func(), err error)) {
	if l.busy || time.Now().Before(l.until) {
		return
	}
	l.busy = true
	n.work.Go(func() {
		calling, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		then, err := do(calling)
		n.tell(ctx, func() {
			l.busy = false
			if err != nil {
				l.fail(time.Now())
				return
			}
			l.backoff = backoff{until: time.Now().Add(rest)}
			then()
		})
	})
}

// told is what the API server was told of a pod.
type told struct {
	object *corev1.Pod      // as it was when it was looked at last
	uid    types.UID        // of what was told of
	said   corev1.PodStatus // by the node
	kept   corev1.PodStatus // by the API server, which may know less of a status
}

// owes reports whether the API server has to be told of a status.
func (t *told) owes(object *corev1.Pod, now corev1.PodStatus) bool {
	if object != t.object && !equality.Semantic.DeepEqual(object.Status, t.kept) {
		t.uid = "" // somebody else said something, or it is an old version
	}
	t.object = object
	if t.uid == object.UID {
		return !equality.Semantic.DeepEqual(t.said, now)
	}
	return !equality.Semantic.DeepEqual(object.Status, now)
}

// report tells the API server what it has to know of a pod next.
func (n *Node) report(ctx context.Context, p *pod) {
	if n.client == nil || !n.ready || p.orphan || n.waits(p) {
		return
	}
	object := p.object
	if p.static {
		object = n.mirrors[key(p.object)]
		if !mirrors(object, p.object) {
			n.mirror(ctx, p, object)
			return
		}
	}
	switch {
	case p.gone && !p.static: // there is nothing to say it of
	case p.told.owes(object, p.status):
		now := p.status
		n.call(ctx, &p.line, 0, func(ctx context.Context) (func(), error) {
			kept, err := n.setStatus(ctx, object, now)
			return func() { p.told = told{object, object.UID, now, kept} }, err
		})
	case object.DeletionTimestamp != nil && n.down(p):
		n.delete(ctx, &p.line, object, longestWait) // longer, if others hold on to it
	}
}

// mirror replaces the mirror pod of a static pod. It is deleted first, if it is of
// another, or somebody wants it deleted.
func (n *Node) mirror(ctx context.Context, p *pod, wrong *corev1.Pod) {
	switch {
	case p.gone || n.uid == "":
	case wrong != nil:
		n.delete(ctx, &p.line, wrong, settling)
	default:
		m := mirrorOf(p.object, n.cfg.Name, n.uid)
		n.call(ctx, &p.line, settling, func(ctx context.Context) (func(), error) {
			_, err := n.client.CoreV1().Pods(m.Namespace).Create(ctx, m, metav1.CreateOptions{})
			return func() {}, err
		})
	}
}

// dropMirrors deletes the mirror pods of static pods that are no more.
func (n *Node) dropMirrors(ctx context.Context) {
	if n.client == nil || !n.ready {
		return
	}
	had := make(map[string]bool)
	for _, p := range n.pods {
		had[key(p.object)] = had[key(p.object)] || p.static
	}
	for name, m := range n.mirrors {
		if had[name] {
			continue
		}
		if n.lines[name] == nil {
			n.lines[name] = &line{}
		}
		n.delete(ctx, n.lines[name], m, settling)
	}
}

// delete deletes an object for good, and no other of its name.
func (n *Node) delete(ctx context.Context, l *line, object *corev1.Pod, rest time.Duration) {
	n.call(ctx, l, rest, func(ctx context.Context) (func(), error) {
		none := int64(0)
		err := n.client.CoreV1().Pods(object.Namespace).Delete(ctx, object.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &none, Preconditions: &metav1.Preconditions{UID: &object.UID},
		})
		if apierrors.IsNotFound(err) {
			err = nil // the watch will say so, too
		}
		return func() {}, err
	})
}

// setStatus writes a pod's status, and returns it as the API server has it.
func (n *Node) setStatus(ctx context.Context, object *corev1.Pod, now corev1.PodStatus) (kept corev1.PodStatus, err error) {
	pods := n.client.CoreV1().Pods(object.Namespace)
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := pods.Get(ctx, object.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if current.UID != object.UID {
			return fmt.Errorf("pod %s is another one by now", key(object))
		}
		current.Status = merged(now, current.Status)
		current, err = pods.UpdateStatus(ctx, current, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		kept = current.Status
		return nil
	})
	return kept, err
}
