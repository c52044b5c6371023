package spec

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

// validator judges a scenario that is decoded. Fields that could not be decoded
// are left out: what is wrong with them is reported already.
type validator struct {
	*source
	file     *File
	scenario *Scenario
	axes     []AxisValue
}

// validate reports what is wrong with one combination of a scenario. What all
// of them have in common is looked at with the first.
func validate(s *source, f *File, c *Combination, first bool) {
	v := &validator{source: s, file: f, scenario: &c.Scenario, axes: c.Axes}
	if first {
		v.checkHead()
		v.checkAxes()
	}
	v.checkNodes()
	v.checkTopology()
	v.checkImages()
	v.checkSteps()
	v.checkRig()
}

// report reports a problem with the field at a path.
func (v *validator) report(path, format string, args ...any) {
	n, _ := find(v.file.root, path)
	v.note(n, format, args...)
}

// clean reports whether the field at a path is there and could be decoded.
func (v *validator) clean(path string) bool {
	n, found := find(v.file.root, path)
	return found && !v.bad[n]
}

func stepPath(i int) string { return fmt.Sprintf("steps[%d]", i) }

func axisPath(name string) string { return fmt.Sprintf("axes[%q]", name) }

// idPart is what each of the segments of a scenario's id is made of.
var idPart = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

func (v *validator) checkHead() {
	v.checkConstant("apiVersion", v.scenario.APIVersion, APIVersion)
	v.checkConstant("kind", v.scenario.Kind, Kind)
	if v.clean("id") {
		v.checkID("id", v.scenario.ID)
	}
	if v.clean("title") && strings.TrimSpace(v.scenario.Title) == "" {
		v.report("title", "the title is empty")
	}
	if v.clean("control") {
		v.checkID("control", v.scenario.Control)
		if v.scenario.Control == v.scenario.ID {
			v.report("control", "a scenario can't be its own control")
		}
	}
}

func (v *validator) checkConstant(field, value, want string) {
	if v.clean(field) && value != want {
		v.report(field, "%s must be %s, not %s", field, want, Quote(value))
	}
}

func (v *validator) checkID(field, id string) {
	segments := strings.Split(id, "/")
	if len(segments) != 3 {
		v.report(field, "%s is not an id of three segments, like kep-4939/e2e/tls-probe", Quote(id))
		return
	}
	for _, segment := range segments {
		if !idPart.MatchString(segment) || len(segment) > maxPart {
			v.report(field, "%s can't be a segment of an id: use a-z, 0-9, . and -, beginning with a letter or digit, %d at most", Quote(segment), maxPart)
		}
	}
}

func (v *validator) checkNodes() {
	seen := make(map[string]bool)
	for i, node := range v.scenario.Topology.Nodes {
		at := fmt.Sprintf("topology.nodes[%d].name", i)
		if !v.clean(at) {
			continue
		}
		if !dnsLabel.MatchString(node.Name) {
			v.report(at, "%s can't name a node: use a DNS label, of a-z, 0-9 and -", Quote(node.Name))
		}
		if seen[node.Name] {
			v.report(at, "there is a node %s already", Quote(node.Name))
		}
		seen[node.Name] = true
	}
}

func (v *validator) checkImages() {
	seen := make(map[string]bool)
	for i, image := range v.scenario.Images {
		at := fmt.Sprintf("images[%d]", i)
		if v.clean(at + ".image") {
			if image.Image == "" {
				v.report(at+".image", "the pattern is empty")
			}
			if seen[image.Image] {
				v.report(at+".image", "%s is mapped already", Quote(image.Image))
			}
			seen[image.Image] = true
		}
		v.checkListeners(at+".listen", image)
	}
}

func (v *validator) checkListeners(at string, image Image) {
	ports := make(map[int32]bool)
	for i, listener := range image.Listen {
		item := fmt.Sprintf("%s[%d]", at, i)
		if !v.clean(item) {
			continue
		}
		if ports[listener.Port] {
			v.report(item+".port", "port %d has a listener already", listener.Port)
		}
		ports[listener.Port] = true
		for _, p := range listener.Validate() {
			v.report(item+"."+p.Field, "%v", p)
		}
	}
}

// checkDuration reports a length of time that is written and is none.
func (v *validator) checkDuration(field string, d behavior.Duration) {
	if !v.clean(field) {
		return
	}
	if err := checkLength(time.Duration(d)); err != nil {
		v.report(field, "%v", err)
	}
}
