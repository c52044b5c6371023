package program

import "testing"

func TestOwns(t *testing.T) {
	for name, want := range map[string]bool{
		"feature_gates": true, "v": false, "volumePluginDir": true, "leaderElection.leaderElect": false, "featureGates.A": true, "authentication.x509.clientCAFile": false,
	} {
		if got := Owns(Kubelet, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
