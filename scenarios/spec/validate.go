package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/record"
)

// validator judges a scenario that is decoded. Fields that could not be decoded
// are left out: what is wrong with them is reported already.
type validator struct {
	*strict.Document
	kinds    []ActionKind
	scenario *Scenario
	axes     map[string]string
	options  Options
	// combinations are all of the scenario's.
	combinations []map[string]string
}

// validate reports what is wrong with one combination of a scenario. What all
// of them have in common is looked at with the first.
func (r *reader) validate(c *Combination, first bool) {
	v := &validator{Document: r.Document, kinds: r.kinds, scenario: &c.Scenario, axes: c.Axes, options: r.options, combinations: r.combinations}
	if first {
		v.checkHead()
		v.checkAxes()
		v.checkCompare()
	}
	v.checkNodes()
	v.checkMembers()
	v.checkUnsupported()
	v.checkTopology()
	v.checkImages()
	c.Unfit = v.followRig()
	v.checkSteps()
}

func stepPath(i int) string { return fmt.Sprintf("steps[%d]", i) }

func axisPath(name string) string { return fmt.Sprintf("axes[%q]", name) }

// idPart is what each of the segments of a scenario's id is made of.
var idPart = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

func (v *validator) checkHead() {
	v.Constant("apiVersion", v.scenario.APIVersion, APIVersion)
	v.Constant("kind", v.scenario.Kind, Kind)
	if v.Clean("id") {
		v.checkID("id", v.scenario.ID)
	}
	v.Refuse("title", strings.TrimSpace(v.scenario.Title) == "", "the title is empty")
	if v.Clean("control") {
		v.checkID("control", v.scenario.Control)
		v.Refuse("control", v.scenario.Control == v.scenario.ID, "a scenario can't be its own control")
	}
}

func (v *validator) checkID(field, id string) {
	segments := strings.Split(id, "/")
	if len(segments) != 3 {
		v.Note(field, "%s is not an id of three segments, like kep-4939/e2e/tls-probe", strict.Quote(id))
		return
	}
	for _, segment := range segments {
		if !idPart.MatchString(segment) || len(segment) > maxPart {
			v.Note(field, "%s can't be a segment of an id: use a-z, 0-9, . and -, beginning with a letter or digit, %d at most", strict.Quote(segment), maxPart)
		}
	}
}

func (v *validator) checkNodes() {
	seen := make(map[string]bool)
	for i, node := range v.scenario.Topology.Nodes {
		at := fmt.Sprintf("topology.nodes[%d].name", i)
		v.Refuse(at, !dnsLabel.MatchString(node.Name), "%s can't name a node: use a DNS label, of a-z, 0-9 and -", strict.Quote(node.Name))
		v.Refuse(at, seen[node.Name], "there is a node %s already", strict.Quote(node.Name))
		seen[node.Name] = v.Clean(at)
		for j, setting := range node.Defaults {
			v.Refuse(fmt.Sprintf("topology.nodes[%d].defaults[%d]", i, j), !slices.Contains(rigSettings, setting),
				"%s is no setting of a kubelet that a rig can leave: %s", strict.Quote(setting), strict.DidYouMean(setting, rigSettings))
		}
		v.Refuse(fmt.Sprintf("topology.nodes[%d].runtime", i), node.Runtime != "" && !slices.Contains(record.Runtimes, node.Runtime),
			"%s is no container runtime of a node: %s", strict.Quote(node.Runtime), strict.DidYouMean(node.Runtime, record.Runtimes))
		v.checkRuntimeHandlers(fmt.Sprintf("topology.nodes[%d].runtimeHandlers", i), node.RuntimeHandlers)
	}
}

func (v *validator) checkRuntimeHandlers(at string, handlers RuntimeHandlers) {
	v.Refuse(at+".names", len(handlers.Names) == 0, "there are no names: without runtimeHandlers, there is the default one")
	for i, name := range handlers.Names {
		of := fmt.Sprintf("%s.names[%d]", at, i)
		v.Refuse(of, !dnsLabel.MatchString(name), "%s can't name a runtime handler: use a DNS label, of a-z, 0-9 and -", strict.Quote(name))
		v.Refuse(of, slices.Contains(handlers.Names[:i], name), "there is a runtime handler %s already", strict.Quote(name))
	}
}

// rigSettings are those that a rig sets for the sake of scenarios, and can do without.
var rigSettings = []string{"eventRecordQPS", "fileCheckFrequency", "logging", "maxPods", "syncFrequency"}

func (v *validator) checkImages() {
	seen := make(map[string]bool)
	for i, image := range v.scenario.Images {
		at := fmt.Sprintf("images[%d]", i)
		v.Refuse(at+".image", image.Image == "", "the pattern is empty")
		v.Refuse(at+".image", seen[image.Image], "%s is mapped already", strict.Quote(image.Image))
		seen[image.Image] = v.Clean(at + ".image")
		v.checkListeners(at+".listen", image)
		if image.HealthProbe != "" {
			_, err := release.Parse(string(image.HealthProbe))
			v.Refuse(at+".healthProbe", err != nil, "%v", err)
		}
	}
}

func (v *validator) checkListeners(at string, image Image) {
	ports := make(map[int32]bool)
	for i, listener := range image.Listen {
		item := fmt.Sprintf("%s[%d]", at, i)
		if !v.Clean(item) {
			continue
		}
		if ports[listener.Port] {
			v.Note(item+".port", "port %d has a listener already", listener.Port)
		}
		ports[listener.Port] = true
		for _, p := range listener.Validate() {
			v.Note(item+"."+p.Field, "%v", p)
		}
	}
}

// checkDuration reports a length of time that is written and is none.
func (v *validator) checkDuration(field string, d behavior.Duration) {
	err := checkLength(time.Duration(d))
	v.Refuse(field, err != nil, "%v", err)
}
