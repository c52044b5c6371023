package scenarios_test

import (
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// show prints the planned steps of each cell of a scenario, of which the example
// gives what follows the head. showAll prints the whole plans.
func show(scenario string) { printPlans(scenario, "steps\n") }

func showAll(scenario string) { printPlans(scenario, "from example.yaml\n\n") }

func printPlans(scenario, after string) {
	const head = `
apiVersion: skewrig.dev/v1alpha1
kind: Scenario
id: mine/manual/example
title: An example
`
	files, err := action.Load(fstest.MapFS{"example.yaml": {Data: []byte(head + scenario)}}, []string{"example.yaml"})
	if err != nil {
		fmt.Println(err)
		return
	}
	cells, err := plan.Cells(files)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, cell := range cells {
		_, text, _ := strings.Cut(plan.Print(cell), after)
		fmt.Printf("%s\n%s\n", cell.ID, text)
	}
}

// A garden has a seed with a watchdog, whose times shrink with those of the
// simulated nodes.
func Example_garden() {
	showAll(`
topology:
  timeScale: 5
  controlPlane: {version: v1.90.1, scheduler: false, nodeMonitor: {period: 5s, grace: 50s}}
  leaseNodes: {zones: {a: 12, b: 8}, offset: -10s}
  garden:
    watchdog: v1.8.0
    dependents: {kube-controller-manager: 1}
    prober:
      dependentResourceInfos:
      - {ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}, scaleUp: {level: 0}, scaleDown: {level: 0}}
steps:
- cut: {from: lease-nodes/a}
- answer: {from: dependency-watchdog, path: /version, status: 429, retryAfter: 5s}
- slow: {from: dependency-watchdog->seed/kube-apiserver, delay: 1s}
- clock: {of: lease-nodes/b, step: -2m}
- patch: {object: seed/clusters/shoot, merge: {spec: {shoot: {spec: {hibernation: {enabled: true}}}}}}
- stop: lease-nodes/b
- restart: {component: dependency-watchdog, version: v1.2.3}
`)
	// Output:
	// mine/manual/example
	// rig
	//   etcd v3.7.0
	//   kube-apiserver v1.90.1
	//   kube-controller-manager v1.90.1
	//   seed/etcd v3.7.0
	//   seed/kube-apiserver v1.90.1
	//   dependency-watchdog v1.8.0
	//   time runs 5 × as fast for the node monitor, the leases of simulated nodes, the watchdog
	//   kube-controller-manager looks after nodes every 1s
	//   kube-controller-manager lets nodes be silent for 10s
	//   12 simulated nodes in zone a: leases of 8s, renewed every 2s, clocks 2s behind
	//   8 simulated nodes in zone b: leases of 8s, renewed every 2s, clocks 2s behind
	//   Deployment kube-controller-manager, replicas: 1
	//   prober {"kubeConfigSecretName":"dependency-watchdog-probe","probeInterval":"2s","initialDelay":"6s","probeTimeout":"6s","kcmNodeMonitorGraceDuration":"8s","dependentResourceInfos":[{"ref":{"apiVersion":"apps/v1","kind":"Deployment","name":"kube-controller-manager"},"scaleUp":{"level":0,"timeout":"6s"},"scaleDown":{"level":0,"timeout":"6s"}}]}
	//   a link from dependency-watchdog to kube-apiserver
	//   a link from dependency-watchdog to seed/kube-apiserver
	//   no kube-scheduler
	//
	// steps
	//   1. cut lease-nodes/a -> kube-apiserver: drop
	//   2. on dependency-watchdog -> kube-apiserver: answer 429 retry after 5s to /version
	//   3. slow dependency-watchdog -> seed/kube-apiserver: delay 1s
	//   4. step the clock of lease-nodes/b by -2m0s
	//   5. patch seed/clusters/shoot with {"spec":{"shoot":{"spec":{"hibernation":{"enabled":true}}}}}
	//   6. stop lease-nodes/b
	//   7. restart dependency-watchdog as v1.2.3
	//       dependency-watchdog v1.8.0 -> v1.2.3
}

// Axes make cells, and where leaves some of them out.
func Example_axes() {
	showAll(`
axes:
  apiserver: [v1.90.1, v1.89.3]
  kubelet: [v1.90.1, v1.89.3]
where: apiserver == v1.90.1 and kubelet < 1.90
topology:
  controlPlane: {version: "${apiserver}", gates: {}, scheduler: false}
  nodes: [{name: node-a, version: "${kubelet}"}]
steps:
- wait: {until: 'objects["nodes/node-a"].metadata.name == "node-a"'}
`)
	// Output:
	// mine/manual/example/apiserver:v1.90.1/kubelet:v1.89.3
	// rig
	//   etcd v3.7.0
	//   kube-apiserver v1.90.1
	//   kube-controller-manager v1.90.1
	//   kubelet/node-a v1.89.3 (skew supported)
	//   no kube-scheduler
	//
	// steps
	//   1. wait up to 1m0s until objects["nodes/node-a"].metadata.name == "node-a"
}

// What an API server emulates counts, also for what may run beside it.
func Example_emulation() {
	showAll(`
topology:
  controlPlane:
    servers: [{name: a, version: v1.37.1, emulatedVersion: v1.36}]
    controllerManagers: [{name: a, version: v1.37.1, emulatedVersion: v1.36}]
    schedulers: [{name: a, version: v1.37.1}]
  nodes: [{name: node-a, version: v1.36.3}]
steps:
- wait: {for: 1s}
- checks: [{id: there, observe: 'objects["nodes/node-a"].metadata.name', is: node-a}]
`)
	// Output:
	// mine/manual/example
	// rig
	//   etcd v3.7.0
	//   kube-apiserver/a v1.37.1, emulating v1.36
	//   kube-controller-manager/a v1.37.1, emulating v1.36
	//   kube-scheduler/a v1.37.1 (skew unsupported: it is newer than the API server)
	//   kubelet/node-a v1.36.3 (skew supported)
	//
	// steps
	//   1. wait for 1s
	//   2. check there
	//       there: at once: objects["nodes/node-a"].metadata.name == "node-a"
}

// A kubelet can be left as its release has it.
func Example_defaults() {
	showAll(`
topology:
  controlPlane: {version: v1.90.1, scheduler: false, controllerManager: false}
  nodes: [{name: node-a, version: v1.90.1, defaults: [maxPods, logging]}]
steps:
- checks: [{id: pods, observe: 'objects["nodes/node-a"].status.capacity.pods', is: "110"}]
`)
	// Output:
	// mine/manual/example
	// rig
	//   etcd v3.7.0
	//   kube-apiserver v1.90.1
	//   kubelet/node-a v1.90.1 (skew supported), default maxPods, logging
	//   no kube-controller-manager
	//   no kube-scheduler
	//
	// steps
	//   1. check pods
	//       pods: at once: objects["nodes/node-a"].status.capacity.pods == "110"
}

// Images are served by fake servers, which change what they do over time.
func Example_images() {
	showAll(`
topology: {controlPlane: {version: v1.90.1}}
images:
- image: registry.example/payments
  listen:
  - port: 8443
    protocol: grpc-tls
    tls: {certificate: expired}
    phases:
    - for: 10s
    - grpc: {services: {"": NOT_SERVING}}
steps:
- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`)
	// Output:
	// mine/manual/example
	// rig
	//   etcd v3.7.0
	//   kube-apiserver v1.90.1
	//   kube-controller-manager v1.90.1
	//   kube-scheduler v1.90.1
	//
	// images
	//   registry.example/payments
	//     port 8443 speaks grpc-tls, tls {"certificate":"expired"}: healthy for 10s, then {"grpc":{"services":{"":"NOT_SERVING"}}}
	//
	// steps
	//   1. create ConfigMap a
}

// Requests change objects. One that must be refused says so.
func Example_requests() {
	show(`
topology:
  controlPlane: {version: v1.90.1}
  nodes: [{name: node-a, version: v1.90.1}]
steps:
- {name: create, apply: {apiVersion: v1, kind: Pod, metadata: {name: tls}}}
- patch: {object: pods/tls, merge: {metadata: {labels: {a: b}}}}
- {rejected: {code: 422, message: may not change}, patch: {object: pods/tls, merge: {spec: {nodeName: other}}}}
- staticPod: {node: node-a, pod: {apiVersion: v1, kind: Pod, metadata: {name: static}}}
- delete: pods/tls
`)
	// Output:
	// mine/manual/example
	//   1. create: create Pod tls
	//   2. patch pods/default/tls with {"metadata":{"labels":{"a":"b"}}}
	//   3. patch pods/default/tls with {"spec":{"nodeName":"other"}}, which the API server must refuse with code 422
	//       3-rejected: at once: {"code": requests["3"].code, "message": requests["3"].?message.orValue("")} satisfies it.code == 422 && it.message.matches("may not change")
	//   4. run static Pod static on node-a
	//   5. delete pods/default/tls
}

// Components are restarted as other releases, with other gates, stopped, killed
// and started again.
func Example_components() {
	show(`
topology:
  controlPlane: {version: v1.89.3}
  nodes: [{name: node-a, version: v1.89.3}]
steps:
- restart: {component: kube-apiserver, version: v1.90.1, gates: {GRPCContainerProbeTLS: true}}
- kill: kubelet/node-a
- start: {component: kubelet/node-a, version: v1.90.1}
- restart: {component: kube-apiserver, version: v1.89.3, unset: [GRPCContainerProbeTLS]}
- stop: kube-scheduler
- reboot: node-a
- {name: in time, stop: {component: kubelet/node-a, within: 30s}}
`)
	// Output:
	// mine/manual/example
	//   1. restart kube-apiserver as v1.90.1 with GRPCContainerProbeTLS=true
	//       kube-apiserver v1.89.3 -> v1.90.1
	//       kube-apiserver gate GRPCContainerProbeTLS unset -> true
	//   2. kill kubelet/node-a
	//   3. start kubelet/node-a as v1.90.1
	//       kubelet/node-a v1.89.3 -> v1.90.1
	//   4. restart kube-apiserver as v1.89.3 with GRPCContainerProbeTLS unset
	//       kube-apiserver v1.90.1 -> v1.89.3
	//       kube-apiserver gate GRPCContainerProbeTLS true -> unset
	//       kubelet/node-a skew supported -> unsupported: the kubelet is newer than the API server
	//   5. stop kube-scheduler
	//   6. reboot node-a
	//   7. in time: stop kubelet/node-a, which must end within 30s
	//       in-time-ended: within 30s: components["kubelet/node-a"].running == false
}

// Checks say what must hold, and when.
func Example_checks() {
	show(`
topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: v1.89.3}]}
steps:
- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, livenessProbe: {periodSeconds: 2}}]}}
- scrape: {component: kubelet/node-a, path: /metrics/probes}
- checks:
  - {id: now, observe: 'metrics["kubelet/node-a"].size()', must: it > 0}
  - {id: soon, observe: 'pods["web"].status.phase', is: Running, eventually: 30s}
  - {id: stays, observe: 'containers["web/app"].running', is: true, always: {for: 5 periods, of: web/app}}
  - {id: not, observe: 'events["web"].map(e, e.reason)', must: '"Unhealthy" in it', never: {for: 10s}}
  - {id: bounded, observe: 'history["pods/default/web"].size()', atMost: {times: 3, for: 10s}}
  - {id: goes-on, observe: 'history["pods/default/web"].size()', atLeast: {times: 1, within: 10s}}
  - {id: old, observe: 'components["kubelet/node-a"].version', is: v1.89.3, when: kubelet/node-a < 1.90}
  - {id: new, observe: 'components["kubelet/node-a"].version', is: v1.90.1, when: kubelet/node-a >= 1.90}
`)
	// Output:
	// mine/manual/example
	//   1. create Pod web
	//   2. scrape /metrics/probes of kubelet/node-a
	//   3. check now, soon, stays, not, bounded, goes-on, old
	//       now: at once: metrics["kubelet/node-a"].size() satisfies it > 0
	//       soon: within 30s: pods["web"].status.phase == "Running"
	//       stays: always for 10s: containers["web/app"].running == true
	//       not: never for 10s: events["web"].map(e, e.reason) satisfies "Unhealthy" in it
	//       bounded: for 10s: history["pods/default/web"].size() grows by 3 at most
	//       goes-on: within 10s: history["pods/default/web"].size() grows by 1 at least
	//       old: at once: components["kubelet/node-a"].version == "v1.89.3"
}

// What a scenario only looks at is read into the record, for checks.
func Example_readings() {
	show(`
topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: v1.90.1}]}
steps:
- get: {path: /openapi/v3/api/v1}
- get: {component: kubelet/node-a, path: /configz}
- stored: {object: pods/web}
- {name: of the node, stored: {object: nodes/node-a}}
- log: {component: kubelet/node-a, match: Probe failed}
- sockets: {component: kubelet/node-a, port: 8443, for: 5s}
- checks:
  - {id: small, observe: 'stored["of the node"].bytes', must: it < 10000}
`)
	// Output:
	// mine/manual/example
	//   1. get /openapi/v3/api/v1 of kube-apiserver
	//   2. get /configz of kubelet/node-a
	//   3. read pods/default/web in etcd
	//   4. of the node: read nodes/node-a in etcd
	//   5. read /Probe failed/ in the log of kubelet/node-a
	//   6. read the sockets of kubelet/node-a, waiting ones of port 8443, for 5s
	//   7. check small
	//       small: at once: stored["of the node"].bytes satisfies it < 10000
}

// The way from a component to the API server can be cut and slowed down.
func Example_links() {
	show(`
topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: v1.90.1}]}
steps:
- cut: {from: kubelet/node-a}
- heal: kubelet/node-a
- cut: {from: kube-controller-manager, how: reset, afterBytes: 4096}
- slow: {from: kubelet/node-a, delay: 100ms, jitter: 20ms}
- lose: {from: kube-scheduler, verb: create, resource: pods/binding, nth: 2}
- heal: kube-scheduler
- crash: {from: kube-scheduler, when: after, verb: create, resource: pods/binding}
- slow: {from: kube-apiserver, delay: 3s, direction: backward}
`)
	// Output:
	// mine/manual/example
	//   1. cut kubelet/node-a -> kube-apiserver: drop
	//   2. heal kubelet/node-a -> kube-apiserver
	//   3. cut kube-controller-manager -> kube-apiserver: reset after 4096 bytes
	//   4. slow kubelet/node-a -> kube-apiserver: delay 100ms jitter 20ms
	//   5. on kube-scheduler -> kube-apiserver: lose the answer to request 2 to create pods/binding
	//   6. heal kube-scheduler -> kube-apiserver
	//   7. on kube-scheduler -> kube-apiserver: crash after request 1 to create pods/binding
	//   8. slow kube-apiserver -> etcd: delay 3s backward
}

// An object can be written in the ways that clients have.
func Example_writes() {
	show(`
topology: {controlPlane: {version: v1.90.1}}
steps:
- create:
    object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicaz: 1}}
    fieldValidation: Strict
    dryRun: true
  unknownFields: [replicaz]
  rejected: {code: 400, message: unknown field}
- put: {object: deployments/web, merge: {spec: {paused: true}}, manager: release-tool}
- put: {object: deployments/web, subresource: scale, merge: {spec: {replicas: 0}}}
- put: {object: deployments/web}
- serverSideApply:
    object: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {mode: fast}}
    manager: operator
    force: true
- patch: {object: pods/web-0, subresource: resize, merge: {spec: {containers: []}}}
- create:
    object: {apiVersion: policy/v1, kind: Eviction, metadata: {name: web-0}}
    subresource: pods/eviction
  accepted: true
`)
	// Output:
	// mine/manual/example
	//   1. create Deployment web with field validation Strict as a dry run, which the API server must refuse with code 400
	//       1-rejected: at once: {"code": requests["1"].code, "message": requests["1"].?message.orValue("")} satisfies it.code == 400 && it.message.matches("unknown field")
	//   2. put deployments/default/web with {"spec":{"paused":true}} as release-tool
	//   3. put deployments/default/web with {"spec":{"replicas":0}} as its scale
	//   4. put deployments/default/web as it is read
	//   5. apply ConfigMap settings as operator by force
	//   6. patch pods/default/web-0 with {"spec":{"containers":[]}} as its resize
	//   7. create Eviction web-0 as eviction of pods/default/web-0, which the API server must accept
	//       7-accepted: at once: {"code": requests["7"].code, "message": requests["7"].?message.orValue("")} satisfies it.code < 400
}

// Clients of other releases know other fields.
func Example_clients() {
	show(`
axes: {client: [v1.90.1, v1.89.4], encoding: [json, protobuf]}
where: client == 1.89 and encoding == protobuf
topology: {controlPlane: {version: v1.90.1}}
steps:
- client:
    version: "${client}"
    encoding: "${encoding}"
    update: deployments/web
    merge: {metadata: {annotations: {touched: "yes"}}}
    times: 3
  accepted: true
- client: {version: v1.89.4, update: pods/web-0, subresource: status}
- kubectl: {version: v1.89.4, args: [label, pod/web-0, "note=left alone"]}
- kubectl:
    version: "${client}"
    args: [apply, --validate=strict, -f, "-"]
    input: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, dota: {}}
  unknownFields: [dota]
  rejected: {message: unknown field}
- store: {object: deployments/web, version: "${client}", merge: {metadata: {annotations: {touched: null}}}}
`)
	// Output:
	// mine/manual/example/client:v1.89.4/encoding:protobuf
	//   1. update deployments/default/web by a client of v1.89.4, in protobuf, with {"metadata":{"annotations":{"touched":"yes"}}}, 3 times, which the API server must accept
	//       1-accepted: at once: {"code": requests["1"].code, "message": requests["1"].?message.orValue("")} satisfies it.code < 400
	//   2. update pods/default/web-0 by a client of v1.89.4, in json, as its status
	//   3. kubectl label pod/web-0 'note=left alone' (v1.89.4)
	//   4. kubectl apply '--validate=strict' -f - (v1.89.4) of ConfigMap settings, which must fail
	//       4-rejected: at once: {"code": kubectl["4"].code, "errors": kubectl["4"].errors} satisfies it.code != 0 && it.errors.matches("unknown field")
	//   5. store deployments/default/web in etcd as v1.89.4 has it, in protobuf, with {"metadata":{"annotations":{"touched":null}}}
}

// Admission webhooks change what is written, or stand in its way.
func Example_webhooks() {
	show(`
topology: {controlPlane: {version: v1.90.1}}
steps:
- webhook:
    name: injector
    rules: [{operations: [CREATE, UPDATE], resources: [deployments, pods]}]
    reserialize: v1.89.4
- webhook:
    name: injector
    rules: [{operations: [CREATE], resources: [pods]}]
    patch: [{op: add, path: /metadata/annotations, value: {injected: "yes"}}]
- webhook: {name: guard, rules: [{operations: [DELETE], resources: [pods]}], validating: true, refuse: not today}
- webhook: {name: guard, rules: [{operations: ["*"], resources: ["*/*"]}], delay: 3s, timeout: 1s, failurePolicy: Ignore}
- webhook: {name: guard, rules: [{operations: ["*"], resources: ["*/*"]}], away: true}
- delete: mutatingwebhookconfigurations/injector
`)
	// Output:
	// mine/manual/example
	//   1. webhook injector on CREATE|UPDATE of deployments, pods: write by the types of v1.89.4 (timeout 10s, failure policy Fail)
	//   2. webhook injector on CREATE of pods: patch [{"op":"add","path":"/metadata/annotations","value":{"injected":"yes"}}] (timeout 10s, failure policy Fail)
	//   3. webhook guard on DELETE of pods: refuse with "not today" (timeout 10s, failure policy Fail)
	//   4. webhook guard on * of */*: allow after 3s (timeout 1s, failure policy Ignore)
	//   5. webhook guard on * of */*: be away (timeout 10s, failure policy Fail)
	//   6. delete mutatingwebhookconfigurations/injector
}

// Custom resources embed a pod template, by the types of a release.
func Example_customResources() {
	show(`
topology: {controlPlane: {version: v1.90.1}}
steps:
- crd: {group: example.com, kind: Runner, versions: [{name: v1, template: v1.89.4}]}
- apply:
    apiVersion: example.com/v1
    kind: Runner
    metadata: {name: a}
    spec: {template: {spec: {containers: [{name: app, image: registry.example/web}]}}}
- crd: {group: example.com, kind: Runner, plural: runners, versions: [{name: v2, template: v1.90.1}, {name: v1}]}
- stored: {object: runners/a}
- conversion: {of: runners.example.com, reserialize: v1.89.4}
- conversion: {of: runners.example.com, reserialize: v1.89.4, at: "spec.jobs[].template", delay: 2s}
- conversion: {of: runners.example.com, refuse: not today}
- conversion: {of: runners.example.com, away: true}
- conversion: {of: runners.example.com}
`)
	// Output:
	// mine/manual/example
	//   1. define Runner runners.example.com: v1 with the template of v1.89.4
	//   2. create Runner a
	//   3. define Runner runners.example.com: v2 with the template of v1.90.1, v1 with any template
	//   4. read runners/default/a in etcd
	//   5. conversion of runners.example.com: write spec.template by the types of v1.89.4
	//   6. conversion of runners.example.com: write spec.jobs[].template by the types of v1.89.4 after 2s
	//   7. conversion of runners.example.com: refuse with "not today"
	//   8. conversion of runners.example.com: be away
	//   9. conversion of runners.example.com: keep everything
}

// A container runtime can hang, be dead for a while, as one that is restarted, fail calls
// or answer them late. Its containers go on.
func Example_runtimeLinks() {
	show(`
topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: v1.90.1}]}
steps:
- cut: {from: kubelet/node-a->runtime}
- heal: kubelet/node-a->runtime
- cut: {from: kubelet/node-a->runtime, how: reset}
- wait: {for: 5s}
- heal: kubelet/node-a->runtime
- answer: {from: kubelet/node-a->runtime, method: RunPodSandbox, code: Unknown, message: no network}
- heal: kubelet/node-a->runtime
- answer: {from: kubelet/node-a->runtime, method: PullImage, delay: 10m}
- heal: kubelet/node-a->runtime
- slow: {from: kubelet/node-a->runtime, delay: 500ms}
`)
	// Output:
	// mine/manual/example
	//   1. cut kubelet/node-a -> runtime: drop
	//   2. heal kubelet/node-a -> runtime
	//   3. cut kubelet/node-a -> runtime: reset
	//   4. wait for 5s
	//   5. heal kubelet/node-a -> runtime
	//   6. on kubelet/node-a -> runtime: answer Unknown "no network" to RunPodSandbox
	//   7. heal kubelet/node-a -> runtime
	//   8. on kubelet/node-a -> runtime: delay 10m0s to PullImage
	//   9. heal kubelet/node-a -> runtime
	//  10. slow kubelet/node-a -> runtime: delay 500ms
}

// A sequence is steps that are needed more than once.
func Example_sequences() {
	show(`
topology: {controlPlane: {version: v1.90.1}}
sequences:
  settled:
  - wait: {until: 'pods["${pod}"].status.phase == "Running"', within: 30s}
steps:
- {use: settled, with: {pod: a}}
- {use: settled, with: {pod: b}}
`)
	// Output:
	// mine/manual/example
	//   1. wait up to 30s until pods["a"].status.phase == "Running"
	//   2. wait up to 30s until pods["b"].status.phase == "Running"
}

// A step with when is left out where that does not hold. One with run is for
// after a failure.
func Example_conditions() {
	show(`
axes: {kubelet: [v1.90.1, v1.89.3]}
topology: {controlPlane: {version: v1.90.1}, nodes: [{name: node-a, version: "${kubelet}"}]}
steps:
- {when: kubelet/node-a < 1.90, restart: {component: kubelet/node-a, version: v1.90.1}}
- wait: {until: 'pods["web"].status.phase == "Running"'}
- {run: catch, scrape: {component: kubelet/node-a, path: /metrics/probes}}
- {run: cleanup, delete: pods/web}
`)
	// Output:
	// mine/manual/example/kubelet:v1.90.1
	//   2. wait up to 1m0s until pods["web"].status.phase == "Running"
	//   3. catch: scrape /metrics/probes of kubelet/node-a
	//   4. cleanup: delete pods/default/web
	//
	// mine/manual/example/kubelet:v1.89.3
	//   1. restart kubelet/node-a as v1.90.1
	//       kubelet/node-a v1.89.3 -> v1.90.1
	//   2. wait up to 1m0s until pods["web"].status.phase == "Running"
	//   3. catch: scrape /metrics/probes of kubelet/node-a
	//   4. cleanup: delete pods/default/web
}

// A control plane that is half-way through an upgrade has several API servers. What connects to
// them, and each step, says through which.
func Example_servers() {
	showAll(`
axes:
  b: [v1.90.1, v1.91.0, v1.93.0]
where: supported and b > 1.90
topology:
  controlPlane:
    version: v1.90.1
    servers: [{name: a}, {name: b, version: "${b}"}]
    controllerManagers: [{name: a, via: [a, b]}]
    schedulers: [{name: a}]
  nodes:
  - {name: node-a, version: v1.90.1, via: b}
steps:
- {via: b, patch: {object: deployments/web, merge: {spec: {replicas: 2}}}}
- get: {path: /api/v1/namespaces/default/pods/tls, component: kube-apiserver/b}
- route: {from: kubelet/node-a, to: [a, b]}
- roll: {to: "${b}", order: [servers, controllerManagers]}
- roll: {to: v1.90.1}
`)
	// Output:
	// mine/manual/example/b:v1.91.0
	// rig
	//   etcd v3.7.0
	//   kube-apiserver/a v1.90.1
	//   kube-apiserver/b v1.91.0
	//   kube-controller-manager/a v1.90.1 via a, b
	//   kube-scheduler/a v1.90.1
	//   kubelet/node-a v1.90.1 via b (skew supported)
	//   a link from kube-controller-manager/a to kube-apiserver
	//   a link from kubelet/node-a to kube-apiserver
	//
	// steps
	//   1. patch deployments/default/web with {"spec":{"replicas":2}} via b
	//   2. get /api/v1/namespaces/default/pods/tls of kube-apiserver/b
	//   3. route kubelet/node-a to a, b
	//       kubelet/node-a via b -> via a, b
	//   4. roll as v1.91.0: kube-apiserver/a, kube-controller-manager/a
	//       kube-apiserver/a v1.90.1 -> v1.91.0
	//       kube-controller-manager/a v1.90.1 -> v1.91.0
	//   5. roll as v1.90.1: kube-controller-manager/a, kube-apiserver/a, kube-apiserver/b
	//       kube-apiserver/a v1.91.0 -> v1.90.1
	//       kube-apiserver/b v1.91.0 -> v1.90.1
	//       kube-controller-manager/a v1.91.0 -> v1.90.1
}

// Components get flags and configuration on top of those of a rig, and gates come with
// those that they can't be set without.
func Example_settings() {
	showAll(`
topology:
  withDependents: true
  optionalGates: [GRPCContainerProbeTLS]
  controlPlane:
    version: v1.36.3
    gates: {GRPCContainerProbeTLS: true}
    controllerManager: false
    flags: {kube-apiserver: {max-requests-inflight: "50"}}
    config: {kube-scheduler: {podMaxBackoffSeconds: 1}}
  nodes:
  - {name: node-a, version: v1.35, gates: {GracefulNodeShutdown: false}, config: {maxPods: 10}}
  - {name: node-b, version: v1.35, runtimeHandlers: {names: [crun, runc], shuffled: true}}
steps:
- restart: {component: kubelet/node-a, config: {maxPods: null}}
- restart: {component: kube-apiserver, version: v1.37.1, flags: {max-requests-inflight: "5"}}
`)
	// Output:
	// mine/manual/example
	// rig
	//   etcd v3.7.0
	//   kube-apiserver v1.36.3, --max-requests-inflight=50
	//   kube-scheduler v1.36.3, config {"podMaxBackoffSeconds":1}
	//   kubelet/node-a v1.35.4 with GracefulNodeShutdown=false, GracefulNodeShutdownBasedOnPodPriority=false, WindowsGracefulNodeShutdown=false, config {"maxPods":10} (skew supported)
	//   kubelet/node-b v1.35.4 (skew supported), runtime handlers crun, runc in another order each time
	//   no kube-controller-manager
	//
	// steps
	//   1. restart kubelet/node-a with config {"maxPods":null}
	//       kubelet/node-a config {"maxPods":null}
	//   2. restart kube-apiserver as v1.37.1 with GRPCContainerProbeTLS=true, --max-requests-inflight=5
	//       kube-apiserver v1.36.3 -> v1.37.1
	//       kube-apiserver --max-requests-inflight=5
	//       kube-apiserver gate GRPCContainerProbeTLS unset -> true
}
