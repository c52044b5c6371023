package main

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/containerd"
)

// needContainerd skips a test where no node can have containerd.
func needContainerd(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs real components: left out of -short")
	}
	if err := containerd.LookUp(os.TempDir()).Check(); err != nil {
		t.Skip(err)
	}
}

// TestAKilledClusterWithContainers leaves nothing: no process, no mount, no cgroup, no interface.
func TestAKilledClusterWithContainers(t *testing.T) {
	needContainerd(t)
	v := startCommand(t, compiled(t), "up", "--runtime", "containerd", "--kubeconfig", "kubeconfig")
	kubeconfig := filepath.Join(v.work, "kubeconfig")
	if !await.Until(t.Context(), momentLimit, func() bool { return strings.Contains(v.said(t), "Ctrl-C") || v.hasEnded() }) || v.hasEnded() {
		t.Fatalf("it is not up; it said:\n%s", v.said(t))
	}
	address := runPod(t, kubeconfig)
	gateway := strings.TrimSuffix(address, "2") + "1"
	names := v.namespaces(t)
	left := func() (all []string) {
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(mounts), v.temp) {
			all = append(all, "mounts")
		}
		if hasAddress(t, gateway) {
			all = append(all, "an interface")
		}
		if groups, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/skewrig-up-%d", v.cmd.Process.Pid)); len(groups) > 0 {
			all = append(all, "cgroups")
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(allNamespaces(t))), func(n string) bool { return slices.Contains(names, n) }) {
			all = append(all, "processes")
		}
		return all
	}
	if got := left(); !slices.Equal(got, []string{"an interface", "cgroups", "processes"}) {
		t.Errorf("while it runs, it has %q", got)
	}
	if !v.kill(t) {
		t.Fatalf("it had ended; it said:\n%s", v.said(t))
	}
	v.expectNothingLeft(t)
	if !await.Until(t.Context(), goneLimit, func() bool { return len(left()) == 0 }) {
		t.Errorf("left are %q", left())
	}
}

// runPod runs a pod, and returns its address once it is ready.
func runPod(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	_, err = pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{NodeName: "node-a", Containers: []corev1.Container{{
			Name: "web", Image: "registry.k8s.io/e2e-test-images/agnhost:2.53", Args: []string{"netexec"},
			ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var last *corev1.Pod
	ready := func() bool {
		if last, err = pods.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
			return false
		}
		return slices.ContainsFunc(last.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	if !await.Until(t.Context(), 2*time.Minute, ready) {
		t.Fatalf("the pod is not ready: %v, %+v", err, last)
	}
	return last.Status.PodIP
}

func hasAddress(t *testing.T, address string) bool {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool { return strings.HasPrefix(a.String(), address+"/") })
}

// allNamespaces are the PID namespaces of the processes of this machine, by their directories.
func allNamespaces(t *testing.T) map[string]string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, dir := range dirs {
		if name, err := os.Readlink(filepath.Join(dir, "ns", "pid")); err == nil { // it may have ended
			all[dir] = name
		}
	}
	return all
}

// namespaces are the PID namespaces of the nodes.
func (v *victim) namespaces(t *testing.T) (names []string) {
	t.Helper()
	all := allNamespaces(t)
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	for pid := range v.processes(t) {
		name := all[filepath.Join("/proc", fmt.Sprint(pid))]
		if name != "" && name != ours && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) != 2 {
		t.Errorf("two nodes have the namespaces %q", names)
	}
	return names
}
