package existing

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/skewrig/skewrig/record"
)

// containers makes of the status of pods what happened to their containers. A kubelet says in it
// which container runs (state.running), and how the last one ended (state.terminated,
// lastState.terminated), each with its id.
type containers struct {
	sandboxes map[string]bool // by the pod's UID
	started   map[string]bool // by the container's id
	exited    map[string]bool
	starts    map[string]int32 // by the pod's UID and the container's name
	ends      map[string]int32
}

func newContainers() *containers {
	return &containers{
		sandboxes: make(map[string]bool), started: make(map[string]bool), exited: make(map[string]bool),
		starts: make(map[string]int32), ends: make(map[string]int32),
	}
}

// happened is something that happened to a pod or a container.
type happened struct {
	subject string
	payload record.Payload
}

// see returns what is new in a state of a pod. The error says that the status has left out a
// container: then it is not known how it ended.
func (c *containers) see(object []byte, gone bool) (all []happened, err error) {
	var pod corev1.Pod
	if err := json.Unmarshal(object, &pod); err != nil {
		return nil, fmt.Errorf("reading a pod: %w", err)
	}
	subject, uid := pod.Namespace+"/"+pod.Name, string(pod.UID)
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses) {
		of := status{s, subject + "/" + s.Name, uid + "/" + s.Name}
		news := c.news(of)
		if len(news) > 0 && !c.sandboxes[uid] {
			c.sandboxes[uid] = true
			all = append(all, happened{subject, record.SandboxStarted{ID: uid, IP: pod.Status.PodIP}})
		}
		all = append(all, news...)
		if err == nil && !gone {
			err = c.missed(of)
		}
	}
	return all, err
}

// status is the status of a container.
type status struct {
	corev1.ContainerStatus

	subject, key string
}

// counted is how many containers of the name were started. RestartCount counts those before the
// one that runs or, while none does, that ran last.
func (s status) counted() int32 {
	ran := s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
	if !ran {
		return 0
	}
	return s.RestartCount + 1
}

// missed is an error if the status counts more containers of the name than it has shown.
func (c *containers) missed(s status) error {
	starts := s.counted()
	ends := starts
	if s.State.Running != nil {
		ends--
	}
	if c.starts[s.key] >= starts && c.ends[s.key] >= ends {
		return nil
	}
	return fmt.Errorf("the status of a pod counts %d starts and %d ends of container %s, and has shown %d and %d: it was not seen what became of the others",
		starts, ends, s.subject, c.starts[s.key], c.ends[s.key])
}

// news is what is new of a container.
func (c *containers) news(s status) (all []happened) {
	last := s.RestartCount
	if s.State.Running != nil || s.State.Terminated != nil {
		last--
	}
	all = append(all, c.terminated(s, s.LastTerminationState.Terminated, last)...)
	all = append(all, c.terminated(s, s.State.Terminated, s.RestartCount)...)
	if s.State.Running != nil {
		all = append(all, c.start(s, s.ContainerID, s.RestartCount)...)
	}
	return all
}

func (c *containers) start(s status, id string, attempt int32) []happened {
	if id == "" || c.started[id] {
		return nil
	}
	c.started[id] = true
	c.starts[s.key]++
	return []happened{{s.subject, record.ContainerStarted{ID: id, Image: s.Image, Attempt: uint32(max(attempt, 0))}}}
}

func (c *containers) terminated(s status, t *corev1.ContainerStateTerminated, attempt int32) []happened {
	if t == nil || t.ContainerID == "" || c.exited[t.ContainerID] {
		return nil
	}
	c.exited[t.ContainerID] = true
	c.ends[s.key]++
	return append(c.start(s, t.ContainerID, attempt), happened{s.subject, record.ContainerExited{
		ID: t.ContainerID, ExitCode: t.ExitCode, Reason: t.Reason, RanForSeconds: t.FinishedAt.Sub(t.StartedAt.Time).Seconds(), Attempt: uint32(max(attempt, 0)),
	}})
}
