package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/skewrig/skewrig/fakeservers/podsapi"
	"github.com/skewrig/skewrig/fakeservers/simnode"
	"github.com/skewrig/skewrig/harness/cluster"
	client "github.com/skewrig/skewrig/harness/podsapi"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// reference is a node without a kubelet: what runs pods, and what serves them.
type reference struct {
	node   *simnode.Node
	server *podsapi.Server
	off    bool // the gate
}

// standIn starts what runs on a node in place of a kubelet.
func standIn(ctx context.Context, info cluster.StandInInfo) (_ cluster.StandIn, err error) {
	on, set := info.Gates[spec.ReferenceGate]
	r := &reference{off: set && !on}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	// With the gate off, the socket answers all the same: KEP-4188 has the API
	// return the appropriate error code then.
	r.server, err = podsapi.Listen(podsapi.Config{Socket: filepath.Join(info.Root, client.ProposedPlace), Disabled: r.off})
	if err != nil {
		return nil, err
	}
	r.node, err = simnode.Start(ctx, simnode.Config{
		Name: info.Name, Address: info.Address, Client: info.Client,
		Runtime: info.Runtime, StaticPods: info.StaticPods, Pods: logged{r.server, info.Log},
	})
	if err != nil {
		return nil, err
	}
	if !r.off {
		_, err = fmt.Fprintf(info.Log, "%s Serving the Pods API at %s\n", time.Now().Format(time.RFC3339Nano), r.server.Socket())
	}
	return r, err
}

func (r *reference) Close() error {
	var failures []error
	if r.server != nil {
		failures = append(failures, r.server.Close())
	}
	if r.node != nil {
		failures = append(failures, r.node.Close())
	}
	return errors.Join(failures...)
}

// WriteMetrics implements cluster.StandIn. As a component does, it tells which
// gates are on: the one that KEP-4188 names.
func (r *reference) WriteMetrics(w io.Writer) error {
	on := 1
	if r.off {
		on = 0
	}
	_, err := fmt.Fprintf(w, "# TYPE kubernetes_feature_enabled gauge\nkubernetes_feature_enabled{name=\"PodInfoAPI\",stage=\"ALPHA\"} %d\n", on)
	return errors.Join(err, r.server.WriteMetrics(w))
}

// logged is a server of pods that says what it could not show.
type logged struct {
	*podsapi.Server
	log io.Writer
}

// Set implements simnode.Pods.
func (l logged) Set(pods ...*corev1.Pod) {
	if err := l.Server.Set(pods...); err != nil {
		fmt.Fprintf(l.log, "%s %v\n", time.Now().Format(time.RFC3339Nano), err)
	}
}

// Remove implements simnode.Pods.
func (l logged) Remove(uids ...types.UID) { l.Server.Remove(uids...) }
