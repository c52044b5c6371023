package engine

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/scenarios/ask"
	"github.com/skewrig/skewrig/scenarios/law"
)

// client asks an API server as owners of objects do. others asks each API server, by its name.
type client struct {
	dynamic.Interface

	mapper meta.RESTMapper
	others map[string]dynamic.Interface
}

func newClient(c *cluster.Cluster) (*client, error) {
	config := asking(c.RESTConfig())
	own, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	all := &client{own, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found)), make(map[string]dynamic.Interface)}
	for _, server := range []string{serverA, serverB} {
		config, err := c.Endpoint(server)
		if err != nil {
			return nil, err
		}
		if all.others[server], err = dynamic.NewForConfig(asking(config)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// asking is a configuration without a limit, whose warnings are those of the request's context.
func asking(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandlerWithContext = heeding{}
	return config
}

// heeding passes the warnings of an answer on to who asked.
type heeding struct{}

type warningsKey struct{}

// warnings are those of the answers to one request.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// heed is a context whose requests leave their warnings.
func heed(ctx context.Context) (context.Context, *warnings) {
	w := new(warnings)
	return context.WithValue(ctx, warningsKey{}, w), w
}

var _ rest.WarningHandlerWithContext = heeding{}

func (heeding) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	w, is := ctx.Value(warningsKey{}).(*warnings)
	if !is {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.all, text) {
		w.all = append(w.all, text)
	}
}

// resource is where an object is, or is to be. It completes the namespace of the reference: an object that is in none has none,
// and another one without a namespace is in the default one.
func (c *client) resource(of *rehearse.Ref) (dynamic.ResourceInterface, *meta.RESTMapping, error) {
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return nil, nil, err
	}
	mapping, err := c.mapper.RESTMapping(gv.WithKind(of.Kind).GroupKind(), gv.Version)
	if err != nil {
		return nil, nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		of.Namespace = ""
		return c.Resource(mapping.Resource), mapping, nil
	}
	of.Namespace = cmp.Or(of.Namespace, metav1.NamespaceDefault)
	return c.Resource(mapping.Resource).Namespace(of.Namespace), mapping, nil
}

// do does what an owner asks for.
func (c *client) do(ctx context.Context, of rehearse.Ref, r law.Request) error {
	resource, _, err := c.resource(&of)
	if err != nil {
		return err
	}
	return ask.Do(ctx, resource, of.Name, r, ask.Options{Manager: rehearse.Owner, Force: true})
}
