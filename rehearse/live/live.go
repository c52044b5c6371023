// Package live reads the objects of a cluster for a rehearsal. It asks the API server what it serves, and lists that: it
// writes nothing, and it reads no Secret and no ConfigMap unless it is to.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/rehearse/manifest"
)

// Reader reads a cluster.
type Reader struct {
	asks  discovery.DiscoveryInterface
	lists dynamic.Interface
	// WithData has Secrets and ConfigMaps read, with their data. If unset, they are not.
	WithData bool

	// again is how a page is asked for again.
	again wait.Backoff
}

// requestsPerSecond is how many requests it makes at most: a cluster has other users.
const requestsPerSecond = 20

// New returns a reader of a cluster.
func New(config *rest.Config) (Reader, error) {
	config = rest.CopyConfig(config)
	config.UserAgent, config.QPS, config.Burst = "skewrig rehearse (read only)", requestsPerSecond, requestsPerSecond
	config.WarningHandler = rest.NoWarnings{}
	asks, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return Reader{}, fmt.Errorf("using the kubeconfig: %w", err)
	}
	lists, err := dynamic.NewForConfig(config)
	if err != nil {
		return Reader{}, fmt.Errorf("using the kubeconfig: %w", err)
	}
	return Reader{asks: asks, lists: lists, again: patience}, nil
}

// ofData are the resources that have data of users.
var ofData = map[string]bool{"secrets": true, "configmaps": true}

// Write writes the objects of the cluster as YAML, and returns the resources that it did not read. Objects that a control
// plane writes are left out. A list that breaks off is continued. The error is one of all of the cluster: it does not answer,
// or lets nothing be read.
func (r Reader) Write(ctx context.Context, to io.Writer) (unread []manifest.Problem, _ error) {
	resources, unread, err := r.resources()
	if err != nil {
		return nil, err
	}
	read := 0
	for _, l := range resources {
		if ofData[l.String()] && !r.WithData {
			unread = append(unread, manifest.Problem{Object: l.String(), Why: "not read without --with-data, since they have users' data", Harmless: true})
			continue
		}
		err := r.list(ctx, l, to)
		failed, isWriting := errors.AsType[*writeError](err)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case isWriting:
			return nil, failed.err
		case err != nil:
			unread = append(unread, manifest.Problem{Object: l.String(), Why: err.Error()})
			continue
		}
		read++
	}
	if read == 0 {
		return unread, fmt.Errorf("the cluster lets nothing be listed: %w", joined(unread))
	}
	return unread, nil
}

// joined are the first reasons.
func joined(unread []manifest.Problem) error {
	var all []error
	for _, u := range unread[:min(len(unread), 3)] {
		all = append(all, fmt.Errorf("%s: %s", u.Object, u.Why))
	}
	return errors.Join(all...)
}

// listed is a resource, and the kind of its objects.
type listed struct {
	schema.GroupVersionResource
	kind string
}

// String is "deployments.apps".
func (l listed) String() string { return l.GroupResource().String() }

// resources are those that can be listed and that clients write, each in the version that the cluster prefers, and the groups
// of which no server answers.
func (r Reader) resources() (all []listed, unread []manifest.Problem, _ error) {
	groups, err := r.asks.ServerPreferredResources()
	if failed, is := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err); is {
		for _, gv := range slices.SortedFunc(maps.Keys(failed.Groups), func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }) {
			unread = append(unread, manifest.Problem{Object: gv.String(), Why: failed.Groups[gv].Error()})
		}
	} else if err != nil {
		return nil, nil, fmt.Errorf("asking the cluster what it serves: %w", err)
	}
	for _, group := range groups {
		gv, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range group.APIResources {
			kind := schema.GroupKind{Group: cmp.Or(resource.Group, gv.Group), Kind: resource.Kind}
			if canBeRead(resource) && !manifest.IsOfControlPlane(kind.String()) {
				all = append(all, listed{gv.WithResource(resource.Name), resource.Kind})
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(a.String(), b.String()) })
	return slices.CompactFunc(all, func(a, b listed) bool { return a.String() == b.String() }), unread, nil
}

// canBeRead reports whether objects of a resource are stored, and may be listed.
func canBeRead(resource metav1.APIResource) bool {
	return slices.Contains(resource.Verbs, "list") && slices.Contains(resource.Verbs, "create")
}

// page is how many objects are asked for at once.
const page = 500

// patience is about half a minute.
var patience = wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: 5}

// writeError is an error of the writer, not of the cluster.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

// list writes the objects of a resource.
func (r Reader) list(ctx context.Context, l listed, to io.Writer) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return r.page(ctx, l, options)
	})
	pages.PageSize = page
	return pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		object, is := o.(*unstructured.Unstructured)
		if !is {
			return fmt.Errorf("%s has an item that is no object", l)
		}
		return writeObject(to, l, object.Object)
	})
}

// page asks for a page. One that can't be had for a while is asked for again, and if the list became too old, the rest is as it
// is now.
func (r Reader) page(ctx context.Context, l listed, options metav1.ListOptions) (list *unstructured.UnstructuredList, err error) {
	waiting := wait.ExponentialBackoffWithContext(ctx, r.again, func(ctx context.Context) (bool, error) {
		list, err = r.lists.Resource(l.GroupVersionResource).List(ctx, options)
		if rest := restOf(err); rest != "" && rest != options.Continue {
			options.Continue = rest
			return false, nil
		}
		if err != nil && isPassing(err) {
			return false, nil
		}
		return true, err
	})
	return list, cmp.Or(err, waiting)
}

// restOf is the continuation of a list that became too old, as the API server names it. It is empty for other errors.
func restOf(err error) string {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || !apierrors.IsResourceExpired(err) {
		return ""
	}
	return status.Status().Continue
}

// isPassing reports whether an error may be gone after a while.
func isPassing(err error) bool {
	return net.IsConnectionRefused(err) || net.IsConnectionReset(err) || net.IsProbableEOF(err) || net.IsTimeout(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err)
}

// writeObject writes an object as a document. Who wrote its fields is left out.
func writeObject(to io.Writer, l listed, object map[string]any) error {
	if object["kind"] == nil { // items of a list may lack it
		object["apiVersion"], object["kind"] = l.GroupVersion().String(), l.kind
	}
	if metadata, is := object["metadata"].(map[string]any); is {
		delete(metadata, "managedFields")
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "---\n%s", text); err != nil {
		return &writeError{err}
	}
	return nil
}
