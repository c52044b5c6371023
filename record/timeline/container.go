package timeline

import (
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
)

// Container is what the runtime did with a container, over all its restarts, also if its
// pod was replaced by another one of the same name.
type Container struct {
	Running bool `json:"running"`
	Starts  int  `json:"starts"`
	// Restarts are the starts after the first one in each pod.
	Restarts int `json:"restarts"`
	// Pods is how many pods of that name there had been when it was started last.
	Pods  int    `json:"pods"`
	Exits []Exit `json:"exits"`
	// Execs are the commands that were run in it beside its program, those of exec
	// probes and of lifecycle hooks.
	Execs []Exec `json:"execs"`
	// Processes are those that commands in it started on this machine.
	Processes []Process `json:"processes"`

	id     string // of what was started last
	firsts int    // starts that were the first in a pod
}

// Process is a program that has ended.
type Process struct {
	// Program is what was built, with its release.
	Program string `json:"program"`
	// Code is its exit code, or -1 if it was killed.
	Code int32 `json:"code"`
	// Seconds is how long it took, and CPU how much processor time.
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
}

// Exec is a command that has ended.
type Exec struct {
	Args []string `json:"args"`
	// Code is its exit code, or -1 if it was given up: Error says why.
	Code  int32  `json:"code"`
	Error string `json:"error"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
}

// Exit is one end of a container.
type Exit struct {
	Code   int32  `json:"code"`
	Signal string `json:"signal"`
	Reason string `json:"reason"`
}

// Run is a program that a container ran.
type Run struct {
	Container string // namespace/pod/container
	// Started is nil if the program could not be started, and Exit while it runs.
	Started  *record.ContainerStarted
	Exit     *record.ContainerExited
	From, To Moment
	// Listening are the ports on which its servers listen.
	Listening []record.Listening
}

// Connection is a connection to a container.
type Connection struct {
	Moment
	record.Connection
	Container string // namespace/pod/container
	// At is when it was accepted, in seconds since the record began.
	At float64 `json:"at"`
	// Pod is 1 in the first pod of that name, 2 in the one that replaced it, and so on.
	Pod int `json:"pod"`
	*Raw
}

// Fields are those of the record, when it was accepted, and in which pod.
func (c *Connection) Fields() map[string]any {
	fields := c.Raw.Fields()
	fields["at"], fields["pod"] = c.At, int64(c.Pod)
	return fields
}

// PodOf is the name of a container's pod: namespace/pod.
func PodOf(container string) string { return container[:max(0, strings.LastIndex(container, "/"))] }

// addContainer takes into account what a runtime and the servers in its containers
// did.
func (t *Timeline) addContainer(e Entry) {
	switch p := e.Payload.(type) {
	case record.SandboxStarted:
		t.sandboxStarted(e, p)
	case record.ContainerStarted:
		t.Runs = append(t.Runs, &Run{Container: e.Subject, Started: &p, From: e.Moment})
		name := Name(e.Subject)
		c := t.container(name)
		if pods := t.podAt(name, e.At); c.Pods != pods {
			c.Pods, c.firsts = pods, c.firsts+1
		}
		c.Starts++
		c.Restarts = c.Starts - c.firsts
		c.id, c.Running, t.Known[name] = p.ID, true, true
	case record.ContainerExited:
		t.exited(e.Subject, p, e.Moment)
	case record.Exec:
		c := t.container(Name(e.Subject))
		c.Execs = append(c.Execs, Exec{Args: p.Args, Code: p.ExitCode, Error: p.Error, Seconds: p.DurationSeconds})
	case record.ProcessRan:
		c := t.container(Name(e.Subject))
		c.Processes = append(c.Processes, Process{Program: p.Program, Code: p.ExitCode, Seconds: p.DurationSeconds, CPU: p.CPUSeconds})
	case record.Listening:
		if r := t.runs(e.Subject); r != nil {
			r.Listening = append(r.Listening, p)
		}
	case record.Connection:
		t.connected(e, p)
	}
}

// sandboxStarted counts the pods of a name: each has a first sandbox.
func (t *Timeline) sandboxStarted(e Entry, started record.SandboxStarted) {
	pod := Name(e.Subject)
	t.Known[pod], t.nodes[pod] = true, strings.TrimPrefix(e.Source, "runtime/")
	if started.Attempt == 0 {
		t.sandboxed[pod] = append(t.sandboxed[pod], e.At)
	}
}

// podAt is how many pods of a container's pod there had been at a time, and at least 1.
func (t *Timeline) podAt(container string, at time.Time) int {
	began := t.sandboxed[PodOf(container)]
	later := slices.IndexFunc(began, func(began time.Time) bool { return began.After(at) })
	if later < 0 {
		later = len(began)
	}
	return max(1, later)
}

func (t *Timeline) container(name string) *Container {
	if t.Containers[name] == nil {
		t.Containers[name] = &Container{Exits: []Exit{}, Execs: []Exec{}, Processes: []Process{}}
	}
	return t.Containers[name]
}

// exited ends the run of a container.
func (t *Timeline) exited(container string, exit record.ContainerExited, m Moment) {
	c := t.container(Name(container))
	c.Running, c.Exits = c.Running && c.id != exit.ID, append(c.Exits, Exit{Code: exit.ExitCode, Signal: exit.Signal, Reason: exit.Reason})
	for _, r := range slices.Backward(t.Runs) {
		if r.Container == container && r.Exit == nil && r.Started.ID == exit.ID {
			r.Exit, r.To = &exit, m
			return
		}
	}
	t.Runs = append(t.Runs, &Run{Container: container, Exit: &exit, From: m, To: m})
}

// runs is what a container runs; nil if that is nothing.
func (t *Timeline) runs(container string) *Run {
	for _, r := range slices.Backward(t.Runs) {
		if r.Container == container && r.Exit == nil {
			return r
		}
	}
	return nil
}

// connected adds a connection. It says nothing of a container if its kubelet ended
// before it did, in the middle of a probe.
func (t *Timeline) connected(e Entry, connection record.Connection) {
	name := Name(e.Subject)
	t.Known[name] = true
	c := &Connection{Moment: e.Moment, Connection: connection, Container: e.Subject, At: t.Seconds(connection.Opened), Pod: t.podAt(name, connection.Opened), Raw: &Raw{text: e.Data, list: "requests"}}
	t.Connections = append(t.Connections, c)
	if c.GivenUp() {
		if stopped, has := t.stopped["kubelet/"+t.nodes[PodOf(name)]]; has && c.Opened.Before(stopped) {
			return
		}
		t.givenUp = append(t.givenUp, c)
	}
	t.Connected[name] = append(t.Connected[name], c)
}

// cutOff takes away the connections that ended because their kubelet did. Among them
// are those that clients gave up since the current step began, which may be the one
// that stops the kubelet.
func (t *Timeline) cutOff(component string) {
	for _, cut := range t.givenUp {
		if name := Name(cut.Container); "kubelet/"+t.nodes[PodOf(name)] == component {
			kept := slices.Clone(t.Connected[name]) // who has the list keeps it as it was
			t.Connected[name] = slices.DeleteFunc(kept, func(c *Connection) bool { return c == cut })
		}
	}
}
