package containerd

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// dirs are the places of one node below its directory.
type dirs struct{ root string }

func (d dirs) data() string     { return filepath.Join(d.root, "root") }
func (d dirs) config() string   { return filepath.Join(d.root, "config.toml") }
func (d dirs) baseSpec() string { return filepath.Join(d.root, "base-spec.json") }
func (d dirs) network() string  { return filepath.Join(d.root, "net.d") }

// state is where containerd keeps what ends with it: in the node's own /run.
const state = "/run/containerd"

// socket is where containerd serves its API, and that of a container runtime.
const socket = state + "/containerd.sock"

// daemonConfig is containerd's configuration file, of version 2, which releases from 1.3 on
// read (containerd, docs/man/containerd-config.toml.5.md and docs/cri/config.md).
func daemonConfig(d dirs, found Found, sandbox string) string {
	q := strconv.Quote
	lines := []string{
		`version = 2`,
		`root = ` + q(d.data()),
		`state = ` + q(state),
		`oom_score = 0`,
		`disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing", "io.containerd.nri.v1.nri"]`,
		`[grpc]`,
		`  address = ` + q(socket),
		`[plugins."io.containerd.grpc.v1.cri"]`,
		`  sandbox_image = ` + q(sandbox),
		// A container's score may then be as low as containerd's own: lower takes CAP_SYS_RESOURCE.
		`  restrict_oom_score_adj = true`,
		`  stream_server_address = "127.0.0.1"`,
		`  stream_server_port = "0"`,
		`[plugins."io.containerd.grpc.v1.cri".cni]`,
		`  bin_dir = ` + q(found.CNI),
		`  conf_dir = ` + q(d.network()),
		`[plugins."io.containerd.grpc.v1.cri".containerd]`,
		`  default_runtime_name = "runc"`,
		`  snapshotter = ` + q(found.Snapshotter),
		`[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]`,
		`  runtime_type = "io.containerd.runc.v2"`,
		`  base_runtime_spec = ` + q(d.baseSpec()),
		`[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]`,
		`  BinaryName = ` + q(found.Programs["runc"]),
		`  SystemdCgroup = false`,
	}
	return strings.Join(lines, "\n") + "\n"
}

// NetworkConfig is the configuration of the pods' network (CNI 0.4.0, plugins ptp and host-local):
// each pod has a pair of interfaces of its own, and this machine is at the other end.
func NetworkConfig(pods netip.Prefix) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"cniVersion": "0.4.0",
		"name":       "skewrig",
		"plugins": []any{map[string]any{
			"type":   "ptp",
			"ipMasq": false,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": "/run/cni",
				"ranges": []any{[]any{map[string]any{"subnet": pods.String()}}},
				"routes": []any{map[string]any{"dst": "0.0.0.0/0"}},
			},
		}},
	}, "", "  ")
}

// Mount is a directory or a socket of this machine that all containers have.
type Mount struct{ Host, Container string }

// withMounts adds mounts to a specification of containers (OCI runtime specification, config.json).
func withMounts(spec []byte, mounts []Mount) ([]byte, error) {
	var all map[string]any
	if err := json.Unmarshal(spec, &all); err != nil {
		return nil, fmt.Errorf("reading containerd's specification of containers: %w", err)
	}
	list, _ := all["mounts"].([]any)
	for _, m := range mounts {
		list = append(list, map[string]any{
			"destination": m.Container, "source": m.Host, "type": "bind", "options": []any{"rbind", "rw"},
		})
	}
	all["mounts"] = list
	return json.Marshal(all)
}
