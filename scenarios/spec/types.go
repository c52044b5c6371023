// Package spec is the scenario language as Go types, with strict decoding:
// every problem of a file is reported at once, with its line and column. The
// manual of the language is the package comment of package scenarios.
package spec

import (
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// APIVersion and Kind are what a scenario file must declare.
const (
	APIVersion = "skewrig.dev/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is one file of the language.
type Scenario struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ID is area/group/name.
	ID string `json:"id"`
	// Title says in a sentence what the scenario shows.
	Title string `json:"title"`
	// Control is the id of the scenario in which what this one shows must go
	// the other way: its negative control. If unset, it has none.
	Control string `json:"control,omitempty"`
	// Axes expand the scenario into cells. If unset, it is one cell.
	Axes map[string][]string `json:"axes,omitempty"`
	// Where is a condition on the axes. Combinations for which it doesn't hold
	// are no cells. If unset, all of them are.
	Where string `json:"where,omitempty"`
	// Compare has cells compared with another one of the scenario. If unset, each is judged by
	// itself.
	Compare  *Compare `json:"compare,omitempty"`
	Topology Topology `json:"topology"`
	Images   []Image  `json:"images,omitempty"`
	// Steps are those of the file, with the sequences that it uses put in.
	Steps []Step `json:"steps"`
}

// Topology is the rig that a scenario needs.
type Topology struct {
	// TimeScale is by how much shorter than written the times of nodeMonitor,
	// leaseNodes and garden are, so that an outage of minutes fits into seconds.
	// If unset, they are as written.
	TimeScale float64 `json:"timeScale,omitempty"`
	// Unsupported are rules of the version skew policy that the scenario breaks on purpose:
	// servers-apart, server-skips, kubelet-too-old, kubelet-newer, controller-skew. If unset,
	// a rig that would break one is refused.
	Unsupported []Rule `json:"unsupported,omitempty"`
	// OptionalGates are gates that a component has set only while its release has them. If
	// unset, a gate that the release of a component does not have is refused.
	OptionalGates []string `json:"optionalGates,omitempty"`
	// WithDependents has gates come with those that they depend on when they are turned on, and
	// with those that depend on them when they are turned off. If unset, a gate that can't be
	// set alone is refused.
	WithDependents bool `json:"withDependents,omitempty"`
	// ControlPlane is all of the newest release if unset.
	ControlPlane ControlPlane `json:"controlPlane,omitzero"`
	Nodes        []Node       `json:"nodes,omitempty"`
	LeaseNodes   *LeaseNodes  `json:"leaseNodes,omitempty"`
	Garden       *Garden      `json:"garden,omitempty"`
}

// ControlPlane is what runs beside the nodes.
type ControlPlane struct {
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, newest.
	Version release.Version `json:"version,omitempty"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Servers are API servers on one etcd. If unset, there is one, kube-apiserver.
	Servers []Member `json:"servers,omitempty"`
	// PeerProxy has API servers with the gate UnknownVersionInteroperabilityProxy on send a request
	// for what only another one serves to that one (KEP-4020). If unset, they answer 404.
	PeerProxy bool `json:"peerProxy,omitempty"`
	// ControllerManager and Scheduler are run unless set to false.
	ControllerManager *bool `json:"controllerManager,omitempty"`
	Scheduler         *bool `json:"scheduler,omitempty"`
	// ControllerManagers and Schedulers are several of them, of which each time one is the
	// leader. If unset, there is one of each, kube-controller-manager and kube-scheduler.
	ControllerManagers []Member `json:"controllerManagers,omitempty"`
	Schedulers         []Member `json:"schedulers,omitempty"`
	// Flags are those of etcd, kube-apiserver, kube-controller-manager and kube-scheduler,
	// by the program and their names without hyphens. If unset, they are those that a rig sets.
	Flags map[string]map[string]string `json:"flags,omitempty"`
	// Config is a JSON merge patch (RFC 7386) of the configuration file of kube-scheduler, by
	// the program. If unset, it has none.
	Config map[string]map[string]any `json:"config,omitempty"`
	// EmulatedVersion is an older minor version whose gates and APIs the control plane has: a
	// release, "newest", "previous" or a minor version ("v1.36"). If unset, it emulates none.
	EmulatedVersion release.Version `json:"emulatedVersion,omitempty"`
	// MinCompatibilityVersion is the oldest minor version that it expects beside it. If unset,
	// the one before the emulated one.
	MinCompatibilityVersion release.Version `json:"minCompatibilityVersion,omitempty"`
	// NodeMonitor is how the controller manager looks after nodes.
	NodeMonitor *NodeMonitor `json:"nodeMonitor,omitempty"`
}

// Node is a simulated node with a real kubelet.
type Node struct {
	Name string `json:"name"`
	// Version is a release, "newest", "previous" or a minor version ("v1.36"). If unset, newest.
	//
	// A node of version "reference" has the newest kubelet, with a server of the Pods
	// API that does what the text of KEP-4188 asks for.
	Version release.Version `json:"version,omitempty"`
	Gates   release.Gates   `json:"gates,omitempty"`
	// Settings are the flags and the configuration of the kubelet. If unset, they are those that a rig sets.
	Settings
	// Via are the API servers that the kubelet connects to. If unset, the first one.
	Via Via `json:"via,omitempty"`
	// Standalone is a kubelet that knows of no API server. It runs static pods.
	Standalone bool `json:"standalone,omitempty"`
	// Defaults are settings of the kubelet that are left to its release: maxPods,
	// logging (how much it logs), syncFrequency, fileCheckFrequency, eventRecordQPS. If
	// unset, a rig sets all of them.
	Defaults []string `json:"defaults,omitempty"`
	// Runtime is the node's container runtime: simulated, which is skewrig's own, or containerd,
	// which has real containers and takes root. If unset, simulated.
	Runtime string `json:"runtime,omitempty"`
	// RuntimeHandlers are those of the node's container runtime beside the default one, which
	// all run pods alike. If unset, there is the default one only.
	RuntimeHandlers RuntimeHandlers `json:"runtimeHandlers,omitzero"`
	// Endpoints has pods report addresses that EndpointSlices take, those of 240.0.0.0/4. Nothing reaches these: probes
	// over the network fail. If unset, they report the loopback addresses that they have, which EndpointSlices refuse.
	Endpoints bool `json:"endpoints,omitempty"`
}

// RuntimeHandlers are those of a container runtime.
type RuntimeHandlers = record.RuntimeHandlers

// Image maps the images that match a pattern to a fake server.
type Image = record.Image

// Step is one thing to do.
type Step struct {
	// Name names the step in expressions (requests["name"]) and in the plan.
	// If unset, it is the number of the step.
	Name string `json:"name,omitempty"`
	// When is a condition on the axes and on the releases that are in force
	// before the step. If it doesn't hold, the step is left out. If unset, the
	// step is for all cells.
	When string `json:"when,omitempty"`
	// Run says whether the step is taken after something went wrong. If unset,
	// it is taken as long as the steps before it could be done.
	Run record.Run `json:"run,omitempty"`

	// Accepted says that the API server must accept what the step asks, and Rejected how
	// it must refuse it: each is judged as a check. With Refusable, the cell continues whatever
	// it answers. If all are unset, a refusal ends the cell, which can't be judged then.
	Accepted  bool      `json:"accepted,omitempty"`
	Rejected  *Rejected `json:"rejected,omitempty"`
	Refusable bool      `json:"refusable,omitempty"`
	// Via is the API server that is asked. If unset, the first one.
	Via string `json:"via,omitempty"`
	// UnknownFields are the names of fields that the step's objects have although the
	// newest release does not know them. Others that it does not know are refused.
	UnknownFields []string `json:"unknownFields,omitempty"`

	// Kind is the field that says what the step does, and Action what that is. A
	// step has exactly one.
	Kind   string `json:"-"`
	Action Action `json:"-"`
	// Skipped is true if When does not hold.
	Skipped bool `json:"-"`
}

// Rejected is how the API server must refuse what a step asks: true, or an object
// with these fields.
type Rejected struct {
	// Code is the HTTP status, such as 422. If unset, any from 400.
	Code int `json:"code,omitempty"`
	// Message is a regular expression (RE2) that the message must match. If unset, any
	// message does.
	Message string `json:"message,omitempty"`
}

// OrTrue implements strict.OrTrue.
func (Rejected) OrTrue() {}

// Objects are API objects as written: one object, or a list.
type Objects []map[string]any

// Span is a length of time, in seconds or in probe periods.
type Span struct {
	// For is a duration as in Go ("10s"), or a count of probe periods ("5
	// periods").
	For string `json:"for"`
	// Of is the container whose probe period counts: pod/container, or
	// namespace/pod/container. A Deployment or the like stands for its pods.
	// It goes with periods only.
	Of string `json:"of,omitempty"`
}
