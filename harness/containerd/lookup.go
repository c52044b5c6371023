package containerd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/process"
)

// Found is what a machine has of what nodes with containerd need.
type Found struct {
	Root bool
	// Programs are the paths of programs, by their names. What is not there is not in it.
	Programs map[string]string
	// CNI is the directory of the CNI plugins, and Plugins are those in it that are needed. If
	// unset, there is none.
	CNI     string
	Plugins []string
	// Overlay says that the kernel has overlay file systems.
	Overlay bool
	// Cgroups is why no cgroup can be made. If unset, some can.
	Cgroups error
	// Capabilities are those that this process may ever have (capabilities(7), CapBnd).
	Capabilities uint64
	// TempDir is where rigs have their directories, and Snapshotter is what keeps the file systems
	// of containers there.
	TempDir, Snapshotter string
}

// programs are those that a node runs, and plugins those of its network.
var (
	programs = []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "mount"}
	plugins  = []string{"host-local", "loopback", "ptp"}
)

// pluginDirs are where CNI plugins are: where they tell people to put them, and where Debian and
// Fedora have them.
var pluginDirs = []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}

// capabilities are what nodes need, by their names without CAP_.
var capabilities = map[string]int{
	"NET_ADMIN": unix.CAP_NET_ADMIN, "SYS_ADMIN": unix.CAP_SYS_ADMIN, "SYS_CHROOT": unix.CAP_SYS_CHROOT, "SYS_PTRACE": unix.CAP_SYS_PTRACE, "MKNOD": unix.CAP_MKNOD,
}

// LookUp looks up what this machine has. Rigs have their directories in tempDir.
func LookUp(tempDir string) Found {
	f := Found{Root: os.Geteuid() == 0, Programs: make(map[string]string), TempDir: tempDir, Snapshotter: "overlayfs", Cgroups: process.CheckCgroups()}
	for _, name := range programs {
		if path := find(name); path != "" {
			f.Programs[name] = path
		}
	}
	for _, dir := range pluginDirs {
		var there []string
		for _, name := range plugins {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				there = append(there, name)
			}
		}
		if len(there) > len(f.Plugins) {
			f.CNI, f.Plugins = dir, there
		}
	}
	systems, _ := os.ReadFile("/proc/filesystems") // without it, nothing is there
	f.Overlay = slices.Contains(strings.Fields(string(systems)), "overlay")
	status, _ := os.ReadFile("/proc/self/status") // likewise
	f.Capabilities = bounding(string(status))
	var of unix.Statfs_t
	if unix.Statfs(tempDir, &of) == nil && of.Type == unix.OVERLAYFS_SUPER_MAGIC { // which can't be layers of another one
		f.Snapshotter = "native"
	}
	return f
}

// find returns the path of a program, which may be where only root looks. It is empty if there is
// none.
func find(name string) string {
	for _, path := range []string{name, "/usr/local/sbin/" + name, "/usr/sbin/" + name, "/sbin/" + name} {
		found, err := exec.LookPath(path)
		if err != nil {
			continue
		}
		if found, err = filepath.Abs(found); err == nil {
			return found
		}
	}
	return ""
}

// bounding reads the capabilities of a process from its status (proc_pid_status(5)).
func bounding(status string) (set uint64) {
	for line := range strings.Lines(status) {
		if text, is := strings.CutPrefix(line, "CapBnd:"); is {
			_, _ = fmt.Sscanf(strings.TrimSpace(text), "%x", &set) // none if it can't be read
		}
	}
	return set
}

// has reports whether a set has a capability.
func (f Found) has(capability int) bool { return f.Capabilities&(1<<capability) != 0 }

// hidden are the directories that are a node's own.
var hidden = []string{"/run", "/var/lib", "/var/log", "/var/run"}

// install says how to install what is not there.
const install = "on Debian and Ubuntu: apt-get install containerd runc containernetworking-plugins; " +
	"on others: the packages of containerd, of runc and of the CNI plugins (https://github.com/containerd/containerd/blob/main/docs/getting-started.md)"

// Check returns why a machine can't have nodes with containerd: all that is missing, and how to
// get it.
func (f Found) Check() error {
	var missing []error
	lack := func(is bool, format string, args ...any) {
		if !is {
			missing = append(missing, fmt.Errorf(format, args...))
		}
	}
	lack(f.Root, "it takes root: run skewrig as root (sudo)")
	for _, name := range programs {
		lack(f.Programs[name] != "", "the program %s is not in PATH", name)
	}
	for _, name := range plugins {
		lack(slices.Contains(f.Plugins, name), "the CNI plugin %s is in none of %s", name, strings.Join(pluginDirs, ", "))
	}
	toInstall := len(missing) > 1 || len(missing) == 1 && f.Root
	lack(f.Overlay, "the kernel has no overlay file system (modprobe overlay)")
	lack(f.Cgroups == nil, "cgroups can't be used: %w", f.Cgroups)
	var lost []string
	for name, capability := range capabilities {
		if !f.has(capability) {
			lost = append(lost, "CAP_"+name)
		}
	}
	slices.Sort(lost)
	lack(!f.Root || len(lost) == 0, "this process may not have %s, as in a container that is not privileged", strings.Join(lost, ", "))
	for _, dir := range hidden {
		lack(!strings.HasPrefix(f.TempDir+"/", dir+"/"), "the directory for temporary files, %s, is below %s, which nodes have of their own: set TMPDIR to another one", f.TempDir, dir)
	}
	if len(missing) == 0 {
		return nil
	}
	if toInstall {
		missing = append(missing, errors.New("to install what is missing: "+install))
	}
	return fmt.Errorf("this machine can't run nodes with containerd:\n%w", errors.Join(missing...))
}
