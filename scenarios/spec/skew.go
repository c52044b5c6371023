package spec

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// checkStart reports a version that a component can't be moved to: an API
// server that skips a minor version (Kubernetes version skew policy,
// "Supported component upgrade order"), and a kubelet or API server that leaves
// a kubelet too old behind.
func (r *Rig) checkStart(field string, before, after Component) {
	if before.Version == "" || after.Version == "" {
		return
	}
	if after.Name != APIServer {
		r.checkSkew(field+".version", after)
		return
	}
	if major(before.Version) != major(after.Version) {
		r.conflict(field+".version", "kube-apiserver can't go from %s to %s: it is another major version", before.Version, after.Version)
		return
	}
	if moved := after.Version.Minor() - before.Version.Minor(); moved < -1 || moved > 1 {
		r.conflict(field+".version", "kube-apiserver can't go from %s to %s in one step: it moves by one minor version at a time", before.Version, after.Version)
	}
	for _, c := range r.components {
		if c.Running {
			r.checkSkew(field+".version", c)
		}
	}
}

// checkSkew reports a component that can't run with the rig's API server. A
// kubelet newer than its API server is not among them: a rollback passes
// through that, and what happens then is worth knowing.
func (r *Rig) checkSkew(field string, c Component) {
	apiserver, _ := r.Component(APIServer)
	if c.Name == Etcd || c.Name == Watchdog || c.Version == release.Reference || strings.HasPrefix(c.Name, Seed+"/") || c.Version == "" || apiserver.Version == "" {
		return
	}
	if major(c.Version) != major(apiserver.Version) {
		r.skew(field, "%s %s has another major version than kube-apiserver %s", c.Name, c.Version, apiserver.Version)
		return
	}
	kubelet := strings.HasPrefix(c.Name, kubeletPrefix)
	if kubelet && release.SkewOf(apiserver.Version, c.Version) == release.SkewTooOld {
		r.skew(field, "%s %s is more than three minor versions older than kube-apiserver %s", c.Name, c.Version, apiserver.Version)
	}
}

func (r *Rig) skew(field, format string, args ...any) {
	if message := fmt.Sprintf(format, args...); !r.skews[message] {
		r.skews[message] = true
		r.conflict(field, "%s", message)
	}
}

func major(v release.Version) string {
	m, _, _ := strings.Cut(v.MajorMinor(), ".")
	return m
}
