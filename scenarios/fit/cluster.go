package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/existing/facts"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// asked is what a scenario asks of a release. It names releases such as newest, or a minor version, and the plan
// has a patch release for each. What an existing cluster runs counts as the same if its minor version is: gates and
// fields come with minor versions. The report says which release ran. A patch release that no such name
// stands for is meant as it is.
func asked(wanted release.Version) string {
	minor := wanted.MajorMinor()
	if named, err := release.Resolve(minor); err == nil && named != wanted {
		return string(wanted)
	}
	return minor
}

// isAsked reports whether what a cluster runs, such as v1.90.2-gke.100, is what a scenario asks for.
func isAsked(wanted release.Version, runs string) bool {
	patch, _, _ := strings.Cut(runs, "-")
	patch, _, _ = strings.Cut(patch, "+")
	return slices.Contains([]string{patch, semver.MajorMinor(runs)}, asked(wanted))
}

// wrongServer are the reasons for which the API server of a cluster is not as it is wanted.
func wrongServer(wanted record.Component, on facts.Cluster) (reasons []string) {
	if !isAsked(wanted.Version, on.Version) {
		reasons = append(reasons, fmt.Sprintf("it wants an API server of %s, and the cluster's is %s", asked(wanted.Version), on.Version))
	}
	is, emulated := cmp.Or(on.Emulated, semver.MajorMinor(on.Version)), cmp.Or(wanted.EmulatedVersion.MajorMinor(), semver.MajorMinor(on.Version))
	if is != emulated {
		reasons = append(reasons, fmt.Sprintf("the cluster's API server emulates %s", is))
	}
	if why := wrongGates(wanted.Gates, on.Gates); why != "" {
		reasons = append(reasons, "the cluster's API server "+why)
	}
	return reasons
}

// wrongComponent returns why the component of a cluster's control plane differs from the wanted one.
func wrongComponent(wanted record.Component, on facts.Cluster) (reasons []string) {
	program := record.Program(wanted.Name)
	if program == record.APIServer {
		return wrongServer(wanted, on)
	}
	at := slices.IndexFunc(on.Controllers, func(c facts.Component) bool { return c.Name == program })
	if at < 0 {
		return []string{"the release and the gates of the cluster's " + program + " are not known"}
	}
	is := on.Controllers[at]
	if !isAsked(wanted.Version, is.Version) {
		reasons = append(reasons, fmt.Sprintf("it wants a %s of %s, and the cluster's is %s", program, asked(wanted.Version), is.Version))
	}
	if why := wrongGates(wanted.Gates, is.Gates); why != "" {
		reasons = append(reasons, "the cluster's "+program+" "+why)
	}
	return reasons
}

// wrongGates is why a component does not have gates as they are wanted; empty if it has.
func wrongGates(wanted release.Gates, has facts.Gates) string {
	if len(wanted) == 0 {
		return ""
	}
	if has.Unread != "" {
		return fmt.Sprintf("is to have %s, and its gates can't be read: %s", wanted.Flag(), has.Unread)
	}
	var wrong []string
	for _, name := range wanted.Names() {
		switch set, known := has.Set[name]; {
		case !known:
			wrong = append(wrong, "knows no gate "+name)
		case set != wanted[name]:
			wrong = append(wrong, fmt.Sprintf("has %s=%t, and is to have %t", name, set, wanted[name]))
		}
	}
	return strings.Join(wrong, " and ")
}
