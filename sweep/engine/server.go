package engine

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/skewrig/skewrig/harness/apitypes"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/sweep/trial"
)

// server asks an API server whether it would take objects.
type server struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newServer(config *rest.Config) (*server, error) {
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &server{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))}, nil
}

// served are the resources that an API server serves, in any version, sorted.
func served(config *rest.Config) (all []string, _ error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return nil, fmt.Errorf("asking an API server what it serves: %w", err)
	}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			all = append(all, resource.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Try implements object.Server. To ask for a status, the object itself is stored once.
func (s *server) Try(ctx context.Context, kind apitypes.Kind, asked map[string]any, status bool) (map[string]any, error) {
	resource, err := s.resource(kind)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: asked}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	if status {
		options.DryRun = nil
		object.SetName(object.GetName() + "-stored")
	}
	stored, err := resource.Create(ctx, object, options)
	switch {
	case status && apierrors.IsAlreadyExists(err):
		stored, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	case err == nil && !status:
		return stored.Object, nil
	}
	if err != nil {
		return nil, err
	}
	stored.Object["status"] = asked["status"]
	stored, err = resource.UpdateStatus(ctx, stored, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return nil, err
	}
	return stored.Object, nil
}

func (s *server) resource(kind apitypes.Kind) (dynamic.ResourceInterface, error) {
	mapping, err := s.mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Name}, kind.Version)
	if err != nil {
		return nil, err
	}
	if kind.Namespaced {
		return s.client.Resource(mapping.Resource).Namespace(namespace), nil
	}
	return s.client.Resource(mapping.Resource), nil
}

// plural is a kind as a resource.
func (s *server) plural(kind apitypes.Kind) string {
	mapping, err := s.mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Name}, kind.Version)
	if err != nil {
		return "" // nothing of it was reached
	}
	return mapping.Resource.Resource
}

// makeNode makes a node without a kubelet, for DaemonSets.
func makeNode(ctx context.Context, c *cluster.Cluster) error {
	_, err := c.Client().CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: trial.Node}}, metav1.CreateOptions{})
	return err
}

// namespace is where objects are made. Some fields are only for namespaces with its label.
const namespace = "sweep"

// makeNamespace makes it, with what an API server asks of one that has pods.
func makeNamespace(ctx context.Context, c *cluster.Cluster) error {
	if err := c.EnsureNamespace(ctx, namespace); err != nil {
		return err
	}
	label := fmt.Sprintf(`{"metadata": {"labels": {%q: "true"}}}`, resourcev1.DRAAdminNamespaceLabelKey)
	_, err := c.Client().CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, []byte(label), metav1.PatchOptions{})
	return err
}
