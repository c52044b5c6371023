package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
)

// Rule is a rule of the version skew policy
// (https://kubernetes.io/releases/version-skew-policy/) that a rig does not break, unless the
// topology names it.
type Rule string

// The rules that a topology can name.
const (
	// ServersApart is for API servers of a cluster that are more than one minor version apart.
	ServersApart Rule = "servers-apart"
	// ServerSkips is for an API server that moves by more than one minor version at once.
	ServerSkips Rule = "server-skips"
	// KubeletTooOld is for a kubelet more than three minor versions older than an API server
	// that it connects to.
	KubeletTooOld Rule = "kubelet-too-old"
	// KubeletNewer is for a kubelet newer than an API server that it connects to, and
	// ControllerSkew for a controller manager or scheduler that is newer, or older by more
	// than one minor version. Only an upgrade that a roll step makes is held to them: a step
	// that restarts one component may pass through that, and what happens then is worth
	// knowing.
	KubeletNewer   Rule = "kubelet-newer"
	ControllerSkew Rule = "controller-skew"
)

// Rules are all rules.
var Rules = []Rule{ServersApart, ServerSkips, KubeletTooOld, KubeletNewer, ControllerSkew}

// CheckSkew reports a component that can't run with the API servers that it connects to, and
// an API server that can't run with the others.
func (r *Rig) CheckSkew(field string, c Component) {
	newest, _ := r.releases.Pair()
	r.breaches(c, func(b breach) {
		switch {
		case b.rule == "":
			r.skew(field, "%s %s has another major version than %s %s", c.Name, c.Version, b.server.Name, b.server.Version)
		case b.rule == KubeletTooOld && r.step.Kind == "" && b.server.Version.Minor() > newest.Minor():
			r.skew("controlPlane.version", "no release %s is known, the newest is %s; it would be too new for %s %s",
				b.server.Version.MajorMinor(), newest, c.Name, c.Version)
		case b.rule != KubeletNewer && b.rule != ControllerSkew:
			r.Break(b.rule, field, "%s", b.text)
		}
	})
}

// CheckRules reports each rule that what runs breaks.
func (r *Rig) CheckRules(field string) {
	for _, c := range r.components {
		if c.Running {
			r.breaches(c, func(b breach) { r.Break(b.rule, field, "%s", b.text) })
		}
	}
}

// breach is what a component breaks together with an API server.
type breach struct {
	server Component
	rule   Rule // empty for another major version, which can't run at all
	text   string
}

// breaches calls do with what a component breaks.
func (r *Rig) breaches(c Component, do func(breach)) {
	if c.Name == Etcd || c.Name == Watchdog || c.Version == release.Reference || strings.HasPrefix(c.Name, Seed+"/") || c.Version == "" {
		return
	}
	servers := r.Reached(c)
	if Program(c.Name) == APIServer {
		servers = r.Servers()
	}
	for _, server := range servers {
		if server.Version == "" {
			continue
		}
		if !SameMajor(c.Version, server.Version) {
			do(breach{server: server})
			continue
		}
		first, second := c, server
		if Program(c.Name) == APIServer && second.Name < first.Name {
			first, second = second, first // a pair of them is one
		}
		if rule, text := ruleBroken(first, second); rule != "" {
			do(breach{server, rule, fmt.Sprintf("%s %s %s %s %s", first.Name, first.Effective(), text, second.Name, second.Effective())})
		}
	}
}

// ruleBroken is the rule that a component breaks with an API server, and how; nothing if it
// breaks none.
func ruleBroken(c, server Component) (Rule, string) {
	of, _ := program.Of(Program(c.Name))
	skew := of.Skew(server.Effective(), c.Effective())
	switch apart := server.Version.Minor() - c.Version.Minor(); {
	case of.Role == program.Server && (apart < -1 || apart > 1):
		return ServersApart, "is more than one minor version apart from"
	case of.Role == program.Agent && skew == release.SkewTooOld:
		return KubeletTooOld, "is more than three minor versions older than"
	case of.Role == program.Agent && skew == release.SkewKubeletNewer:
		return KubeletNewer, "is newer than"
	case of.Role == program.Controller && skew == release.SkewControllerTooOld:
		return ControllerSkew, "is more than one minor version older than"
	case of.Role == program.Controller && skew == release.SkewControllerNewer:
		return ControllerSkew, "is newer than"
	default:
		return "", ""
	}
}

// Break reports that a rule is broken, unless the topology says that it will be.
func (r *Rig) Break(rule Rule, field, format string, args ...any) {
	if !slices.Contains(r.unsupported, rule) {
		r.skew(field, format+"; topology.unsupported: [%s] allows it", append(args, rule)...)
	}
}

func (r *Rig) skew(field, format string, args ...any) {
	if message := fmt.Sprintf(format, args...); !r.skews[message] {
		r.skews[message] = true
		r.unfit(field, "%s", message)
	}
}

// SameMajor reports whether two releases are of the same major version.
func SameMajor(a, b release.Version) bool {
	first, _, _ := strings.Cut(a.MajorMinor(), ".")
	second, _, _ := strings.Cut(b.MajorMinor(), ".")
	return first == second
}
