package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The labels of what skewrig makes: the machine, and the process on it. A daemon may serve several machines.
const (
	machineLabel = "skewrig.dev/machine"
	processLabel = "skewrig.dev/process"
)

// OwnerLabels are the arguments of docker create, run and network create that label what they make as this process's.
func OwnerLabels() ([]string, error) {
	machine, err := thisMachine()
	if err != nil {
		return nil, err
	}
	me, err := thisProcess()
	if err != nil {
		return nil, err
	}
	return []string{"--label", machineLabel + "=" + machine, "--label", processLabel + "=" + me.String()}, nil
}

// Left lists the networks ("network") or containers ("container") of a docker label that processes of this machine have
// left: those that ended, whichever way. The result has their names. What may be in use, or is another machine's, is not
// among them.
func Left(ctx context.Context, kind, label string) (names []string, err error) {
	machine, err := thisMachine()
	if err != nil {
		return nil, err
	}
	name, list := "{{.Name}}", []string{"network", "ls"}
	if kind == "container" {
		name, list = "{{.Names}}", []string{"ps", "--all"}
	}
	found, err := Run(ctx, append(list, "--filter", "label="+machineLabel+"="+machine, "--filter", "label="+label,
		"--format", fmt.Sprintf("%s {{.Label %q}}", name, processLabel))...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(found) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if made, is := parse(text); is && made.ended() {
			names = append(names, name)
		}
	}
	return names, nil
}

// thisMachine is the identity of this machine. Its id is confidential (machine-id(5)), and clones may share it, but no name.
func thisMachine() (string, error) {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil && !os.IsNotExist(err) { // a container may have none
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "skewrig %s %s", bytes.TrimSpace(id), host))
	return hex.EncodeToString(sum[:8]), nil
}

// owner identifies a process of a machine for ever.
type owner struct {
	boot       string // the boot of the kernel
	namespace  string // of process ids
	pid, start int    // the process there, and when it began, in clock ticks
}

// String is the value of processLabel.
func (p owner) String() string {
	return fmt.Sprintf("%s.%s.%d.%d", p.boot, p.namespace, p.pid, p.start)
}

// parse reads a value of processLabel.
func parse(text string) (p owner, is bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return p, false
	}
	pid, pidErr := strconv.Atoi(parts[2])
	start, startErr := strconv.Atoi(parts[3])
	p = owner{parts[0], parts[1], pid, start}
	return p, pidErr == nil && startErr == nil && pid > 0 && start > 0 && p.boot != "" && p.namespace != ""
}

func thisProcess() (p owner, err error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return p, err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return p, err
	}
	p = owner{boot: strings.TrimSpace(string(boot)), namespace: strings.Trim(namespace, "pid:[]"), pid: os.Getpid()}
	p.start, err = startOf(p.pid)
	return p, err
}

// startOf is when a process began (proc_pid_stat(5), starttime).
func startOf(pid int) (int, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on: the second is a name
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields after the name", pid, len(fields))
	}
	return strconv.Atoi(fields[19])
}

// ended reports whether a process of this machine has ended. One of another container may run.
func (p owner) ended() bool {
	me, err := thisProcess()
	switch {
	case err != nil:
		return false
	case p.boot != me.boot:
		return true
	case p.namespace != me.namespace:
		return false
	}
	start, err := startOf(p.pid)
	return os.IsNotExist(err) || err == nil && start != p.start
}
