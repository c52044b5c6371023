package simnode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// refusal is an error with the reason that a container's status gives.
type refusal struct {
	reason string
	error
}

func (r *refusal) Unwrap() error { return r.error }

// perform has the runtime do something for a pod.
func (r *runtime) perform(ctx context.Context, pod *corev1.Pod, a action) (err error) {
	switch a.verb {
	case runSandbox:
		_, err = r.tasks.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: sandboxConfig(pod, a.attempt)})
	case runContainer:
		return r.run(ctx, pod, a)
	case startContainer:
		return r.start(ctx, a.id)
	case stopContainer:
		_, err = r.tasks.StopContainer(ctx, &cri.StopContainerRequest{ContainerId: a.id, Timeout: int64(a.grace / time.Second)})
	case removeContainer:
		_, err = r.tasks.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: a.id})
	case stopSandbox, removeSandbox:
		_, err = r.tasks.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: a.id})
		if err == nil && a.verb == removeSandbox {
			_, err = r.tasks.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: a.id})
		}
	}
	return err
}

// run creates a container and starts it.
func (r *runtime) run(ctx context.Context, pod *corev1.Pod, a action) error {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name != a.container {
			continue
		}
		image, err := r.image(ctx, pod, c)
		if err != nil {
			return err
		}
		created, err := r.tasks.CreateContainer(ctx, &cri.CreateContainerRequest{
			PodSandboxId: a.id, Config: containerConfig(pod, c, image, a.attempt), SandboxConfig: sandboxConfig(pod, 0),
		})
		if err != nil {
			return &refusal{"CreateContainerError", err}
		}
		return r.start(ctx, created.ContainerId)
	}
	return fmt.Errorf("the pod has no container %s", a.container)
}

func (r *runtime) start(ctx context.Context, id string) error {
	if _, err := r.tasks.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: id}); err != nil {
		return &refusal{"RunContainerError", err}
	}
	return nil
}

// image returns the id of a container's image, which it pulls if need be.
func (r *runtime) image(ctx context.Context, pod *corev1.Pod, c corev1.Container) (string, error) {
	spec := &cri.ImageSpec{Image: c.Image}
	if c.ImagePullPolicy != corev1.PullAlways {
		found, err := r.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: spec})
		switch {
		case err != nil:
			return "", &refusal{"ImageInspectError", err}
		case found.Image != nil:
			return found.Image.Id, nil
		case c.ImagePullPolicy == corev1.PullNever:
			return "", &refusal{"ErrImageNeverPull", errors.New("the image is not there, and must not be pulled")}
		}
	}
	pulled, err := r.images.PullImage(ctx, &cri.PullImageRequest{Image: spec, SandboxConfig: sandboxConfig(pod, 0)})
	if err != nil {
		return "", &refusal{"ErrImagePull", err}
	}
	return pulled.ImageRef, nil
}

func podLabels(pod *corev1.Pod) map[string]string {
	return map[string]string{podNameKey: pod.Name, podNamespaceKey: pod.Namespace, podUIDKey: string(pod.UID)}
}

func sandboxConfig(pod *corev1.Pod, attempt uint32) *cri.PodSandboxConfig {
	labels := podLabels(pod)
	maps.Copy(labels, pod.Labels)
	config := &cri.PodSandboxConfig{
		Metadata:    &cri.PodSandboxMetadata{Name: pod.Name, Namespace: pod.Namespace, Uid: string(pod.UID), Attempt: attempt},
		Hostname:    pod.Name,
		Labels:      labels,
		Annotations: pod.Annotations,
	}
	if pod.Spec.Hostname != "" {
		config.Hostname = pod.Spec.Hostname
	}
	if pod.Spec.HostNetwork {
		config.Linux = &cri.LinuxPodSandboxConfig{SecurityContext: &cri.LinuxSandboxSecurityContext{
			NamespaceOptions: &cri.NamespaceOption{Network: cri.NamespaceMode_NODE},
		}}
	}
	return config
}

func containerConfig(pod *corev1.Pod, c corev1.Container, image string, attempt uint32) *cri.ContainerConfig {
	labels := podLabels(pod)
	labels[containerNameKey] = c.Name
	config := &cri.ContainerConfig{
		Metadata:    &cri.ContainerMetadata{Name: c.Name, Attempt: attempt},
		Image:       &cri.ImageSpec{Image: image, UserSpecifiedImage: c.Image},
		Command:     c.Command,
		Args:        c.Args,
		WorkingDir:  c.WorkingDir,
		Labels:      labels,
		Annotations: map[string]string{restartCountKey: strconv.Itoa(int(attempt)), hashKey: hash(c)},
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			config.Envs = append(config.Envs, &cri.KeyValue{Key: e.Name, Value: []byte(e.Value)})
		}
	}
	return config
}
