package spec

import (
	"fmt"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// CheckSkew reports a component that can't run with the rig's API server. A
// kubelet newer than its API server is not among them: a rollback passes
// through that, and what happens then is worth knowing.
func (r *Rig) CheckSkew(field string, c Component) {
	apiserver, _ := r.Component(APIServer)
	if c.Name == Etcd || c.Name == Watchdog || c.Version == release.Reference || strings.HasPrefix(c.Name, Seed+"/") || c.Version == "" || apiserver.Version == "" {
		return
	}
	if !SameMajor(c.Version, apiserver.Version) {
		r.skew(field, "%s %s has another major version than kube-apiserver %s", c.Name, c.Version, apiserver.Version)
		return
	}
	kubelet := strings.HasPrefix(c.Name, KubeletPrefix)
	if !kubelet || release.SkewOf(apiserver.Version, c.Version) != release.SkewTooOld {
		return
	}
	if atFirst := r.step.Kind == ""; atFirst && apiserver.Version.Minor() > release.Newest.Minor() {
		r.skew("controlPlane.version", "no release %s is known, the newest is %s; it would be too new for %s %s",
			apiserver.Version.MajorMinor(), release.Newest, c.Name, c.Version)
	} else {
		r.skew(field, "%s %s is more than three minor versions older than kube-apiserver %s", c.Name, c.Version, apiserver.Version)
	}
}

func (r *Rig) skew(field, format string, args ...any) {
	if message := fmt.Sprintf(format, args...); !r.skews[message] {
		r.skews[message] = true
		r.Conflict(field, "%s", message)
	}
}

// SameMajor reports whether two releases are of the same major version.
func SameMajor(a, b release.Version) bool {
	first, _, _ := strings.Cut(a.MajorMinor(), ".")
	second, _, _ := strings.Cut(b.MajorMinor(), ".")
	return first == second
}
