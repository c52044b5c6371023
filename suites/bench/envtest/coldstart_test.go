// Package envtest compares how a rig starts with how envtest starts, the API server that tests
// of controllers use.
package envtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider/images"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// rounds is how often each of them is started.
const rounds = 7

// starter starts something. It returns how to connect to its API server, and what stops it.
type starter func(*testing.B, *build.Builder) (*rest.Config, func() error)

// BenchmarkColdStart measures how long etcd and kube-apiserver take, from nothing until a client
// has created a namespace: as a rig without nodes, and as envtest, which is given the same two
// programs. A rig with a node takes until that is Ready. They take turns, and the result of
// each is the median of its times.
func BenchmarkColdStart(b *testing.B) {
	log.SetLogger(logr.Discard())
	builder := new(build.Builder)
	if _, err := builder.Build(b.Context(), build.AllOf(release.Newest)); err != nil {
		b.Fatal(err)
	}
	names := []string{"of=rig", "of=envtest", "of=rig/nodes=1"}
	starters := []starter{bareRig, startEnvtest, rigWithNode}
	took := make([][]time.Duration, len(starters))
	for range rounds {
		for i, start := range starters {
			took[i] = append(took[i], measure(b, builder, start))
		}
	}
	for i, name := range names {
		b.Run(name, func(b *testing.B) { report(b, took[i]) })
	}
}

func measure(b *testing.B, builder *build.Builder, start starter) time.Duration {
	b.Helper()
	began := time.Now()
	config, stop := start(b, builder)
	createNamespace(b, config)
	took := time.Since(began)
	if err := stop(); err != nil {
		b.Fatal(err)
	}
	return took
}

func createNamespace(b *testing.B, config *rest.Config) {
	b.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "first"}}
	if _, err := client.CoreV1().Namespaces().Create(b.Context(), namespace, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
}

func bareRig(b *testing.B, builder *build.Builder) (*rest.Config, func() error) {
	b.Helper()
	return startRig(b, builder)
}

func rigWithNode(b *testing.B, builder *build.Builder) (*rest.Config, func() error) {
	b.Helper()
	return startRig(b, builder, record.Node{Name: "node-a", Version: release.Newest})
}

func startRig(b *testing.B, builder *build.Builder, nodes ...record.Node) (*rest.Config, func() error) {
	b.Helper()
	library, err := images.Library(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	config := rig.ClusterConfig(record.Topology{Version: release.Newest, Nodes: nodes}, library, nil)
	config.Binary = builder.Binary
	c, err := cluster.New(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	return c.RESTConfig(), c.Close
}

func startEnvtest(b *testing.B, builder *build.Builder) (*rest.Config, func() error) {
	b.Helper()
	// Why a program failed is in its output, which envtest shows if KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT is true.
	var environment envtest.Environment
	environment.ControlPlane.GetAPIServer().Path = path(b, builder, build.APIServer, release.Newest)
	environment.ControlPlane.Etcd = &envtest.Etcd{Path: path(b, builder, build.Etcd, release.Etcd)}
	config, err := environment.Start()
	if err != nil {
		b.Fatal(fmt.Errorf("starting envtest: %w", err))
	}
	return config, environment.Stop
}

// path is where a program is that was built already.
func path(b *testing.B, builder *build.Builder, component build.Component, version release.Version) string {
	b.Helper()
	binary, err := builder.Binary(b.Context(), build.Target{Component: component, Version: version})
	if err != nil {
		b.Fatal(err)
	}
	return binary.Path
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(0, "ns/op") // which would be how long it takes to report
	for name, at := range map[string]int{"p50-ms": len(took) / 2, "min-ms": 0, "max-ms": len(took) - 1} {
		b.ReportMetric(float64(took[at].Milliseconds()), name)
	}
}
