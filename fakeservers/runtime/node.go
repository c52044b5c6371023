package runtime

import (
	"context"
	"math/rand/v2"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// kubeletAPIVersion is the version that a kubelet insists on in the answer to
// Version. It has been this since CRI began, and does not follow the API
// (kubeRuntimeAPIVersion in k8s.io/kubernetes/pkg/kubelet/kuberuntime).
const kubeletAPIVersion = "0.1.0"

// Version names the runtime. A node's status shows it as
// "skewrig://<version>".
func (s runtimeService) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{
		Version:           kubeletAPIVersion,
		RuntimeName:       "skewrig",
		RuntimeVersion:    "0.1.0",
		RuntimeApiVersion: "v1",
	}, nil
}

// Status reports the runtime and its network as ready. Its runtime handlers have none of
// the optional features: a pod that needs one is turned away by the kubelet instead of run
// without it.
func (s runtimeService) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	return &cri.StatusResponse{
		Status: &cri.RuntimeStatus{Conditions: []*cri.RuntimeCondition{
			{Type: cri.RuntimeReady, Status: true},
			{Type: cri.NetworkReady, Status: true},
		}},
		RuntimeHandlers: s.handlers(),
		Features:        &cri.RuntimeFeatures{},
	}, nil
}

func (r *Runtime) handlers() []*cri.RuntimeHandler {
	all := []*cri.RuntimeHandler{{Features: &cri.RuntimeHandlerFeatures{}}}
	for _, name := range r.config.Handlers {
		all = append(all, &cri.RuntimeHandler{Name: name, Features: &cri.RuntimeHandlerFeatures{}})
	}
	if r.config.Shuffled {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all
}

// RuntimeConfig names the cgroup driver. There are no cgroups; this driver asks
// nothing of the machine.
func (s runtimeService) RuntimeConfig(context.Context, *cri.RuntimeConfigRequest) (*cri.RuntimeConfigResponse, error) {
	return &cri.RuntimeConfigResponse{
		Linux: &cri.LinuxRuntimeConfiguration{CgroupDriver: cri.CgroupDriver_CGROUPFS},
	}, nil
}

// UpdateRuntimeConfig accepts the pod CIDR that the node was given, and keeps
// to Config.PodCIDR: other addresses than loopback ones can't be had.
func (s runtimeService) UpdateRuntimeConfig(context.Context, *cri.UpdateRuntimeConfigRequest) (*cri.UpdateRuntimeConfigResponse, error) {
	return &cri.UpdateRuntimeConfigResponse{}, nil
}
