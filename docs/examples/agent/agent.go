// Package agent is a small node agent, to be tested on a rig: it lists the pods of its
// node. It asks the kubelet's Pods API (KEP-4188), which kubelets serve from v1.36 on if
// their gate is on, and the kubelet's HTTP server where there is no such socket.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// Agent lists the pods of a node.
type Agent struct {
	// Socket is where the kubelet serves the Pods API, if it does.
	Socket string
	// Kubelet is the configuration of a client of the kubelet's HTTP server.
	Kubelet *rest.Config
}

// Source is where an answer is from.
type Source string

// The sources.
const (
	PodsAPI  Source = "Pods API"
	Endpoint Source = "/pods"
)

// Pods are the pods of the node, and where that is from.
func (a Agent) Pods(ctx context.Context) ([]corev1.Pod, Source, error) {
	if _, err := os.Stat(a.Socket); errors.Is(err, fs.ErrNotExist) {
		pods, err := a.fromEndpoint(ctx)
		return pods, Endpoint, err
	}
	pods, err := a.fromSocket(ctx)
	return pods, PodsAPI, err
}

func (a Agent) fromSocket(ctx context.Context) ([]corev1.Pod, error) {
	conn, err := grpc.NewClient("unix:"+a.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answer, err := podsv1alpha1.NewPodsClient(conn).ListPods(ctx, new(podsv1alpha1.ListPodsRequest))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", a.Socket, err)
	}
	pods := make([]corev1.Pod, len(answer.GetPods()))
	for i, encoded := range answer.GetPods() {
		if err := pods[i].Unmarshal(encoded); err != nil {
			return nil, err
		}
	}
	return pods, nil
}

func (a Agent) fromEndpoint(ctx context.Context) ([]corev1.Pod, error) {
	config := rest.CopyConfig(a.Kubelet)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/", &corev1.SchemeGroupVersion, scheme.Codecs
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	var list corev1.PodList
	err = client.Get().AbsPath("/pods").Do(ctx).Into(&list)
	return list.Items, err
}
