// Package ask queries the Pods API of a node for a person at a terminal: pods are
// found by their names, field masks hold whether or not the server knows them, and
// errors say what to do. It writes pods and events as users of kubectl expect them: as a
// table, as YAML or as JSON.
package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/podsapi/mask"
	"github.com/skewrig/skewrig/record"
)

// patience is how long a list or a get may take.
const patience = 30 * time.Second

// Node is the Pods API of a node.
type Node struct {
	socket string
	client *client.Client
	// fields is the mask as it is sent, keep what it keeps.
	fields string
	keep   mask.Mask
	// ignored is set once the server sent what the mask leaves out.
	ignored bool
}

// Open returns the node behind a socket, which is asked for the fields of a mask,
// or for all if it is empty. The error says what is wrong with the mask; the socket
// is not looked at before there is something to ask.
func Open(socket, fields string) (*Node, error) {
	keep, err := mask.Parse(fields)
	if err != nil {
		return nil, fmt.Errorf("the field mask: %w", err)
	}
	client, err := client.Dial(socket)
	if err != nil {
		return nil, err
	}
	return &Node{socket: socket, client: client, fields: fields, keep: keep}, nil
}

// Close ends the connection.
func (n *Node) Close() error { return n.client.Close() }

// MaskIgnored reports whether the server sent more than the mask has, which
// released kubelets do: they have no masks. It was left out here.
func (n *Node) MaskIgnored() bool { return n.ignored }

// List returns the pods of the node in the order of the server. The error is an
// *Error where it is known what to do.
func (n *Node) List(ctx context.Context) ([]*corev1.Pod, error) {
	return n.ask(ctx, client.Request{Method: client.ListPods, Fields: n.fields}, n.keep)
}

func (n *Node) ask(ctx context.Context, r client.Request, keep mask.Mask) ([]*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wires, err := n.client.Raw(ctx, r)
	if err != nil {
		return nil, explain(ctx, n.socket, r, err)
	}
	pods := make([]*corev1.Pod, len(wires))
	for i, wire := range wires {
		if pods[i], err = n.decode(wire, keep); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

// Event is an event of a watch.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED or INITIAL_SYNC_COMPLETE.
	Type string
	// Pod is nil if the event came without one.
	Pod *corev1.Pod
}

// Watch calls handle with each event until the context ends, which is no error, or
// the watch does, or handle returns an error. The error is an *Error where it is
// known what to do.
func (n *Node) Watch(ctx context.Context, handle func(Event) error) error {
	var refused error // by handle, or by the decoder: not the server's
	began := false
	err := n.client.RawWatch(ctx, n.fields, func(kind string, wire []byte) error {
		e := Event{Type: kind}
		began = true
		if len(wire) > 0 {
			if e.Pod, refused = n.decode(wire, n.keepOf(kind)); refused != nil {
				return refused
			}
		}
		refused = handle(e)
		return refused
	})
	switch interrupted := ctx.Err() != nil; {
	case interrupted || refused != nil:
		return refused
	case err == nil:
		return &Error{Problem: "the server ended the watch", Advice: again}
	case began && status.Code(err) == codes.Unavailable:
		return &Error{Problem: "the watch broke off", Advice: again, Err: errors.New(status.Convert(err).Message())}
	}
	return explain(ctx, n.socket, client.Request{Method: client.WatchPods, Fields: n.fields}, err)
}

// again is the advice when a watch that was well has ended.
const again = "watch again: it begins with all pods"

// identity is what a watch shows of a deleted pod, whatever the mask.
var identity, _ = mask.Parse("metadata.namespace,metadata.name,metadata.uid")

func (n *Node) keepOf(event string) mask.Mask {
	if event == record.PodDeleted {
		return n.keep.Union(identity)
	}
	return n.keep
}

// decode decodes what the mask leaves of a pod.
func (n *Node) decode(wire []byte, keep mask.Mask) (*corev1.Pod, error) {
	kept, err := keep.Filter(nil, wire)
	if err != nil {
		return nil, unreadable(err)
	}
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(kept); err != nil {
		return nil, unreadable(err)
	}
	n.ignored = n.ignored || len(kept) != len(wire) && !same(pod, wire)
	return pod, nil
}

// same reports whether a pod is all that some bytes say. They may be longer and say
// no more: a server that masks in another way leaves empty messages.
func same(pod *corev1.Pod, wire []byte) bool {
	var whole corev1.Pod
	return whole.Unmarshal(wire) == nil && equality.Semantic.DeepEqual(*pod, whole)
}

func unreadable(err error) error {
	return &Error{Problem: "the server sent a pod that can't be read", Advice: "it may be of another version of the API", Err: err}
}
