// Package scenarios is the manual of the scenario language. Its only code prints
// this text; the examples show what a scenario is planned to. Package spec decodes
// the language, plan turns a scenario into numbered steps, engine runs them, and
// check judges the record.
//
// # A scenario
//
// A scenario is a YAML file that says what rig to start, what to do to it, and
// what must then hold:
//
//	apiVersion: skewrig.dev/v1alpha1
//	kind: Scenario
//	id: kep-4939/e2e/tls-probe-tls-server
//	title: A TLS probe keeps a TLS server alive
//	axes:
//	  apiserver: [newest]
//	  kubelet: [newest, previous]
//	topology:
//	  controlPlane:
//	    version: ${apiserver}
//	    gates: {GRPCContainerProbeTLS: true}
//	  nodes:
//	  - name: node-a
//	    version: ${kubelet}
//	steps:
//	- name: create
//	  apply:
//	    apiVersion: v1
//	    kind: Pod
//	    ...
//	- checks:
//	  - id: not-restarted
//	    requirement: KEP-4939/e2e/tls-success
//	    observe: containers["tls/app"].restarts
//	    is: 0
//	    always: {for: 5 periods, of: tls/app}
//
// The id is a path of three segments: the KEP or area, a group, a name. Decoding
// is strict: an unknown field, a duplicate key, a wrong type or a contradiction
// is an error that names file, line and column, and all of them are reported at
// once.
//
// # Axes and cells
//
// Each combination of the axes' values is a cell, which is judged by itself. It may
// share a control plane with cells that can't notice it. ${name} stands for the axis'
// value anywhere in topology, images and steps, and $${ for a literal ${. In flow style
// it has to be quoted: {version: "${kubelet}"}. Values are texts (booleans are written
// ["true", "false"]); in a manifest, an unquoted scalar that is nothing but a
// reference takes the type that its value looks like. A cell's id is the
// scenario's id followed by <axis>:<value> for each axis in the order of their
// names. The values "newest" and "previous" stand for the pair of releases that run, "n-2" for
// the release two minor versions before the newest, "next" for a pre-release of the minor version
// after it, "before-GATE" for the newest release without a feature gate, and a minor version
// ("v1.36") for its newest patch release that is supported; the id shows the release.
//
// where leaves combinations out: it is one or several comparisons, joined by
// and. A release without its patch stands for all of that minor version. The word
// supported stands for a rig that the version skew policy allows as it begins. An axis can be
// smaller or greater than another one: a >= b.
//
//	where: supported and kubelet <= 1.36 and gate == true
//
// # Topology
//
// controlPlane has version, gates, and controllerManager and scheduler, which
// are true unless set to false. Without controlPlane, all of it is newest. Without a scheduler, pods need a nodeName.
// nodes have a name, version and gates. Version is newest, previous, a minor
// version (v1.36) or a release in full (vX.Y.Z). A gate that a release doesn't
// have is an error, as it would be for the component; so is one that it locks, and one
// that depends on another which is off: the error says which to set too. A node that is standalone has
// a kubelet that knows of no API server. defaults: [maxPods, logging] leaves settings
// of the kubelet to its release that a rig sets otherwise: maxPods, logging (how much
// it logs), syncFrequency, fileCheckFrequency, eventRecordQPS. One of version reference
// has the newest kubelet, with a server of the Pods API that does what KEP-4188 asks
// for. runtime: containerd gives a node real containers, and the kubelet that was released; that
// takes root. runtimeHandlers: {names: [crun, runc]} are those of a node's container runtime beside
// the default one; with shuffled: true it lists all of them in another order each time, as
// runtimes do that go through a map. endpoints: true has pods report addresses of 240.0.0.0/4, which
// EndpointSlices take: loopback addresses are refused. Nothing reaches these, so probes over the
// network fail.
//
// A control plane that is half-way through an upgrade has several API servers on one etcd,
// and controller managers and schedulers of which each time one is the leader:
//
//	topology:
//	  controlPlane:
//	    servers: [{name: a, version: newest}, {name: b, version: previous}]
//	    controllerManagers: [{name: a, version: previous, via: b}]
//	    schedulers: [{name: a, version: previous}, {name: b, version: previous, via: b}]
//	  nodes:
//	  - {name: node-a, version: previous, via: [a, b]}
//
// A member has a version and gates of its own, on top of those of the control plane. Its name
// ends that of the component: kube-apiserver/a, kube-controller-manager/a. via says through
// which API servers something connects: through one, or through several in turn, as behind a
// load balancer, which leaves out those that don't run. Without it, that is the first one, also
// for a step: a step with via: b asks kube-apiserver/b. The step route leads a component
// elsewhere. Objects are observed as the first server shows them until it ends, and then as
// another one does. Leases of leaders last 4 s, a quarter of the default. With peerProxy: true
// beside servers, API servers ask each other for what they don't serve (KEP-4020).
//
// optionalGates: [GRPCContainerProbeTLS] are gates that are set only on releases that have
// them, also by restarts: an upgrade sets them, and a rollback takes them away.
//
// What components are given beside their gates:
//
//	topology:
//	  controlPlane:
//	    flags: {kube-apiserver: {max-requests-inflight: "50"}}
//	    config: {kube-scheduler: {podMaxBackoffSeconds: 1}}
//	  nodes:
//	  - {name: node-a, config: {maxPods: 10, evictionHard: {memory.available: null}}}
//
// flags are by the names of programs (etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler), and those of a node or a member are its own. config is a merge patch of
// what a rig writes: KubeletConfiguration, or KubeSchedulerConfiguration; null leaves a field
// to the release. A restart can have both. What the rig needs itself, such as addresses,
// certificates and directories, is refused with the reason, and a flag that a component does
// not have is refused in the component's own words before anything starts. A gate that can't
// be set alone is refused; with withDependents: true, the gates that it needs are set, too.
//
// emulatedVersion: previous, of controlPlane, a member, a restart or a roll, has API servers,
// controller managers and schedulers emulate that minor version (KEP-4330): they have its gates
// and APIs. A release emulates up to three minor versions below its own.
// minCompatibilityVersion is the oldest version that others may still emulate. Without them, a
// component is what it is.
//
// A rig that the version skew policy does not allow is refused: API servers more than one minor
// version apart, or a kubelet more than three older than one that it connects to. unsupported:
// [servers-apart, kubelet-too-old] allows it. server-skips is for an API server that moves by
// more than one minor version at once; kubelet-newer and controller-skew are for a roll.
//
// What has to do with leases:
//
//	topology:
//	  timeScale: 5
//	  controlPlane:
//	    nodeMonitor: {period: 5s, grace: 50s}
//	  leaseNodes:
//	    zones: {a: 12, b: 8}
//	  garden:
//	    watchdog: v1.8.0
//
// leaseNodes are simulated nodes which register and renew their leases as a
// kubelet does, and nothing else: count of them, or as many as zones says in each
// zone. duration, interval (a quarter of it), offset (of all their clocks) and
// seed (of the moments at which they renew) may be set. They are called node-0,
// node-1 and so on.
//
// nodeMonitor is how often kube-controller-manager looks after nodes, and for how
// long they may be silent.
//
// garden makes the rig a shoot of Gardener's. A second API server is the seed;
// what is on it has names that begin with seed/: seed/kube-apiserver,
// seed/deployments/shoot/kube-controller-manager, seed/clusters/shoot,
// seed/machines/shoot/machine-node-0. watchdog is the release of
// dependency-watchdog that runs there, or none. prober is its configuration file,
// of which everything has a default; dependents are the Deployments that there
// are, with their replicas; shoot is what is different in the Shoot. When the
// Deployment kube-controller-manager is scaled, the rig's own stops or starts.
//
// timeScale divides all times of these three, so that an outage of minutes fits
// into seconds. Times in steps are as they are written, and those that are built into
// a component are as they are (docs/watchdog.md).
//
// # Images
//
// An entry of images maps an image pattern to a fake server:
//
//	images:
//	- image: registry.example/payments
//	  listen:
//	  - port: 8443
//	    protocol: grpc-tls
//	    tls: {certificate: expired}
//	    phases:
//	    - for: 10s # healthy, which is what a phase is unless it says otherwise
//	    - grpc: {services: {"": NOT_SERVING}}
//
// The fields of listen are those of behavior.Listener. A phase of a route can last for so
// many requests instead: {path: /readyz, phases: [{requests: 2, http: {status: 503}}, {}]}. Phases
// and requests begin anew with each container. A port that speaks
// grpc+grpc-tls or http1+https takes clients with TLS and without, and tls: {delay:
// 700ms} lets a client wait for the handshake, as delay of a phase lets it wait for an
// answer. Test images of Kubernetes, such as agnhost and busybox, are played without a
// mapping: skewrig docs up lists them. An image that nothing plays is refused before anything runs; one of a registry
// in the domain invalid, registry.invalid/gone, is meant to be missing.
//
// Of the commands that exec probes run, grpc_health_probe is an imitation. With
// healthProbe: v0.4.61 the containers of an image have that release, which is built
// from its module; listen may then be left out:
//
//	images:
//	- image: registry.example/probed-by-exec
//	  healthProbe: v0.4.61
//	  listen: [{port: 6000, protocol: grpc-tls}]
//
// A process is started on this machine for each command. It gets the address of the
// pod, copies of the container's files, and no environment. No other program of this
// machine is ever started for a container.
//
// # Steps
//
// Steps run one after the other. Each has one of:
//
//   - apply: an object, or a list of objects, to be created as they are. A
//     namespace that is not there is created first. A refusal ends the cell, unless
//     the step has accepted: true, or rejected: {code: 422, message: "may not"}
//     (rejected: true for any refusal): then a check with the name of the step and
//     -accepted or -rejected judges the answer, and the cell continues. With refusable: true, which
//     delete takes too, it continues whatever is answered.
//   - file: like apply, for the YAML documents of a file beside the scenario or
//     below it. References to axes are not replaced there.
//   - patch: {object: pods/tls, merge: {...}}, a JSON merge patch. One of nothing but
//     the status is one of the subresource, where there is one.
//     subresource: resize patches that part of the object.
//   - create: {object: {...}}, put: {object: pods/tls, merge: {...}} and serverSideApply:
//     {object: {...}, manager: mine, force: true}: other ways to write an object. create
//     posts it, put reads it, merges into what it read and writes all of that back, or its
//     subresource: scale. With subresource: pods/eviction, create posts to that of the
//     object of the same name. These and patch have dryRun: true, fieldValidation (Ignore,
//     Warn or Strict) and manager, the field manager. An owner reference whose uid is the name of an
//     object, as in uid: deployments/default/web, gets the UID of that object.
//   - client: {version: previous, update: pods/tls, merge: {...}, encoding: protobuf}: a
//     client-go program of that release reads the object into its types, merges, and writes
//     all of it back, as a controller does: what its types don't have gets lost. After a
//     conflict it reads and writes again, up to five times. times: 100 does all of it so
//     often, and subresource: status is for that part of the object.
//   - kubectl: {version: previous, args: [label, pod/tls, touched=yes]}: runs the kubectl of
//     that release as an administrator. input: {...}, an object or a list of objects, is
//     what it reads with args: [apply, -f, "-"]. It reads no files of this machine, and
//     finds no plugins, editor or settings. A failure ends the cell, unless the step has
//     accepted or rejected, with a message: then it is judged. A check that follows may
//     look before the record has what was written: use eventually.
//   - webhook: {name: injector, rules: [{operations: [CREATE], resources: [pods]}],
//     reserialize: previous}: has API servers ask an admission webhook, which the rig plays
//     with a certificate of its own. It writes each object by the types of that release, as
//     one does that was built with them; or does patch: [{op: add, path: /metadata/labels,
//     value: {...}}], refuse: MESSAGE or away: true, and allows everything without any of
//     these. delay: 2s has each answer take so long. timeout, failurePolicy: Ignore and
//     validating: true are of the configuration. A step with the same name changes all of
//     that, and delete: mutatingwebhookconfigurations/injector ends it. The next step begins
//     when each API server asks so.
//   - crd: {group: example.com, kind: Runner, versions: [{name: v1, template: previous}]}:
//     defines a custom resource that embeds a pod template at spec.template, or changes its
//     definition. The schema of the template is by the types of that release, as
//     controller-gen generates it from them: API servers prune what these types don't have.
//     Without template they keep anything. plural is runners if it is unset. All versions
//     are served, and the first one is stored. The next step begins when each API server
//     serves it so, which an additional column of kubectl get shows: mark. A
//     CustomResourceDefinition of your own is applied like any object.
//   - conversion: {of: runners.example.com, reserialize: previous}: has API servers ask a
//     conversion webhook about a custom resource, which the rig plays. It changes the version
//     of each object, and writes the pod template by the types of that release, as one does
//     that was built with them; at: spec.jobs[].template says where it is, if that is not
//     spec.template. Instead of reserialize it does refuse: MESSAGE or away: true, and keeps
//     everything without any of these. delay: 2s has each answer take so long. A step for the
//     same resource changes all of that. The next step begins when each API server asks so.
//   - staticPod: {node: node-a, pod: {...}}: has a kubelet run a pod from a file,
//     without asking an API server. The pod's name gets the node's appended.
//     remove: NAME instead of pod takes its file away.
//   - delete: pods/tls, or resource/namespace/name. {object: jobs/a, propagation: Background} has
//     a propagation policy: Foreground, Background or Orphan. Without it, it is the default of the
//     API: that of a Job orphans its pods. each: endpointslices/shop instead of an object
//     deletes all of a namespace.
//   - restart: {component: kubelet/node-a, version: newest, gates: {...}}:
//     stops a component and starts it on the same data, as another release or
//     with other gates where the step says so. An upgrade, a rollback and the
//     toggling of a gate are all restarts. unset: [...] leaves gates to the
//     release's default, which a rollback to a release without them needs. The
//     API server moves by one minor version a step at the most.
//   - kill: kubelet/node-a, stop: kubelet/node-a and start: {component: ...}. A
//     component that is stopped or restarted has a minute to end, and is killed then.
//     With stop: {component: kubelet/node-a, within: 30s}, a check with the name of the
//     step and -ended judges that it ends by itself within that time.
//   - reboot: node-a: the kubelet and all containers of a node end without a warning, as with
//     a power cut, and the kubelet is started again as it was, with another boot ID. What is
//     on disk stays, volumes in memory too. The sandboxes are not ready then, and containers
//     that ran have exit code 255 and the reason Unknown, as containerd has it.
//   - roll: {to: newest, order: [servers, controllerManagers, schedulers]}: restarts
//     components as another release, or with other gates, one after the other. Without an
//     order, an upgrade takes servers, controllerManagers, schedulers and kubelets, and a
//     rollback the same the other way round. An order that the version skew policy does
//     not allow is refused, unless the topology names the rule in unsupported.
//   - route: {from: kubelet/node-a, to: b}: leads a component to another API server, or to
//     several in turn: to: [a, b]. What it has open to others is reset.
//   - cut: {from: kubelet/node-a}: what the component and the API server send to
//     each other gets lost, until heal: kubelet/node-a. With how: reset, every
//     connection is ended at once; with direction: forward or backward, only what
//     is sent to or by the API server is lost; afterBytes: N lets so much pass.
//   - slow: {from: kubelet/node-a, delay: 100ms, jitter: 20ms, bytesPerSecond:
//     10000}: everything arrives later, until it is healed. A link has one fault
//     at a time, and stale beside it; a cell in which a fault did nothing is not judged. Simulated
//     nodes, lease-nodes, and those of a zone, lease-nodes/a, are cut, slowed,
//     stopped and started like components. The watchdog's link to the seed is
//     dependency-watchdog->seed/kube-apiserver.
//   - answer: {from: dependency-watchdog, path: /version, status: 429, retryAfter:
//     5s}: the link of a component answers requests of that path, or all without one;
//     with a delay and no status, the link holds the request for that time, and then passes
//     it to the API server: until then, the API server has done nothing.
//   - lose: {from: kube-controller-manager, verb: create, resource: pods, nth: 1}: the
//     answer to the first such request gets lost, after the API server has done what it was
//     asked: the connection ends without it. Without nth, each answer does, until it is
//     healed. verb is as in RBAC; resource may have a subresource, as pods/status. answer
//     has these three, too. What a component asks through such a link is in calls.
//   - crash: {from: kube-scheduler, when: after, verb: create, resource: pods/binding}: the
//     component is killed at its first such request, or its nth: before the API server gets
//     it, or after the API server has done it. It is started again as a kubelet starts a
//     container: at once, and later each time.
//   - stale: {from: kube-controller-manager, resource: pods}: the watch events of that
//     resource, or of all, come when the link is healed, or by a delay later. Requests pass
//     as ever, so that the component acts on a state that is out of date.
//   - cut and slow of an API server, kube-apiserver or kube-apiserver/b, are for its link to
//     etcd. With direction: backward, it is behind: what it has in its cache, it still
//     shows, and it learns of no change. A component that is led to it then sees the past.
//   - cut, slow and answer of kubelet/node-a->runtime are for the calls of a kubelet to
//     its container runtime. With cut, it hangs: calls wait until it is healed, or for as
//     long as the kubelet waits. With how: reset, it is dead: connections are ended, and
//     calls fail with Unavailable. slow has a delay, of each call. answer: {from:
//     kubelet/node-a->runtime, method: RunPodSandbox, code: Internal, message: no
//     network} lets calls of that method fail, or all without one; with a delay and no
//     code, they are answered, later, or when it is healed. The containers go on. A
//     container runtime that is restarted is one that is dead for a while, as containerd
//     is: cut with how: reset, wait: {for: 5s}, heal.
//   - clock: {of: kubelet/node-a, step: -2m}: sets a clock forward or back. offset,
//     drift (millionths) and frozen say how it goes from now on. Kubelets and
//     lease-nodes have clocks; a kubelet whose clock a scenario sets is one that
//     is compiled for it.
//   - wait: {until: EXPRESSION, within: 30s}: a condition that must come true
//     for the scenario to make sense. If it doesn't, the cell is not judged.
//     wait: {for: 10s} lets time pass.
//   - settle: true waits until all is at rest: no object was written for 3 s, controllers have
//     looked at each, and what was deleted is gone. Then the oracle at-rest judges statuses, pods,
//     schedules and the like by laws. settle: {within: 30s, touch: true} waits no longer than that (one
//     minute without it), reads each object, annotates it as a dry run, and asks which Secrets and
//     ConfigMaps a node may read: what is stored must be accepted.
//     What is not at rest in time is recorded, and the cell continues.
//   - scrape: {component: kubelet/node-a, path: /metrics/probes}: reads the
//     metrics of a kubelet or of the API server into the record. Without a path,
//     those of /metrics.
//   - log: {component: kubelet/node-a, match: REGEXP}: reads the lines of a log
//     that match. In the logs of Kubernetes, lines at a level begin with its letter
//     and the date: ^E[0-9]{4} finds errors, and ^panic:|Observed a panic panics.
//   - get: {path: /openapi/v3/api/v1}: asks the API server for any path, discovery
//     included, and component: kubelet/node-a that kubelet. accept is the header of the
//     request; code: 200 has it asked again until it answers so, for 10 s, or within.
//     Whatever it answers last, the next step follows.
//   - stored: {object: pods/tls}: reads what etcd has of an object: its encoding,
//     size, and fields.
//   - store: {object: pods/tls, version: previous, merge: {...}, encoding: json}: has etcd
//     hold the object as that release would have left it: what is stored is read into the
//     types of the release, merged, and put back, in protobuf unless encoding says json. No
//     API server is asked. It is recorded as stored does.
//   - sockets: {component: kubelet/node-a, port: 8443, for: 5s}: reads the TCP sockets
//     that a component has open, and with a port those in TIME_WAIT with that port at
//     either end, which are no process's. Without for, once.
//   - podsAPI: {node: node-a, call: list}: an agent on the node asks the Pods API
//     of the node's kubelet (KEP-4188). get asks for one pod, with pod: web or uid:
//     X; with times: 300 it asks so often, with every: 15ms it waits so long before
//     each, as it does if it asks once, and with service: NAME it asks that gRPC
//     service. watch begins a watch and poll lists every millisecond, or every so
//     often; both go on until the cell ends, or until {call: end, node: node-a, of:
//     STEP}. fields: metadata.name,status.phase sends a field mask, and pause: 20s has a
//     watch not read for so long. With hold: true a watch reads its first event only,
//     until {call: read, node: node-a, of: STEP}. remove takes the socket away.
//   - checks: a list of checks, all watched at the same time. The next step
//     begins when each of them is decided.
//
// A step with when, such as "kubelet/node-a < 1.37", is for cells in which that
// holds for the axes and for the releases in force before it. Two steps may have
// the same name if no cell has both.
//
// A field of an object that the API of the newest release does not have is refused in
// apply, file, create, patch, put, serverSideApply and staticPod, if the kind is built in: an API server would leave it
// out, with a warning. With unknownFields: [tls], a step sends fields of that name all the
// same: to see the warning, or because an API server of your own has them.
//
// After a step that could not be done, only these steps are taken:
//
//   - run: cleanup: the step is taken whatever happened before
//   - run: catch: the step is taken only if something went wrong, be it a check
//     that did not hold. It gathers evidence (a scrape, say) and has no part in
//     the verdict.
//
// Neither changes what runs, because what runs after a failure is not what the
// scenario planned. Most scenarios need no cleanup: a cell's objects, containers
// and components end with it.
//
// Steps that are needed more than once are a sequence, whose own ${name}s are
// replaced where it is used:
//
//	sequences:
//	  healthy:
//	  - checks:
//	    - id: ${when}-healthy
//	      observe: containers["tls/app"].restarts
//	      atMost: {times: 0, for: 10s}
//	steps:
//	- {use: healthy, with: {when: before}}
//	- restart: {component: kubelet/node-a, version: newest}
//	- {use: healthy, with: {when: after}}
//
// # Checks
//
// A check has an id, the requirement of a KEP's ledger that it proves (which a
// scenario of one's own leaves out), and observe, an expression in CEL (the
// Common Expression Language that Kubernetes itself uses). What it
// must be is said by is (a value) or by must (an expression in which it stands
// for what was observed). When it must be so is said by one of
//
//   - eventually: 30s: at some moment within the time
//   - always: {for: 10s}: at every moment of that time
//   - never: {for: 10s}: at no moment of that time
//   - atMost: {times: 2, for: 10s}, without is and must: the number that is
//     observed grows by no more than that in that time
//   - atLeast: {times: 5, within: 60s}, without is and must: the number grows by as much
//     within the time, from when the check begins
//   - none of these: at the moment when the check begins
//
// A check with when, such as "kubelet/node-a < 1.37", is for cells in which that
// holds for the axes and for the releases in force at its step. Two checks may
// have the same id if no cell has both.
//
// A length of time is written as in Go (1m30s), or in probe periods: {for: 5
// periods, of: tls/app} takes the shortest period of the probes that the
// scenario's manifests give container app of pod tls.
//
// Expressions see the record of the cell so far:
//
//   - containers["pod/container"]: running, starts, restarts, pods, exits (a list of
//     code, signal, reason), execs, the commands that exec probes and hooks ran in
//     it (a list of args, code, error, seconds), as the container runtime saw it, and
//     processes, those that were started on this machine for them (a list of program,
//     code, seconds, cpu: how many seconds of a processor it took). If a pod is replaced
//     by one of the same name, all go on, and pods is 2; restarts are the starts after
//     the first one in each pod.
//   - connections["pod/container"]: a list, in the order in which they were
//     closed, of what the fake server saw on the wire: first (tls-client-hello,
//     http2-preface, http1-request, nothing, other), tls, requests, close, ...,
//     and at, when the server accepted it, and pod: 1, or 2 in the pod that replaced
//     the first one of that name. Those that ended because their kubelet was
//     stopped are not among them.
//   - pods["name"] and objects["resource/namespace/name"]: the object as the API
//     server last showed it, of every resource that an expression of the scenario names,
//     be it as "jobs/..." or as the kind "Job", and of pods, nodes, deployments,
//     replicasets, daemonsets and statefulsets anyway. Custom resources are among them
//     if the scenario applies their CustomResourceDefinition. A key, the beginning of
//     keys (startsWith) or a kind of which nothing is recorded is refused
//   - events["pod"]: the events about a pod: type, reason, message, count
//   - requests["step name"]: the API server's answer to a write, a delete or a get: code,
//     codes (how often which was answered to a client), reason, message, warnings (those of
//     that request), object, response (the object as it was returned, or the JSON at the
//     path of a get, whose size is bytes; a delete has none)
//   - history["resource/namespace/name"]: all versions of an object that were
//     seen, in their order, also of one that was deleted
//   - kubectl["step name"]: how a kubectl ended: code (its exit code), output (the JSON that
//     it printed, or the text) and errors
//   - metrics["kubelet/node-a"]["name"]: the samples of a metric when it was
//     scraped last: labels and value. scrapes["step name"]["name"] are those that
//     one step scraped, to compare them with others.
//   - logs["step name"]: the lines that a log step found
//   - stored["step name"]: what etcd had of an object: encoding (protobuf, json),
//     apiVersion, kind, bytes (its size), content (of JSON) and fields (of protobuf),
//     a list of path (field numbers, as 2.2.1 for the name of a container of a pod),
//     wire (varint, bytes, ...), value and bytes. It is read without a schema, so that
//     the fields of a message are those that follow it.
//   - sockets["step name"]: a list of local and remote (address:port) and state
//     (ESTABLISHED, LISTEN, TIME_WAIT, ...)
//   - podsAPI["step name"]: what the Pods API answered to list and get: code (OK,
//     FailedPrecondition, ...), message, pods (by name), list (in their order),
//     bytes, socket (path, mode, dirMode), codes (how often which), at
//   - watches["step name"]: events (a list of type, name, pod, at), synced, pods (as
//     a client has them that does what the events say), code and message, once it
//     has ended
//   - polls["step name"]: views, the answers that differ from the one before, and
//     codes, how often which was answered, once it has ended. Requests that were
//     refused for their rate are counted only.
//   - components["kubelet/node-a"]: running, restarts, exits (a list of code, signal,
//     asked, seconds from SIGTERM to the end, overdue if it had to be killed, and at),
//     version and gates of what runs or ran last, and at, when that was started. A
//     component that ends by itself ends the cell, unless an expression asks for its
//     running or exits
//   - nodes["node-0"]: ready (True, False or Unknown), zone, changes, a list of
//     ready and at, and events, those about the node: type, reason, message, count
//   - leases["lease-nodes/a"]: how old the leases of simulated nodes really are, in
//     seconds: nodes, median, p99, oldest
//   - dependents["kube-controller-manager"]: the Deployments on the seed: replicas,
//     annotations and scaled, a list of replicas and at
//   - webhooks["injector"]: what API servers asked a webhook, in the order of its answers:
//     operation, object, subresource, user, dryRun, allowed, message, patch (a list, such as
//     "remove /spec/replicas"), error (why there was no answer), seconds, at
//   - conversions["runners.example.com"]: what API servers asked a conversion webhook, in the
//     order of its answers: to (the version), objects (a list of object, from and patch, a
//     list such as "remove /spec/replicas"), message (of a refusal), error (why there was no
//     answer), seconds, at. They convert more often than objects are written
//   - calls["kube-controller-manager->kube-apiserver"]: the requests of a component that a
//     lose or answer step is about, or of the watchdog, from the beginning of the cell on, in
//     the order of their answers: method, path, code, answered (by the link), lost, at
//   - since: when the step began. It and all at are seconds since the cell did.
//
// # Comparisons
//
// compare has each cell compared with the one that differs from it in the values of with
// alone, from their records. That is a check of the cell, by the name of id:
//
//	compare:
//	  id: the-same
//	  requirement: KEP-4330/goals/as-the-version # if unset, it proves none
//	  with: {release: previous}
//	  explained:
//	  - {what: "step create: *: warning", because: the newer release knows the field}
//
// The check fails if a field of an object, an answer, a check, an exit of a container, or
// what probes put on the wire differs, and no explanation covers it. The field what names
// the difference as the check lists it; * stands for anything. With says (patterns of what
// the cells say of it) or fails (the id of a check that one of the two does not pass), an
// explanation covers only what matches these, too. An explanation that covers nothing is a
// problem of the run.
//
// # Checks that are refused
//
// Some checks would hold whatever a release does. They are refused before anything
// runs, with their place and what to do:
//
//   - One that asks for enough of what was seen (exists, size() >= 5, starts > 1), also of
//     each in a list (all, map, filter), after a step that changed what runs or how
//     (restart, start, roll, route, stop, kill, reboot, a fault of a link or its end, clock): what was seen
//     before it may be enough. atLeast counts from when the check begins, and so does a
//     filter by c.at > since. What was created after the change may be asked about like
//     this.
//   - One that measures a time from since (c.at - since, c.at > since + 30.0) in a step that
//     does not follow such a step: what it measures may have been before.
//   - One that reads the version or gates of components, or which of them were not
//     started: the scenario says so itself. Scrape the component, or look at its node's
//     status. That components run, and how they ended, may be asked.
//   - One with the requirement of another ledger than its scenario's, which is that of
//     the first segment of its id.
//   - One with the key of an object of a resource that neither Kubernetes has nor the
//     scenario defines.
//   - One with a name that nothing of the scenario has: of a pod, a container, a node, a
//     component, a step before it. The names of what a controller makes are not known
//     before; it is known how they begin.
//   - One with a field that no object of the newest release has, if that is the release of
//     the API server and the type is known: pods["tls"].status.phse.
//
// A cell without a check is refused, too: it would pass by what always holds (see below)
// alone, whatever it is about.
//
// A check is unknown if it held before a component was stopped or a link got a fault, and
// held at once after it: no component notices a fault within a second.
//
// Names of objects outside the namespace default are written namespace/name. A
// key that is not there is an error of the expression, which is never what a
// check wants; connections and events of a pod or container that was seen are
// lists, empty if there were none. All but API objects have known fields, which
// docs/fields.md lists (skewrig docs fields): a misspelt one is found before anything runs.
//
// A field of an API object may be null, which is not absent: o.?endpoints.orValue([]) is null
// then, and has no size. Ask has(o.endpoints) && o.endpoints != null first. A wait whose
// condition can't be evaluated tries again after each event; when its time is over, it
// reports where the evaluation failed, and on what value.
//
// What evaluations cost is limited. An item of a loop costs 1, and so do 64 bytes that a
// function goes through: one evaluation may cost 1048576, and all of a cell 67108864. A check
// that needs more is unknown. An expression has at most 8192 bytes, and is at most 64 deep;
// the different ones of all cells of a file have at most 32768.
//
// # Limits
//
// A scenario has at most 500 steps, with those of sequences, 150 checks, 100 nodes and 256
// cells. Checks times cells are at most 1000, and steps times cells times components 100000.
// The file for each cell, and the manifests of all steps and cells, have at most 1.5 MiB.
//
// # What always holds
//
// Some things must hold in every cell, whatever its scenario is about, and are
// judged on the whole record without being asked for: package oracle has them.
// They are the checks of a cell's result whose ids begin with "oracle:".
//
// # Time
//
// What must happen within a time has more of it on a machine that is slow or
// busy: the engine measures how late timers fire and how many threads wait for
// a processor, and stretches deadlines by as much. If timers fire too
// late for the machine to be trusted, what did not happen is unknown, and not a failure.
// Threads that wait are no reason by themselves. What was seen is judged however late the
// machine is, with two exceptions, whose failures are unknown on such a machine: times that
// a check computes or reads; and pods for which a client waited a second for a server that
// should have answered at once.
package scenarios
