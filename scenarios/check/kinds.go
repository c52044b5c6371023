package check

import (
	"github.com/skewrig/skewrig/fakeservers/runtime"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/lease"
	"github.com/skewrig/skewrig/harness/link"
	"github.com/skewrig/skewrig/harness/podsapi"
	"github.com/skewrig/skewrig/harness/record"
)

// Payloads are all that a history can hold, by what records them: a zero value of
// each kind. docs/record.md tells what they are, and the schema of the record is
// made from them.
func Payloads() []record.Payload {
	return []record.Payload{
		// The rig.
		cluster.ComponentStarted{}, cluster.ComponentStopped{}, cluster.ClockSet{}, cluster.StaticPodWritten{}, cluster.ObjectObserved{},
		link.FaultBegan{}, link.FaultEnded{}, link.Request{},
		lease.Started{}, lease.Stopped{}, lease.ClockSet{}, lease.Ages{},
		podsapi.Answer{}, podsapi.Event{}, podsapi.Polled{}, podsapi.Ended{},
		// The container runtime, and what probes talk to.
		runtime.SandboxStarted{}, runtime.SandboxStopped{}, runtime.ImagePulled{}, runtime.ImagePullFailed{},
		runtime.ContainerCreated{}, runtime.ContainerStarted{}, runtime.ContainerExited{}, runtime.Exec{},
		server.Listening{}, server.ListenFailed{}, server.Changed{}, server.Connection{},
		// The engine.
		RigReused{}, RigNotReused{}, StepStarted{}, StepDone{}, Opened{}, Closed{},
		Answer{}, Scraped{}, LogRead{}, Lateness{}, Ended{},
	}
}
