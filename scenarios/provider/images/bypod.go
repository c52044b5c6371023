package images

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/skewrig/skewrig/fakeservers/agnhost"
	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
)

// ByPod is a library that has every image: a container does what its pod expects of it. It listens on its ports and on those
// that are probed, ends well if it is an init container or its pod is to complete, and each command in it succeeds.
//
// Pod reads a pod, when a container starts.
func ByPod(pod func(ctx context.Context, namespace, name string) (*corev1.Pod, error)) (image.Library, error) {
	catalog, err := image.NewCatalog()
	if err != nil {
		return nil, err
	}
	server := agnhost.Listeners()
	server.Exec = func(context.Context, *image.Process, []string, image.Streams) int { return 0 }
	server.Run = func(ctx context.Context, p *image.Process) int { return behave(ctx, p, pod) }
	catalog.SetDefault(server)
	return catalog, nil
}

// A container that is to complete runs for completing.
const completing = 200 * time.Millisecond

// behave does what a pod expects of one of its containers.
func behave(ctx context.Context, p *image.Process, read func(ctx context.Context, namespace, name string) (*corev1.Pod, error)) int {
	namespace, rest, _ := strings.Cut(p.Container, "/")
	name, container, _ := strings.Cut(rest, "/")
	pod, err := readPod(ctx, func() (*corev1.Pod, error) { return read(ctx, namespace, name) })
	if err != nil {
		fmt.Fprintf(cmp.Or[io.Writer](p.Stderr, io.Discard), "reading the pod: %v\n", err)
		return 1
	}
	c, completes := expected(pod, container)
	if !completes {
		return agnhost.Listeners(Listening(c)...).Run(ctx, p)
	}
	p.SayUp()
	select {
	case <-ctx.Done():
	case <-time.After(completing):
	}
	return 0
}

// readPod reads a pod until an API server answers.
func readPod(ctx context.Context, read func() (*corev1.Pod, error)) (*corev1.Pod, error) {
	for {
		pod, err := read()
		if err == nil || apierrors.IsNotFound(err) {
			return pod, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(completing):
		}
	}
}

// expected returns a container of a pod, and whether the container is to complete.
func expected(pod *corev1.Pod, name string) (c corev1.Container, completes bool) {
	is := func(c corev1.Container) bool { return c.Name == name }
	if i := slices.IndexFunc(pod.Spec.InitContainers, is); i >= 0 {
		c = pod.Spec.InitContainers[i]
		return c, c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways
	}
	if i := slices.IndexFunc(pod.Spec.Containers, is); i >= 0 {
		c = pod.Spec.Containers[i]
	}
	return c, pod.Spec.RestartPolicy != corev1.RestartPolicyAlways
}

// Listening is what a container listens with, by its ports and its probes.
func Listening(c corev1.Container) (all []behavior.Listener) {
	add := func(l behavior.Listener) {
		if l.Port > 0 && !slices.ContainsFunc(all, func(had behavior.Listener) bool { return had.Port == l.Port }) {
			all = append(all, l)
		}
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe == nil {
			continue
		}
		switch h := probe.ProbeHandler; {
		case h.HTTPGet != nil && h.HTTPGet.Host == "":
			add(behavior.Listener{Port: portOf(c, h.HTTPGet.Port), Protocol: behavior.HTTP1AndHTTPS})
		case h.GRPC != nil:
			add(serving(h.GRPC))
		case h.TCPSocket != nil && h.TCPSocket.Host == "":
			add(behavior.Listener{Port: portOf(c, h.TCPSocket.Port), Protocol: behavior.TCP})
		}
	}
	for _, p := range c.Ports {
		if p.Protocol == "" || p.Protocol == corev1.ProtocolTCP {
			add(behavior.Listener{Port: p.ContainerPort, Protocol: behavior.HTTP1AndHTTPS})
		}
	}
	return all
}

// serving is a server that is healthy, and so is the service that a probe asks for.
func serving(probe *corev1.GRPCAction) behavior.Listener {
	healthy := map[string]behavior.ServingStatus{"": behavior.Serving}
	if probe.Service != nil {
		healthy[*probe.Service] = behavior.Serving
	}
	return behavior.Listener{
		Port: probe.Port, Protocol: behavior.GRPCAndTLS,
		Phases: behavior.Timeline{{GRPC: &behavior.Health{Services: healthy}}},
	}
}

// portOf is a port that a probe names, or 0.
func portOf(c corev1.Container, port intstr.IntOrString) int32 {
	if port.Type == intstr.Int {
		return port.IntVal
	}
	for _, p := range c.Ports {
		if p.Name == port.StrVal {
			return p.ContainerPort
		}
	}
	return 0
}
