package reports

import "cmp"

// Observation is how one kind of probe went.
type Observation struct {
	// Probe is its kind and the fields that it was asked for with: "grpc
	// mode=TLS". Server is the protocol of the server.
	Probe  string `json:"probe"`
	Server string `json:"server"`
	// APIServer is what created the pod, and Kubelet what probed it, each with
	// its release and gate: "v1.90.1 gate on".
	APIServer string `json:"apiserver"`
	Kubelet   string `json:"kubelet"`
	// Wire is what the probe began with: "tls-client-hello", "http2-preface",
	// "http1-request".
	Wire string `json:"wire"`
	// Succeeds is true if it had a good answer.
	Succeeds bool `json:"succeeds"`
}

// Compare orders observations by all their fields.
func (o Observation) Compare(p Observation) int {
	succeeds := 0
	switch {
	case o.Succeeds && !p.Succeeds:
		succeeds = -1
	case p.Succeeds && !o.Succeeds:
		succeeds = 1
	}
	return cmp.Or(
		cmp.Compare(o.Probe, p.Probe), cmp.Compare(o.Server, p.Server), cmp.Compare(o.APIServer, p.APIServer),
		cmp.Compare(o.Kubelet, p.Kubelet), cmp.Compare(o.Wire, p.Wire), succeeds,
	)
}
