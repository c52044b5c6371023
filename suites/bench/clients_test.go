package bench

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/typedclient"
	"github.com/skewrig/skewrig/record"
)

// updates is how often a client reads and writes in one measurement.
const updates = 200

// BenchmarkTypedClient measures how often a client of the previous release reads and writes a
// ConfigMap, its start included.
func BenchmarkTypedClient(b *testing.B) {
	builder := built(b)
	program, err := builder.Binary(b.Context(), build.Target{Component: build.TypedClient, Version: release.Previous})
	if err != nil {
		b.Fatal(err)
	}
	c, err := cluster.New(b.Context(), configOf(b, builder, record.Topology{Version: release.Newest}))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"mode": "fast"}}
	if _, err := c.Client().CoreV1().ConfigMaps("default").Create(b.Context(), settings, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	for name, media := range map[string]string{"json": typedclient.JSON, "protobuf": typedclient.Protobuf} {
		b.Run("encoding="+name, func(b *testing.B) {
			for b.Loop() {
				answer, err := typedclient.Update{
					Kubeconfig: c.Kubeconfig(), MediaType: media, Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespace: "default", Name: "settings", Times: updates,
				}.Do(b.Context(), program.Path)
				if err != nil || answer.Codes["200"] != updates {
					b.Fatalf("%+v, %v", answer, err)
				}
			}
			b.ReportMetric(float64(updates*b.N)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}
