package images

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Of returns the images that pods have, in the order in which they come, with what their
// containers, probes and hooks run of them.
func Of(pods ...*corev1.PodSpec) (all []Image) {
	for _, pod := range pods {
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			all = add(all, c)
		}
		for _, c := range pod.EphemeralContainers {
			all = add(all, corev1.Container(c.EphemeralContainerCommon))
		}
	}
	return all
}

// add adds the image of a container to others, or what is run of it.
func add(all []Image, c corev1.Container) []Image {
	at := slices.IndexFunc(all, func(i Image) bool { return i.Reference == c.Image })
	if at < 0 {
		at = len(all)
		all = append(all, Image{Reference: c.Image})
	}
	for _, command := range commands(c) {
		if len(command) > 0 && !slices.Contains(all[at].Commands, command[0]) {
			all[at].Commands = append(all[at].Commands, command[0])
		}
	}
	return all
}

// commands are the command lines of a container, its probes and its hooks.
func commands(c corev1.Container) [][]string {
	found := [][]string{c.Command}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe != nil && probe.Exec != nil {
			found = append(found, probe.Exec.Command)
		}
	}
	if c.Lifecycle == nil {
		return found
	}
	for _, hook := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
		if hook != nil && hook.Exec != nil {
			found = append(found, hook.Exec.Command)
		}
	}
	return found
}
