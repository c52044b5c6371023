package containerd

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// machine has all that nodes need.
func machine() Found {
	f := Found{
		Root: true, Programs: make(map[string]string), CNI: "/opt/cni/bin", Plugins: plugins, Overlay: true,
		Capabilities: 1<<41 - 1, TempDir: "/tmp", Snapshotter: "overlayfs",
	}
	for _, name := range programs {
		f.Programs[name] = "/usr/bin/" + name
	}
	return f
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(*Found)
		want []string // each in the error, in this order
		not  string   // in it, unless empty
	}{
		"nothing is missing": {lose: func(*Found) {}},
		"not root": {
			func(f *Found) { f.Root, f.Capabilities = false, 0 },
			[]string{"this machine can't run nodes with containerd:\n", "run skewrig as root"}, "apt-get",
		},
		"no programs": {
			func(f *Found) { f.Programs, f.CNI, f.Plugins = nil, "", nil },
			[]string{"program containerd ", "containerd-shim-runc-v2", "ctr", "runc", "CNI plugin host-local is in none of /opt/cni/bin, ", "loopback", "ptp", "apt-get install containerd runc containernetworking-plugins"}, "root",
		},
		"everything": {
			func(f *Found) { *f = Found{Cgroups: errors.New("none are mounted")} },
			[]string{"root", "program containerd ", "ptp", "overlay", "none are mounted", "apt-get"}, "CAP_",
		},
		"a container that is not privileged": {
			func(f *Found) { f.Capabilities = 0xa80425fb }, // Docker's default
			[]string{"this process may not have CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_PTRACE, "}, "apt-get",
		},
		"no CAP_SYS_RESOURCE": {lose: func(f *Found) { f.Capabilities &^= 1 << 24 }},
		"no overlay":          {func(f *Found) { f.Overlay = false }, []string{"modprobe overlay"}, "apt-get"},
		"temporary files in what a node has of its own": {
			func(f *Found) { f.TempDir = "/run/user/0" }, []string{"/run/user/0, is below /run, ", "TMPDIR"}, "apt-get",
		},
		"a directory with a similar name": {lose: func(f *Found) { f.TempDir = "/running" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := machine()
			c.lose(&found)
			err := found.Check()
			if len(c.want) == 0 {
				if err != nil {
					t.Errorf("unexpected: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			rest := err.Error()
			for _, part := range c.want {
				_, after, is := strings.Cut(rest, part)
				if !is {
					t.Errorf("%q is not in its place in:\n%v", part, err)
				}
				rest = after
			}
			if c.not != "" && strings.Contains(err.Error(), c.not) {
				t.Errorf("%q is in:\n%v", c.not, err)
			}
		})
	}
}

func TestBounding(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]uint64{
		"CapEff:\t000001ffffffffff\nCapBnd:\t000001fffeffffff\nCapAmb:\t0\n": 0x1fffeffffff,
		"Name:\tskewrig\n": 0,
		"CapBnd:\tno\n":    0,
	} {
		if got := bounding(status); got != want {
			t.Errorf("%q: %x, want %x", status, got, want)
		}
	}
}

func TestReadExits(t *testing.T) {
	t.Parallel()
	events := `2026-11-27 08:00:00.0 +0000 UTC k8s.io /containers/update {"id":"` + strings.Repeat("a", 1<<17) + `"}
2026-11-27 08:00:00.1 +0000 UTC k8s.io /tasks/start {"container_id":"a","pid":7}
2026-11-27 08:00:00.2 +0000 UTC k8s.io /tasks/exit {"container_id":"a","id":"probe","pid":8,"exit_status":4294967295,"exited_at":"2026-11-27T08:00:00Z"}
2026-11-27 08:00:00.3 +0000 UTC k8s.io /tasks/exit {"container_id":"a","id":"a","pid":7,"exit_status":137,"exited_at":"2026-11-27T08:00:00Z"}
2026-11-27 08:00:00.5 +0000 UTC k8s.io /tasks/exit {"container_id":"b","id":"b"}
2026-11-27 08:00:00.6 +0000 UTC k8s.io /tasks/exit {"container_id":"c","id":"c","exit_status":2,"exited_at":{"seconds":1795766400,"nanos":1}}
`
	var got []Exit
	if err := ReadExits(strings.NewReader(events), func(e Exit) { got = append(got, e) }); err != nil {
		t.Error(err)
	}
	at := time.Date(2026, time.November, 27, 8, 0, 0, 0, time.UTC)
	want := []Exit{{Container: "a", Code: 137, At: at}, {Container: "b"}, {Container: "c", Code: 2, At: at.Add(1)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := ReadExits(strings.NewReader("now k8s.io /tasks/exit not JSON\n"), func(Exit) {}); err == nil {
		t.Error("an end that can't be read is none")
	}
}
