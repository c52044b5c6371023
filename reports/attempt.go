package reports

import (
	"slices"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

// Attempt is a connection to a container, beside what is known of who opened it.
type Attempt struct {
	// Container is namespace/pod/container.
	Container string
	record.Connection
	// Probes are the probes and hooks that may have opened it, sorted and without
	// repetition. It is empty if none can have.
	Probes []Probe
	// Predicted is what the connection may begin with, by the model. It is empty
	// if the model can't say. An attempt that was given up may begin with nothing.
	Predicted []Prediction
	// Succeeded is true if a probe is content with what came of it.
	Succeeded bool
	// Follows is the place, from 1, of the attempt that was redirected to this one, among
	// those of the cell. If unset, none was, or it is not known which. One whose redirect leads to nothing good has
	// not succeeded.
	Follows int
	// CutOff is true if it ended without a whole answer because its kubelet did.
	CutOff bool
}

// Probe is a probe or a hook of a container, which may be another one of the pod
// than the one that it asks.
type Probe struct {
	// Container is namespace/pod/container.
	Container string
	// Name is "readiness", "preStop"; What is what it does: "grpc mode=TLS :5000".
	Name, What string
}

// Prediction is what a kubelet sends first.
type Prediction struct {
	First record.First
	// Kubelet is the release, and how the gate of the probe's field is set if the
	// probe uses the field: "v1.90.1 gate on".
	Kubelet string
	// Understood is true if the server makes sense of it.
	Understood bool
	// Over is true if that kubelet had ended when the connection was opened. It is
	// to be reckoned with all the same, since a connection may wait to be accepted.
	Over bool
}

// Expected reports whether the attempt began as it could have been expected to,
// or was given up before it began. It does not say that the model had a say.
func (a Attempt) Expected() bool {
	return len(a.Predicted) == 0 || a.First == record.FirstNothing ||
		slices.ContainsFunc(a.Predicted, func(p Prediction) bool { return p.First == a.First })
}

// Unended reports whether the server sent the headers of an answer, and then
// nothing of its body for as long as the connection lasted.
func (a Attempt) Unended() bool {
	return a.Fault == behavior.StallAfterHeaders && a.Answered()
}
