package saved

import "testing"

// TestLogFiles: where components log.
func TestLogFiles(t *testing.T) {
	t.Parallel()
	for component, want := range map[string]string{
		"etcd": "etcd.log", "kubelet/node-a": "kubelet-node-a.log", "seed/kube-apiserver": "seed/kube-apiserver.log",
		"dependency-watchdog": "seed/dependency-watchdog.log",
	} {
		if got := logFile(component); got != want {
			t.Errorf("%s logs to %s, not %s", component, got, want)
		}
	}
}
