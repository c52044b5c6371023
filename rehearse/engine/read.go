package engine

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
	"github.com/skewrig/skewrig/scenarios/law"
)

// read reads all items as each API server shows them.
func (s *side) read(ctx context.Context, seen *rehearse.StageSeen) error {
	seen.Objects, seen.Unread = make(map[string]map[string]any), make(map[string]string)
	places := s.places()
	for _, server := range []string{serverB, serverA} { // clients ask a: what it shows counts
		client := s.client.others[server]
		for _, in := range places {
			if err := s.readAll(ctx, client, in, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// listed is where items are: objects of a resource in a namespace.
type listed struct {
	gvr       schema.GroupVersionResource
	namespace string
	items     []rehearse.Item
}

// places are where the items are.
func (s *side) places() []*listed {
	var all []*listed
	at := make(map[schema.GroupVersionResource]map[string]*listed)
	for _, i := range s.items {
		_, mapping, err := s.client.resource(&i.Ref)
		if err != nil {
			continue // its kind is gone: nothing is seen of it
		}
		if at[mapping.Resource] == nil {
			at[mapping.Resource] = make(map[string]*listed)
		}
		l := at[mapping.Resource][i.Namespace]
		if l == nil {
			l = &listed{gvr: mapping.Resource, namespace: i.Namespace}
			at[mapping.Resource][i.Namespace] = l
			all = append(all, l)
		}
		l.items = append(l.items, i)
	}
	return all
}

// readAll reads the items of one place with a list. If that fails, it reads each alone. An API server that can't convert what is
// stored has clients repeat a list for minutes: so a list has a limit.
func (s *side) readAll(ctx context.Context, client dynamic.Interface, in *listed, seen *rehearse.StageSeen) error {
	resource := dynamic.ResourceInterface(client.Resource(in.gvr))
	if in.namespace != "" {
		resource = client.Resource(in.gvr).Namespace(in.namespace)
	}
	found := make(map[string]map[string]any)
	said, err := ask.Until(ctx, law.Asks, func() error {
		ctx, cancel := context.WithTimeout(ctx, ask.Limit)
		defer cancel()
		list, err := resource.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range list.Items {
			found[o.GetName()] = o.Object
		}
		return nil
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fails := err != nil || said.Text != "" && said.Code != http.StatusNotFound
	for _, i := range in.items {
		object := found[i.Name]
		if fails {
			one, failed := resource.Get(ctx, i.Name, metav1.GetOptions{})
			switch {
			case failed == nil:
				object = one.Object
			case !apierrors.IsNotFound(failed):
				seen.Unread[i.Key] = failed.Error()
			}
		}
		if object != nil {
			seen.Objects[i.Key] = shown(object)
		} else {
			delete(seen.Objects, i.Key)
		}
	}
	return nil
}

// shown is an object without who wrote it, and without the data of a Secret.
func shown(object map[string]any) map[string]any {
	if metadata, is := object["metadata"].(map[string]any); is {
		delete(metadata, "managedFields")
	}
	if object["apiVersion"] == "v1" && object["kind"] == "Secret" {
		delete(object, "data")
	}
	return object
}
