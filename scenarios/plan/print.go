package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/clock"
	"github.com/skewrig/skewrig/harness/program"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Print returns a cell's plan for people: the rig, the fake servers, and each
// step with what it changes. The same cell always gives the same text.
func Print(c Cell) string {
	p := newPrinter(c.Topology)
	p.line(0, "%s", c.ID)
	p.line(0, "%s", action.OneLine(c.Title))
	p.line(0, "from %s", action.OneLine(c.File))
	if c.Unfit != "" {
		p.line(0, "not applicable, nothing runs: %s", action.OneLine(c.Unfit))
		return p.text.String()
	}
	if c.Control != "" {
		p.line(0, "control: %s (there the same check must come out the other way)", c.Control)
	}
	if c.Compare != nil {
		p.line(0, "compared with %s: check %s", c.With, c.Compare.ID)
	}
	p.rig(c.Topology)
	p.images(c.Images)
	if asksForEndpoints(c) {
		p.line(0, noEndpoints)
	}
	p.line(0, "")
	p.line(0, "steps")
	for _, step := range c.Steps {
		p.step(step)
	}
	return p.text.String()
}

// noEndpoints is about scenarios that can't see what they ask for.
const noEndpoints = "note: Services of this rig have no endpoints of its kubelets' pods: API servers refuse their addresses, which are in the loopback range"

var (
	endpoints = regexp.MustCompile(`(?i)\bendpoint(s|slices?)\b`)
	services  = regexp.MustCompile(`(?m)^\s*"?kind"?:\s*"?Service"?\b`)
)

// asksForEndpoints reports whether a scenario has kubelets and a Service, and names endpoints.
func asksForEndpoints(c Cell) bool {
	return len(c.Topology.Nodes) > 0 && services.MatchString(c.Text) && endpoints.MatchString(c.Text)
}

// printer writes a plan, and remembers what was in force before a step.
type printer struct {
	text strings.Builder
	last map[string]record.Component
	// server is the API server that components connect to of which nothing else is said.
	server string
}

func newPrinter(t record.Topology) *printer {
	p := &printer{last: make(map[string]record.Component), server: t.ControlPlane()[0].Name}
	for _, c := range initial(t) {
		p.last[c.Name] = c
	}
	if t.LeaseNodes != nil {
		p.last[spec.LeasingNodes] = record.Component{Name: spec.LeasingNodes, Via: t.LeaseNodes.Via}
	}
	return p
}

func (p *printer) line(indent int, format string, args ...any) {
	fmt.Fprintf(&p.text, "%s%s\n", strings.Repeat("  ", indent), fmt.Sprintf(format, args...))
}

func (p *printer) rig(t record.Topology) {
	p.line(0, "")
	p.line(0, "rig")
	for _, c := range initial(t) {
		text := strings.TrimSpace(fmt.Sprintf("%s %s", c.Name, c.Version))
		if len(c.Gates) > 0 {
			text += " with " + c.Gates.String()
		}
		text += via(c)
		text += strings.Join(append([]string{""}, action.DescribeSettings(c.Settings)...), ", ")
		if skew := p.skew(c); isKubelet(c.Name) || spec.IsController(c.Name) && skew != release.SkewSupported {
			text += fmt.Sprintf(" (skew %s)", skew)
		}
		node := nodeOf(t, c.Name)
		if node.OwnClock {
			text += ", with a clock of its own"
		}
		if node.Standalone {
			text += ", standalone"
		}
		if len(node.Defaults) > 0 {
			text += ", default " + strings.Join(node.Defaults, ", ")
		}
		if offers := node.RuntimeHandlers.String(); offers != "" {
			text += ", " + offers
		}
		if node.Endpoints {
			text += ", with addresses for endpoints"
		}
		if node.Runtime != "" {
			text += ", with " + node.Runtime
		}
		p.line(1, "%s", text)
	}
	if scaled := t.Scaled(); scaled != "" {
		p.line(1, "%s", scaled)
	}
	p.leases(t)
	for _, l := range t.Links {
		p.line(1, "a link from %s to %s", l.From, l.To)
	}
	if len(t.Observed) > 0 {
		p.line(1, "the objects of %s are recorded", strings.Join(t.Observed, ", "))
	}
	if len(t.MayEnd) > 0 {
		p.line(1, "%s may end by itself", strings.Join(t.MayEnd, ", "))
	}
	if t.PeerProxy {
		p.line(1, "API servers send each other requests for what they don't serve (%s)", release.PeerProxy)
	}
	if !t.ControllerManager {
		p.line(1, "no %s", spec.ControllerManager)
	}
	if !t.Scheduler {
		p.line(1, "no %s", spec.Scheduler)
	}
}

