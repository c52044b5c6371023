package record

// The subject of a sandbox's events is "namespace/pod", that of a container's
// "namespace/pod/container". Attempt is the kubelet's count of earlier sandboxes of
// the pod, or of earlier containers of that name in the pod.

// SandboxStarted says that a pod got its sandbox and its address.
type SandboxStarted struct {
	ID      string `json:"id"`
	IP      string `json:"ip"`
	Attempt uint32 `json:"attempt"`
}

// SandboxStopped says that a sandbox and all its containers have stopped.
type SandboxStopped struct {
	ID      string `json:"id"`
	Attempt uint32 `json:"attempt"`
}

// ContainerCreated says that a container exists. Its program is not running.
type ContainerCreated struct {
	ID      string `json:"id"`
	Image   string `json:"image"`
	Attempt uint32 `json:"attempt"`
}

// ContainerStarted says that the container's program is about to run.
type ContainerStarted struct {
	ID      string   `json:"id"`
	Image   string   `json:"image"`
	Args    []string `json:"args"`
	Attempt uint32   `json:"attempt"`
	// PID tells the processes of a runtime apart, as a process id would. No
	// process of this machine has it.
	PID int `json:"pid"`
}

// ContainerExited says how the container's program ended, or why it could not
// be started (reason StartError).
type ContainerExited struct {
	ID       string `json:"id"`
	ExitCode int32  `json:"exitCode"`
	Reason   string `json:"reason"`
	// Signal is the last signal that the program was sent, such as "SIGTERM",
	// or "SIGKILL" if that ended it. Empty if it was sent none.
	Signal string `json:"signal,omitempty"`
	// RanForSeconds is how long the program ran.
	RanForSeconds float64 `json:"ranForSeconds"`
	Attempt       uint32  `json:"attempt"`
}

// ImagePulled says that an image was pulled for a pod.
type ImagePulled struct {
	// Ref is the reference as the kubelet gave it.
	Ref    string `json:"ref"`
	Digest string `json:"digest"`
}

// ImagePullFailed says that an image could not be pulled for a pod.
type ImagePullFailed struct {
	Ref   string `json:"ref"`
	Error string `json:"error"`
}

// ProcessRan says that a command in a container was a program of this machine, for
// which a process was started, and that it has ended.
type ProcessRan struct {
	// Program is what was built, with its release: "grpc-health-probe@v0.4.61".
	Program string `json:"program"`
	// ExitCode is the program's, or -1 if it was killed.
	ExitCode        int32   `json:"exitCode"`
	DurationSeconds float64 `json:"durationSeconds"`
	// CPUSeconds is how much processor time it took.
	CPUSeconds float64 `json:"cpuSeconds"`
}

// Exec says that a command was run in a container and has ended.
type Exec struct {
	ID   string   `json:"id"`
	Args []string `json:"args"`
	// ExitCode is the command's, or -1 if it had none (see Error).
	ExitCode        int32   `json:"exitCode"`
	DurationSeconds float64 `json:"durationSeconds"`
	// Error says why the command was given up: it took longer than its
	// timeout, or the client went away. Empty if it ended by itself, or with
	// its container.
	Error string `json:"error,omitempty"`
	// Output is the first 1 KiB of what the command wrote, its standard output before
	// its error output, as a kubelet reads it.
	Output string `json:"output,omitempty"`
}
