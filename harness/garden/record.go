package garden

import (
	"strings"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/record"
)

// Seed is what the seed is called in the record, before the names of its
// components and objects: "seed/kube-apiserver",
// "seed/deployments/shoot/kube-controller-manager".
const Seed = "seed"

// Recorder is the recorder of a seed: it records for a recorder that also records
// what happens to the shoot.
func Recorder(r record.Recorder) record.Recorder { return recorder{r} }

type recorder struct{ record.Recorder }

// Append says of what is recorded that it is the seed's. There is one
// dependency-watchdog, so its events need no owner.
func (r recorder) Append(source, subject string, payload record.Payload) {
	if observed, is := payload.(record.ObjectObserved); is {
		observed.Cluster = Seed
		payload = observed
	}
	r.Recorder.Append(source, inSeed(subject), payload)
}

func inSeed(subject string) string {
	if subject == cluster.DependencyWatchdog {
		return subject
	}
	if from, to, isLink := strings.Cut(subject, "->"); isLink {
		return from + "->" + Seed + "/" + to
	}
	return Seed + "/" + subject
}