// nodeOf is the node whose kubelet a component is. It is empty if it is another component.
func nodeOf(t record.Topology, component string) record.Node {
	for _, n := range t.Nodes {
		if spec.KubeletPrefix+n.Name == component {
			return n
		}
	}
	return record.Node{}
}

// leases prints what has to do with leases.
func (p *printer) leases(t record.Topology) {
	if t.NodeMonitor.Period != 0 {
		p.line(1, "%s looks after nodes every %s", spec.ControllerManager, t.NodeMonitor.Period)
	}
	if t.NodeMonitor.Grace != 0 {
		p.line(1, "%s lets nodes be silent for %s", spec.ControllerManager, t.NodeMonitor.Grace)
	}
	if l := t.LeaseNodes; l != nil {
		for _, z := range l.Zones {
			text := fmt.Sprintf("%d simulated nodes", z.Count)
			if z.Name != "" {
				text += " in zone " + z.Name
			}
			text += fmt.Sprintf(": leases of %s, renewed every %s", l.Duration, l.Interval)
			text += via(record.Component{Via: l.Via})
			if l.Offset != 0 {
				text += ", clocks " + clock.Clock{Offset: time.Duration(l.Offset)}.String()
			}
			p.line(1, "%s", text)
		}
	}
	if t.Garden == nil {
		return
	}
	for _, d := range t.Garden.Dependents {
		p.line(1, "Deployment %s, replicas: %d", d.Name, d.Replicas)
	}
	p.line(1, "prober %s", action.Encode(t.Garden.Prober))
	if t.Garden.Shoot != nil {
		p.line(1, "shoot %s", action.Encode(t.Garden.Shoot))
	}
}

// initial returns what runs before the first step, in the order in which a rig
// starts.
func initial(t record.Topology) []record.Component {
	components := append([]record.Component{{Name: spec.Etcd, Version: release.Etcd, Settings: t.Etcd}}, t.ControlPlane()...)
	for _, n := range t.Nodes {
		components = append(components, record.Component{Name: spec.KubeletPrefix + n.Name, Version: n.Version, Gates: n.Gates, Via: n.Via, Settings: n.Settings})
	}
	if t.Garden != nil {
		components = append(components, record.Component{Name: spec.SeedEtcd, Version: release.Etcd}, record.Component{Name: spec.SeedAPIServer, Version: t.Version})
		if t.Garden.Watchdog != "" {
			components = append(components, record.Component{Name: spec.Watchdog, Version: t.Garden.Watchdog, Via: t.Garden.Via})
		}
	}
	return components
}

func isKubelet(component string) bool { return strings.HasPrefix(component, spec.KubeletPrefix) }

// controllerSkew is the rule for what is no kubelet, in our words.
const controllerSkew = "note: by the version skew policy, a controller manager or scheduler has the minor version of the API server, or the one before" +
	" (https://kubernetes.io/releases/version-skew-policy/#kube-controller-manager-kube-scheduler-and-cloud-controller-manager)"

// skew is where a component stands to the API servers that it connects to: to the one that it
// fits worst.
func (p *printer) skew(c record.Component) (worst release.Skew) {
	for _, name := range p.reached(c) {
		server := p.last[name]
		of, _ := program.Of(spec.Program(c.Name))
		skew := of.Skew(server.Effective(), c.Effective())
		if worst == "" || worst == release.SkewSupported {
			worst = skew
		}
	}
	return worst
}

// reached are the API servers that a component connects to.
func (p *printer) reached(c record.Component) (servers []string) {
	for _, name := range c.Via {
		servers = append(servers, spec.ServerName(name))
	}
	if len(servers) == 0 {
		servers = []string{p.server}
	}
	return servers
}

