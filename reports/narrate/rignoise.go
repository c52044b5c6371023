package narrate

import (
	"regexp"

	"github.com/skewrig/skewrig/reports"
)

// rigNoise are lines that components write because of how the rig is made, whatever a
// scenario is about, each with the reason.
var rigNoise = []struct {
	pattern *regexp.Regexp
	because string
}{
	{regexp.MustCompile(`failed to read memory cgroup \w+ for the pod" err="not implemented"`), "the rig has no cgroups: its containers are fake servers"},
	{regexp.MustCompile(`Eviction manager: failed to construct signal" err="system container \\"pods\\" not found`), "the rig has no cgroups: its containers are fake servers"},
	{regexp.MustCompile(`Failed to set rlimit on max file handles" err="operation not permitted"`), "the kubelet runs without privileges"},
	{regexp.MustCompile(`missing content for CA bundle \\"client-ca::kube-system::extension-apiserver-authentication::requestheader-client-ca-file\\"`), "the API server of the rig has no front proxy"},
	{regexp.MustCompile(`The manifest file is empty, ignoring\.`), "the rig configures no labels of metrics"},
	{regexp.MustCompile(`simple token is not cryptographically signed`), "the etcd of the rig has no users"},
	{regexp.MustCompile(`Running http and grpc server on single port`), "etcd logs this unless --listen-client-http-urls is set"},
}

// maxRigLines is how many different lines of the rig's own a log has.
const maxRigLines = 12

// ofTheRig is why a line says nothing of the cell; empty if it may.
func ofTheRig(line string) string {
	for _, n := range rigNoise {
		if n.pattern.MatchString(line) {
			return n.because
		}
	}
	return ""
}

// rigLines are lines of the rig's own, each once with its reason in What, and how many
// further ones there is no room for.
func (b *builder) rigLines(lines []logLine) (kept []Line, left int) {
	all := b.once(lines)
	n := min(len(all), maxRigLines)
	for _, line := range all[n:] {
		left += 1 + line.More
	}
	for _, line := range all[:n] {
		line.What = ofTheRig(line.Text)
		kept = append(kept, line.Line)
	}
	return kept, left
}

// beyondRig says how many lines of the rig's own are left out.
func beyondRig(left int) string { return reports.Counted(left, "further line") + " of the rig's own" }
