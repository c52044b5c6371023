package rig

import (
	"fmt"
	"slices"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// ClusterConfig is the configuration of the rig that a topology describes, with
// the fake container runtime on each node.
func ClusterConfig(t record.Topology, library image.Library, recorder record.Recorder) cluster.Config {
	config := cluster.Config{
		Topology: t,
		Recorder: recorder,
		Runtime: func(info cluster.NodeInfo) (cluster.Runtime, error) {
			if info.Runtime != "" {
				return nil, fmt.Errorf("node %s has %s, but no images were made for real containers", info.Name, info.Runtime)
			}
			return runtime.Start(runtime.Config{
				Socket: info.Socket, Node: info.Name, PodCIDR: info.Addresses, Handlers: info.Handlers.Names, Shuffled: info.Handlers.Shuffled,
				Library: library, Recorder: recorder, Kept: info.Output, Volumes: info.Volumes, Logs: info.Logs, HostRoot: info.HostRoot, Network: info.Network, Reported: info.Reported,
			})
		},
	}
	for _, l := range t.Links {
		if (l.To == spec.APIServer || l.To == spec.Etcd) && l.From != spec.Watchdog {
			config.Links = append(config.Links, cluster.Link{From: l.From, HTTP: slices.Contains(t.Inspected, l.From)})
		}
	}
	config.Via = make(map[string][]string)
	if t.LeaseNodes != nil {
		config.Clients, config.Via[spec.LeasingNodes] = []string{spec.LeasingNodes}, t.LeaseNodes.Via
	}
	if t.Garden != nil {
		// The watchdog's requests are always recorded.
		config.Clients, config.Via[spec.Watchdog] = append(config.Clients, spec.Watchdog), t.Garden.Via
		config.Links = append(config.Links, cluster.Link{From: spec.Watchdog, HTTP: true})
	}
	return config
}

// ClusterConfigs is ClusterConfig of any topology, with what containers run.
func ClusterConfigs(library image.Library) func(record.Topology, record.Recorder) cluster.Config {
	return func(t record.Topology, r record.Recorder) cluster.Config { return ClusterConfig(t, library, r) }
}
