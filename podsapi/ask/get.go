package ask

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/podsapi/client"
	"github.com/skewrig/skewrig/podsapi/mask"
)

// likeUID matches the UIDs that API servers give, and those that kubelets give to
// static pods, which have no dashes.
var likeUID = regexp.MustCompile(`^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// Get returns a pod by its UID, by namespace/name, or by its name, if only one has
// it. What is no UID is looked for in a list first. The error is an *Error where it
// is known what to do.
func (n *Node) Get(ctx context.Context, which string) (*corev1.Pod, error) {
	uid := which
	if !likeUID.MatchString(which) {
		found, err := n.find(ctx, which)
		if err != nil {
			return nil, err
		}
		uid = found
	}
	pods, err := n.ask(ctx, client.Request{Method: client.GetPod, UID: uid, Fields: n.fields}, n.keep)
	if err != nil {
		return nil, err
	}
	return pods[0], nil
}

// find returns the UID of the pod with a name.
func (n *Node) find(ctx context.Context, which string) (uid string, err error) {
	fields, ignored := identity.String(), n.ignored
	pods, err := n.ask(ctx, client.Request{Method: client.ListPods, Fields: fields}, mask.Mask{})
	n.ignored = ignored // what this list had doesn't count
	if err != nil {
		return "", err
	}
	var uids, names []string
	for _, p := range pods {
		full := p.Namespace + "/" + p.Name
		if which == full || which == p.Name || which == string(p.UID) {
			uids, names = append(uids, string(p.UID)), append(names, full)
		}
	}
	switch len(uids) {
	case 0:
		return "", &Error{
			Problem: fmt.Sprintf("there is no pod %q among the %d of this node", which, len(pods)),
			Advice:  "give a UID, namespace/name or name as `skewrig podsapi list` shows them",
		}
	case 1:
		return uids[0], nil
	}
	return "", &Error{
		Problem: fmt.Sprintf("%q is the name of %d pods: %s", which, len(uids), strings.Join(names, ", ")),
		Advice:  "give namespace/name, or the UID",
	}
}
