package release

import "slices"

// The default pair: a run that names no releases runs the newest one as the
// control plane and both as nodes.
const (
	Newest   Version = "v1.37.2"
	Previous Version = "v1.36.5"
)

// Next is the pre-release of the minor version after Newest that scenarios look ahead with.
const Next Version = "v1.38.0-alpha.0"

// Reference is the version of a kubelet that is the newest one except that its Pods
// API server is ours. It is no release, and older or newer than none.
const Reference Version = "reference"

// Released is the release that a version is compiled from: its own, and the newest
// for Reference.
func (v Version) Released() Version {
	if v == Reference {
		return Newest
	}
	return v
}

// Etcd is the etcd that every rig uses. etcd is never the subject, and one
// version serves every supported release, so an upgrade or rollback of the API
// server never moves its data to another etcd.
const Etcd Version = "v3.7.0"

// DependencyWatchdog returns the releases of Gardener's dependency-watchdog that
// scenarios compare: the last one whose prober looked at nothing but nodes and
// leases, and the newest.
func DependencyWatchdog() []Version { return []Version{"v1.2.3", "v1.8.0"} }

// HealthProbe is the release of grpc_health_probe that exec probes of scenarios run.
const HealthProbe Version = "v0.4.61"

// WatchdogProfiles reports whether a release of dependency-watchdog serves
// profiles, and has a flag for where (from v1.3.0 on, cmd/command.go).
func WatchdogProfiles(v Version) bool { return v.Compare("v1.3.0") >= 0 }

// supported are the releases whose dependencies are locked in this repository,
// newest first. Others can be built too; their lock is then generated.
var supported = []Version{Newest, Previous, "v1.35.4", "v1.34.4"}

// Hint says how a version is written that was written as something else than text, such as
// the number 1.36.
func (Version) Hint(word string) string {
	if meant := Meant(word); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "put it in quotes"
}

// Supported returns the supported releases, newest first.
func Supported() []Version { return slices.Clone(supported) }

// kubeletSkew is how many minor versions older than the oldest one that an API server expects
// beside it a kubelet may be: three older than the API server itself (Kubernetes version skew
// policy, "kubelet"; KEP-4330, Skew).
const kubeletSkew = 2

// Skew says how a kubelet stands to its API server under the version skew
// policy.
type Skew string

const (
	// SkewSupported is a kubelet of the same minor version, or up to three
	// older.
	SkewSupported Skew = "supported"
	// SkewKubeletNewer is a kubelet newer than its API server: outside the
	// policy, and yet what a rollback of the control plane passes through.
	SkewKubeletNewer Skew = "unsupported: the kubelet is newer than the API server"
	// SkewTooOld is a kubelet more than three minor versions older.
	SkewTooOld Skew = "unsupported: the kubelet is more than three minor versions older than the API server"
	// SkewControllerNewer is a controller manager or scheduler that is newer.
	SkewControllerNewer Skew = "unsupported: it is newer than the API server"
	// SkewControllerTooOld is a controller manager or scheduler more than one minor
	// version older.
	SkewControllerTooOld Skew = "unsupported: it is more than one minor version older than the API server"
)

// ControllerSkewOf classifies a controller manager or scheduler against an API server
// (Kubernetes version skew policy, "kube-controller-manager, kube-scheduler, and
// cloud-controller-manager"). What counts is what each emulates (KEP-4330, Skew).
func ControllerSkewOf(apiserver, controller Effective) Skew {
	newest, oldest := apiserver.minors()
	switch is, _ := controller.minors(); {
	case is > newest:
		return SkewControllerNewer
	case is < oldest:
		return SkewControllerTooOld
	default:
		return SkewSupported
	}
}

// SkewOf classifies a kubelet against an API server, as what it emulates.
func SkewOf(apiserver Effective, kubelet Version) Skew {
	newest, oldest := apiserver.minors()
	switch {
	case kubelet.Minor() > newest:
		return SkewKubeletNewer
	case kubelet.Minor() < oldest-kubeletSkew:
		return SkewTooOld
	default:
		return SkewSupported
	}
}
