package narrate

import "testing"

// TestEachRigLineIsKnown has a line of a real log for each pattern but that of the CA
// bundle, of which no saved run has one.
func TestEachRigLineIsKnown(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, line := range []string{
		`E1123 08:07:51.338848   22242 kubelet_pods.go:2214] "failed to read memory cgroup config for the pod" err="not implemented" podName="large-00"`,
		`E1123 08:07:58.498665   22242 helpers.go:860] "Eviction manager: failed to construct signal" err="system container \"pods\" not found in metrics" signal="allocatableMemory.available"`,
		`E1123 08:07:48.275112   22242 server.go:1332] "Failed to set rlimit on max file handles" err="operation not permitted"`,
		`E1123 08:07:39.672576   22158 options.go:205] The manifest file is empty, ignoring.`,
		`{"level":"warn","ts":"2026-11-23T08:07:37.954044Z","caller":"auth/store.go:1137","msg":"simple token is not cryptographically signed"}`,
		`{"level":"warn","ts":"2026-11-23T08:07:37.931971Z","caller":"embed/config.go:956","msg":"Running http and grpc server on single port. This is not recommended for production."}`,
	} {
		if ofTheRig(line) == "" {
			t.Errorf("it may say something of the cell: %s", line)
		}
		for _, n := range rigNoise {
			if n.pattern.MatchString(line) {
				known[n.pattern.String()] = true
			}
		}
	}
	if len(known) != len(rigNoise)-1 {
		t.Errorf("%d of %d patterns have a line", len(known), len(rigNoise))
	}
}
