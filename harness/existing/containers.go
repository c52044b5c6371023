package existing

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

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
	looked    map[string]time.Time // likewise: when the status was seen last
	began     time.Time
}

func newContainers(now time.Time) *containers {
	return &containers{
		sandboxes: make(map[string]bool), started: make(map[string]bool), exited: make(map[string]bool),
		starts: make(map[string]int32), ends: make(map[string]int32), looked: make(map[string]time.Time), began: now,
	}
}

// happened is something that happened to a pod or a container.
type happened struct {
	subject string
	payload record.Payload
}

// losingContainers is the loss of what happened to containers.
func losingContainers(since time.Time, why error) record.ObservationLost {
	return record.Losing(since, why, record.ContainerStarted{}, record.ContainerExited{})
}

// see returns what is new in a state of the pod of a path. That the status has left out a container is a loss: it is not
// known how it ended.
func (c *containers) see(path string, object []byte, gone bool) (all []happened) {
	var pod corev1.Pod
	if err := json.Unmarshal(object, &pod); err != nil {
		return []happened{{path, losingContainers(c.began, fmt.Errorf("reading a pod: %w", err))}}
	}
	uid := string(pod.UID)
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses) {
		of := status{s, path + "/" + s.Name, uid + "/" + s.Name}
		news := c.news(of)
		if len(news) > 0 && !c.sandboxes[uid] {
			c.sandboxes[uid] = true
			all = append(all, happened{path, record.SandboxStarted{ID: uid, IP: pod.Status.PodIP}})
		}
		all = append(all, news...)
		if err := c.missed(of); err != nil && !gone {
			since, seen := c.looked[of.key]
			if !seen {
				since = c.began
			}
			all = append(all, happened{of.subject, losingContainers(since, err).Over()})
			c.starts[of.key], c.ends[of.key] = of.counted()
		}
		c.looked[of.key] = time.Now()
	}
	return all
}

// status is the status of a container.
type status struct {
	corev1.ContainerStatus

	subject, key string
}

// counted is how many containers of the name were started, and have ended. RestartCount counts those before the
// one that runs or, while none does, that ran last.
func (s status) counted() (starts, ends int32) {
	switch {
	case s.State.Running != nil:
		return s.RestartCount + 1, s.RestartCount
	case s.State.Terminated != nil, s.LastTerminationState.Terminated != nil:
		return s.RestartCount + 1, s.RestartCount + 1
	default:
		return 0, 0
	}
}

// missed is an error if the status counts more containers of the name than it has shown.
func (c *containers) missed(s status) error {
	starts, ends := s.counted()
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
