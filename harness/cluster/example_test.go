package cluster_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// A rig with a node of an older release, as a test of one's own would use it.
func Example() {
	ctx := context.Background()
	images, err := image.NewCatalog(agnhost.Entries()...)
	if err != nil {
		log.Fatal(err)
	}
	rig, err := cluster.New(ctx, cluster.Config{
		Topology: record.Topology{
			Version:           release.Newest,
			Gates:             release.Gates{"GRPCContainerProbeTLS": true},
			ControllerManager: true,
			Scheduler:         true,
			Nodes:             []record.Node{{Name: "node-a", Version: release.Previous}},
		},
		Binary: new(build.Builder).Binary,
		Runtime: func(node cluster.NodeInfo) (cluster.Runtime, error) {
			return runtime.Start(runtime.Config{
				Socket: node.Socket, Node: node.Name, PodCIDR: node.Addresses, Library: images,
			})
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer rig.Close()

	nodes, err := rig.Client().CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, node := range nodes.Items {
		fmt.Println(node.Name, node.Status.NodeInfo.KubeletVersion)
	}
	// A kubelet of another release on the same data; its containers live on.
	if err := rig.Restart(ctx, "kubelet/node-a", cluster.Change{Version: release.Newest}); err != nil {
		log.Fatal(err)
	}
}
