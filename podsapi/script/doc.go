// Package script is the life of a node's pods, written down, for whoever develops an
// agent: what there is, what changes and when, restarts of the kubelet, and what it
// does wrong. A script is a file:
//
//	apiVersion: skewrig.dev/v1alpha1
//	kind: PodsAPIScript
//	template:                      # of the pods that add makes; may be left out
//	  metadata: {labels: {app: web}}
//	  spec: {containers: [{name: app, image: registry.example/web}]}
//	steps:
//	- add: {name: web, count: 3}   # web-0, web-1 and web-2, which run and are ready
//	- add: {pod: {…}}              # a manifest; without a status, it runs
//	- ready: true                  # the node knows its pods; until then, every call is FAILED_PRECONDITION
//	- wait: 2s
//	- change: {name: web-1, ready: false}
//	- change: {name: web-1, restarts: 1, labels: {app: other}}
//	- change: {name: web-2, phase: Failed}
//	- remove: {name: web-0}
//	- churn: {rate: 100, for: 10s, seed: 7}       # changes a second, of running pods by chance
//	- disturb: {delay: 100ms, breakAfter: 10}     # hold answers back, break watches; {} ends it
//	- restart: {down: 500ms, initializing: 1s}    # of the kubelet; its pods go on
//
// A step has one action. Steps take no time, but for wait, churn and restart. A pod is
// called by its name, or by namespace/name if it isn't in the namespace default. The
// node begins without pods, and not ready.
//
// Parse reads a script and Plan turns it into moves with their times. Both only take
// and return values. A Node plays the moves on the reference server of the Pods API, to
// whatever client connects, and reports what each client did and missed.
package script