// via says through which API servers a component connects, where they have names.
func via(c record.Component) string {
	if len(c.Via) == 0 {
		return ""
	}
	return " via " + strings.Join(c.Via, ", ")
}

func (p *printer) images(images []spec.Image) {
	if len(images) == 0 {
		return
	}
	p.line(0, "")
	p.line(0, "images")
	for _, image := range images {
		p.line(1, "%s", action.OneLine(image.Image))
		if image.HealthProbe != "" {
			p.line(2, "grpc_health_probe is that of %s", image.HealthProbe)
		}
		for _, l := range image.Listen {
			p.listener(l)
		}
	}
}

func (p *printer) listener(l behavior.Listener) {
	text := fmt.Sprintf("port %d speaks %s", l.Port, l.Protocol)
	if l.TLS != nil {
		text += ", tls " + action.OneLine(action.Encode(l.TLS))
	}
	p.line(2, "%s: %s", text, formatPhases(l.Phases))
	for _, route := range l.Routes {
		p.line(3, "%s: %s", action.OneLine(route.Path), formatPhases(route.Phases))
	}
}

// formatPhases says what a server does, one phase after the other.
func formatPhases(phases behavior.Timeline) string {
	if len(phases) == 0 {
		return "healthy"
	}
	var parts []string
	for _, phase := range phases {
		lasts, requests := phase.For, phase.Requests
		phase.For, phase.Requests = 0, 0
		text := action.Encode(phase)
		if text == "{}" {
			text = "healthy"
		}
		if lasts > 0 {
			text = fmt.Sprintf("%s for %s", text, lasts)
		}
		if requests > 0 {
			text = fmt.Sprintf("%s for %d requests", text, requests)
		}
		parts = append(parts, action.OneLine(text))
	}
	return strings.Join(parts, ", then ")
}

func (p *printer) step(s Step) {
	text := s.Action.Describe()
	if s.Name != fmt.Sprint(s.Number) {
		text = action.OneLine(s.Name) + ": " + text
	}
	if s.Via != "" {
		text += " via " + s.Via
	}
	if s.Refusable {
		text += ", which may be refused"
	}
	if s.Run != "" {
		text = string(s.Run) + ": " + text
	}
	p.line(0, "%3d. %s", s.Number, text)
	for _, change := range p.changes(s) {
		p.line(3, "%s", change)
	}
	for _, c := range s.Checks() {
		proves := ""
		if c.Requirement != "" {
			proves = " (" + action.OneLine(c.Requirement) + ")"
		}
		p.line(3, "%s: %s%s", c.ID, c.Describe(), proves)
	}
}

// changes are what a step changes about the components, and what that does to the
// skew of kubelets and controllers.
func (p *printer) changes(s Step) (all []string) {
	skews := p.skews()
	for _, c := range s.Components {
		before := p.last[c.Name]
		if before.Version != c.Version {
			all = append(all, fmt.Sprintf("%s %s -> %s", c.Name, before.Version, c.Version))
		}
		if from, to := via(before), via(c); from != to {
			all = append(all, fmt.Sprintf("%s%s ->%s", c.Name, from, to))
		}
		for _, setting := range action.DescribeSettings(c.Settings) {
			if !slices.Contains(action.DescribeSettings(before.Settings), setting) {
				all = append(all, c.Name+" "+setting)
			}
		}
		for _, gate := range before.Gates.With(c.Gates).Names() {
			if from, to := before.Gates.Setting(gate), c.Gates.Setting(gate); from != to {
				all = append(all, fmt.Sprintf("%s gate %s %s -> %s", c.Name, gate, from, to))
			}
		}
		p.last[c.Name] = c
	}
	after, outside := p.skews(), false
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if skews[name] != after[name] {
			all = append(all, fmt.Sprintf("%s skew %s -> %s", name, skews[name], after[name]))
			outside = outside || spec.IsController(name) && after[name] != release.SkewSupported
		}
	}
	if outside {
		all = append(all, controllerSkew)
	}
	return all
}

// skews returns the skew of each kubelet and controller, running or not.
func (p *printer) skews() map[string]release.Skew {
	skews := make(map[string]release.Skew)
	for name, c := range p.last {
		if isKubelet(name) || spec.IsController(name) {
			skews[name] = p.skew(c)
		}
	}
	return skews
}
