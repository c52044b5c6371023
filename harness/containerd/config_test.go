package containerd

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDaemonConfig(t *testing.T) {
	t.Parallel()
	got := daemonConfig(dirs{`/tmp/a "rig"/nodes/a`}, machine(), "registry.test/pause:1")
	for _, line := range []string{
		`root = "/tmp/a \"rig\"/nodes/a/root"`, `  address = "/run/containerd/containerd.sock"`, `  sandbox_image = "registry.test/pause:1"`,
		`  restrict_oom_score_adj = true`, `  bin_dir = "/opt/cni/bin"`, `  BinaryName = "/usr/bin/runc"`, `  snapshotter = "overlayfs"`,
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("it lacks %s:\n%s", line, got)
		}
	}
}

func TestNetworkConfig(t *testing.T) {
	t.Parallel()
	text, err := NetworkConfig(netip.MustParsePrefix("240.7.3.0/24"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Plugins []struct {
			Type   string
			IPMasq *bool `json:"ipMasq"`
			IPAM   struct {
				Ranges [][]struct{ Subnet string }
			} `json:"ipam"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if p := got.Plugins; len(p) != 1 || p[0].Type != "ptp" || p[0].IPMasq == nil || *p[0].IPMasq || p[0].IPAM.Ranges[0][0].Subnet != "240.7.3.0/24" {
		t.Errorf("%s", text)
	}
}

func TestWithMounts(t *testing.T) {
	t.Parallel()
	got, err := withMounts([]byte(`{"hostname": "a", "mounts": [{"destination": "/proc"}]}`), []Mount{{Host: "/tmp/h", Container: "/c"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hostname":"a","mounts":[{"destination":"/proc"},{"destination":"/c","options":["rbind","rw"],"source":"/tmp/h","type":"bind"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if _, err := withMounts([]byte("no"), nil); err == nil {
		t.Error("what is no specification is taken")
	}
}
