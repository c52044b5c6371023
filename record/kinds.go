package record

// Payloads are all that a history can hold, by what records them: a zero value of
// each kind. docs/architecture.md describes them, and the schema of the record is
// made from them. That a payload is here says how it is stored: package timeline says what it means.
func Payloads() []Payload {
	return []Payload{
		// The rig.
		ComponentStarted{}, ComponentStopped{}, Routed{}, Observing{}, ClockSet{}, NodeRebooted{}, StaticPodWritten{}, ObjectObserved{},
		FaultBegan{}, FaultEnded{}, LinkFailed{}, LinkRequest{}, WebhookSet{}, WebhookCalled{}, ConversionSet{}, ConversionCalled{},
		LeaseNodesStarted{}, LeaseNodesStopped{}, LeaseClockSet{}, LeaseAges{},
		PodsAnswer{}, PodsEvent{}, PodsPolled{}, PodsEnded{},
		// The container runtime, and what probes talk to.
		SandboxStarted{}, SandboxStopped{}, ImagePulled{}, ImagePullFailed{},
		ContainerCreated{}, ContainerStarted{}, ContainerExited{}, Exec{}, ProcessRan{},
		Listening{}, ListenFailed{}, ForeignRefused{}, Connection{},
		// The engine.
		RigReused{}, RigNotReused{}, StepStarted{}, StepDone{}, CheckOpened{}, CheckClosed{},
		APIAnswer{}, KubectlRan{}, Scraped{}, LogRead{}, StoredRead{}, SocketsRead{}, Settled{}, Lateness{}, CellEnded{},
		// Any of them.
		ObservationLost{},
	}
}

// The names under which payloads are recorded. Records have them, so that no name
// changes.

func (ComponentStarted) EventKind() string  { return "component.started" }
func (ComponentStopped) EventKind() string  { return "component.stopped" }
func (Routed) EventKind() string            { return "component.routed" }
func (Observing) EventKind() string         { return "component.observing" }
func (ClockSet) EventKind() string          { return "clock.set" }
func (NodeRebooted) EventKind() string      { return "node.rebooted" }
func (StaticPodWritten) EventKind() string  { return "static-pod.written" }
func (ObjectObserved) EventKind() string    { return "object.observed" }
func (FaultBegan) EventKind() string        { return "link.fault-began" }
func (FaultEnded) EventKind() string        { return "link.fault-ended" }
func (LinkFailed) EventKind() string        { return "link.failed" }
func (LinkRequest) EventKind() string       { return "link.request" }
func (LeaseNodesStarted) EventKind() string { return "lease.started" }
func (LeaseNodesStopped) EventKind() string { return "lease.stopped" }
func (LeaseClockSet) EventKind() string     { return "lease.clock-set" }
func (WebhookSet) EventKind() string        { return "webhook.set" }
func (WebhookCalled) EventKind() string     { return "webhook.called" }
func (ConversionSet) EventKind() string     { return "conversion.set" }
func (ConversionCalled) EventKind() string  { return "conversion.called" }
func (LeaseAges) EventKind() string         { return "lease.ages" }
func (PodsAnswer) EventKind() string        { return "podsapi.answer" }
func (PodsEvent) EventKind() string         { return "podsapi.event" }
func (PodsPolled) EventKind() string        { return "podsapi.polled" }
func (PodsEnded) EventKind() string         { return "podsapi.ended" }
func (SandboxStarted) EventKind() string    { return "sandbox.started" }
func (SandboxStopped) EventKind() string    { return "sandbox.stopped" }
func (ImagePulled) EventKind() string       { return "image.pulled" }
func (ImagePullFailed) EventKind() string   { return "image.pull-failed" }
func (ContainerCreated) EventKind() string  { return "container.created" }
func (ContainerStarted) EventKind() string  { return "container.started" }
func (ContainerExited) EventKind() string   { return "container.exited" }
func (Exec) EventKind() string              { return "exec" }
func (ProcessRan) EventKind() string        { return "exec.process" }
func (Listening) EventKind() string         { return "wire.listening" }
func (ListenFailed) EventKind() string      { return "wire.listen-failed" }
func (ForeignRefused) EventKind() string    { return "wire.foreign-refused" }
func (Connection) EventKind() string        { return "wire.connection" }
func (RigReused) EventKind() string         { return "rig.reused" }
func (RigNotReused) EventKind() string      { return "rig.not-reused" }
func (StepStarted) EventKind() string       { return "step.started" }
func (StepDone) EventKind() string          { return "step.done" }
func (CheckOpened) EventKind() string       { return "check.opened" }
func (CheckClosed) EventKind() string       { return "check.closed" }
func (APIAnswer) EventKind() string         { return "api.answer" }
func (KubectlRan) EventKind() string        { return "kubectl.ran" }
func (Scraped) EventKind() string           { return "metrics.scraped" }
func (LogRead) EventKind() string           { return "log.read" }
func (StoredRead) EventKind() string        { return "stored.read" }
func (SocketsRead) EventKind() string       { return "sockets.read" }
func (Settled) EventKind() string           { return "settled" }
func (Lateness) EventKind() string          { return "machine.lateness" }
func (CellEnded) EventKind() string         { return "cell.ended" }
func (ObservationLost) EventKind() string   { return "observation.lost" }
