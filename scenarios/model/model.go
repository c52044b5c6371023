// Package model says what Kubernetes does with the two probe fields, in as few
// lines as that takes: what an API server stores of them, and what a kubelet
// then puts on the wire. It is written from the texts of the KEPs and from what
// releases were seen to do, and shares no code with Kubernetes; that is what
// makes a difference between the two worth looking at.
//
// All of it is values in, values out. Package oracle holds the record of a run
// against it.
package model

import "github.com/skewrig/skewrig/harness/release"

// Feature is one of the two fields, and what there is to know of it.
type Feature struct {
	// Name is the field's, below a probe.
	Name string
	// Gate is the feature gate that guards it, in API server and kubelet.
	Gate string
	// Since is the minor version of the first release that has the field.
	Since int
}

// The fields.
var (
	// GRPCMode is grpc.mode of KEP-4939.
	GRPCMode = Feature{Name: "grpc.mode", Gate: "GRPCContainerProbeTLS", Since: 37}
	// HTTPProtocol is httpGet.protocol of KEP-5999.
	HTTPProtocol = Feature{Name: "httpGet.protocol", Gate: "H2CContainerProbe", Since: 37}
)

// Features are all fields of the model.
func Features() []Feature { return []Feature{GRPCMode, HTTPProtocol} }

// Component is an API server or a kubelet: its release, and the gates that it
// was told to have. Both gates are off by default in every release so far, and a
// component whose release does not have a gate does not start with it.
type Component struct {
	Version release.Version
	Gates   release.Gates
}

// Knows reports whether a component's release has the field at all.
func (c Component) Knows(f Feature) bool { return c.Version.Minor() >= f.Since }

// Enabled reports whether a component has the field's gate on.
func (c Component) Enabled(f Feature) bool { return c.Gates[f.Gate] }
