package spec

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/record"
)

// Actions returns the fields of a step of which it has exactly one.
func Actions() []string {
	return []string{"apply", "file", "patch", "staticPod", "delete", "restart", "start", "stop", "kill", "wait", "scrape", "log", "podsAPI", "cut", "slow", "answer", "heal", "clock", "checks"}
}

// rigActions are those of them that change what runs.
func rigActions() []string {
	return []string{"restart", "start", "stop", "kill", "cut", "slow", "answer", "heal", "clock"}
}

// present returns those of the fields that a mapping has.
func (v *validator) present(at string, fields []string) []string {
	var found []string
	n, ok := find(v.file.root, at)
	if !ok || n.Kind != yaml.MappingNode {
		return nil
	}
	for _, name := range fields {
		if _, ok := find(n, name); ok {
			found = append(found, name)
		}
	}
	return found
}

func (v *validator) checkSteps() {
	if v.clean("steps") && len(v.scenario.Steps) == 0 {
		v.report("steps", "the scenario has no steps")
	}
	names := make(map[string]int)
	for i, step := range v.scenario.Steps {
		at := stepPath(i)
		n, _ := find(v.file.root, at)
		if n.Kind != yaml.MappingNode {
			continue
		}
		name := StepName(i, step)
		if first, taken := names[name]; taken && !step.Skipped {
			v.report(at+".name", "step %d has the name %s already", first+1, quote(name))
		} else if !step.Skipped {
			names[name] = i
		}
		if len(name) > maxPart || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			v.report(at+".name", "%s can't name a step: use at most %d bytes of one line", quote(name), maxPart)
		}
		v.checkAction(at, step)
		v.checkRun(at, step.Run)
	}
}

// checkRun reports a step for after a failure that does what can't be done then.
func (v *validator) checkRun(at string, run record.Run) {
	if !v.clean(at + ".run") {
		return
	}
	if run != record.Catch && run != record.Cleanup {
		v.report(at+".run", "%s is not a time to run a step: catch and cleanup are", quote(string(run)))
		return
	}
	for _, action := range v.present(at, rigActions()) {
		v.report(at+"."+action, "a %s step can't change what runs: after a failure, that isn't what the scenario planned", run)
	}
	if run == record.Catch && len(v.present(at, []string{"checks"})) > 0 {
		v.report(at+".checks", "a catch step gathers evidence, and has no part in the verdict: a check does")
	}
}

// Kind is the field that says what the step does.
func (s Step) Kind() string {
	v := reflect.ValueOf(s)
	for _, f := range fieldsOf(v.Type()) {
		if slices.Contains(Actions(), f.name) && !v.Field(f.index).IsZero() {
			return f.name
		}
	}
	return ""
}

// StepName returns the name of a step, whose index counts from 0: the one it is
// given, or its number.
func StepName(index int, s Step) string {
	if s.Name != "" {
		return s.Name
	}
	return strconv.Itoa(index + 1)
}

func (v *validator) checkAction(at string, step Step) {
	found := v.present(at, Actions())
	switch len(found) {
	case 0:
		v.report(at, "the step does nothing: give it one of %s", strings.Join(Actions(), ", "))
	case 1:
	default:
		v.report(at+"."+found[1], "a step does one thing, and this one has %s: make them steps of their own", strings.Join(found, " and "))
	}
	if requests := v.present(at, []string{"apply", "file", "patch"}); v.clean(at+".rejected") && len(requests) == 0 {
		v.report(at+".rejected", "rejected goes with apply, file and patch only")
	}
	for _, name := range found {
		if v.clean(at + "." + name) {
			v.checkOne(at, name, step)
		}
	}
}

// checkOne checks one action of a step, other than what the rig says of it.
func (v *validator) checkOne(at, action string, step Step) {
	field := at + "." + action
	switch action {
	case "apply", "file":
		v.checkManifests(field, action, step)
	case "patch":
		v.checkObjectRef(field+".object", step.Patch.Object)
		if len(step.Patch.Merge) == 0 {
			v.report(field+".merge", "the patch changes nothing")
		}
	case "staticPod":
		v.checkStaticPod(field, *step.StaticPod)
	case "delete":
		v.checkObjectRef(field, step.Delete)
	case "stop":
		v.checkNamed(field, step.Stop)
	case "kill":
		v.checkNamed(field, step.Kill)
	case "wait":
		if strings.TrimSpace(step.Wait.Until) == "" {
			v.report(field+".until", "there is nothing to wait for")
		}
		v.checkDuration(field+".within", step.Wait.Within)
	case "scrape":
		v.checkScrape(field, *step.Scrape)
	case "log":
		v.checkNamed(field+".component", step.Log.Component)
		if _, err := regexp.Compile(step.Log.Match); err != nil || step.Log.Match == "" {
			v.report(field+".match", "%s is not a regular expression that matches something", quote(step.Log.Match))
		}
	case "podsAPI":
		v.checkPodsAPI(field, *step.PodsAPI)
	case "cut":
		v.checkFault(field, step.Cut.Fault())
	case "slow":
		if v.checkFault(field, step.Slow.Fault()); step.Slow.Fault() == (record.LinkFault{Direction: step.Slow.Direction}) {
			v.report(field, "the link is as fast as before: give it a delay, jitter or bytesPerSecond")
		}
	case "answer":
		v.checkFault(field, step.Answer.Fault())
	case "clock":
		v.checkClock(field, *step.Clock)
	case "heal":
		v.checkNamed(field, step.Heal)
	case "checks":
		if len(step.Checks) == 0 {
			v.report(field, "there are no checks")
		}
	}
}

func (v *validator) checkFault(field string, f record.LinkFault) {
	if err := f.Validate(); err != nil {
		for mistake := range strings.Lines(err.Error()) {
			v.report(field, "%s", strings.TrimSpace(mistake))
		}
	}
}

func (v *validator) checkScrape(field string, s Scrape) {
	if name := s.Component; v.clean(field+".component") && name != APIServer && !strings.HasPrefix(name, kubeletPrefix) {
		v.report(field+".component", "%s can't be scraped: %s and kubelets can", quote(name), APIServer)
	}
	if s.Path != "" && !strings.HasPrefix(s.Path, "/") {
		v.report(field+".path", "%s is not a path: it begins with /", quote(s.Path))
	}
}

func (v *validator) checkManifests(field, action string, step Step) {
	if action == "file" {
		if step.File == "" {
			v.report(field, "the name of the file is empty")
		} else if step.FromFile != nil && len(step.FromFile) == 0 {
			v.report(field, "%s holds no objects", quote(step.File))
		}
		return
	}
	if len(step.Apply) == 0 {
		v.report(field, "there are no objects")
	}
	for i := range step.Apply {
		if n, found := find(v.file.root, fmt.Sprintf("%s[%d]", field, i)); found {
			checkObject(v.source, n)
		}
	}
}

func (v *validator) checkStaticPod(field string, s StaticPod) {
	if given := v.present(field, []string{"pod", "remove"}); len(given) != 1 {
		v.report(field, "a static pod is run or removed: give it pod or remove")
		return
	}
	n, found := find(v.file.root, field+".pod")
	if !found {
		return
	}
	checkObject(v.source, n)
	if kind, is := s.Pod["kind"].(string); is && kind != "Pod" {
		v.report(field+".pod.kind", "a kubelet runs pods only, and no %s", quote(kind))
	}
}

func (v *validator) checkObjectRef(field, ref string) {
	if _, err := ParseObjectRef(ref); err != nil {
		v.report(field, "%v", err)
	}
}

// checkNamed reports a component that is named by nothing. Other names are for
// the rig to judge.
func (v *validator) checkNamed(field, name string) {
	if name == "" {
		v.report(field, "the name of the component is empty")
	}
}

// checkRig follows the rig from step to step and reports what a real one could
// not do.
func (v *validator) checkRig() {
	if !v.knowsRig() {
		return
	}
	rig, conflicts := NewRig(v.scenario.Topology)
	v.conflicts("topology", conflicts)
	checks := make(map[string]bool)
	for i, step := range v.scenario.Steps {
		if _, err := rig.Applies(step.When, v.axes); err != nil {
			v.report(stepPath(i)+".when", "%v", err)
		}
		if step.Skipped {
			continue
		}
		v.checkApplicable(rig, i, checks)
		if len(v.unclean(stepPath(i), rigActions()...)) > 0 {
			return // from here on it isn't known what runs
		}
		v.conflicts(stepPath(i), rig.Do(step))
	}
}

// knowsRig reports whether everything could be decoded that says which releases
// the rig begins with.
func (v *validator) knowsRig() bool {
	unclean := v.unclean("topology", "controlPlane.version", "controlPlane.controllerManager", "controlPlane.scheduler",
		"leaseNodes", "leaseNodes.zones", "garden", "garden.watchdog")
	for i := range v.scenario.Topology.Nodes {
		unclean = append(unclean, v.unclean(fmt.Sprintf("topology.nodes[%d]", i), "name", "version")...)
	}
	nodesKnown := len(v.scenario.Topology.Nodes) > 0 || len(v.unclean("topology", "nodes")) == 0
	return len(unclean) == 0 && nodesKnown && v.has("topology.controlPlane")
}

// unclean returns those of the fields that are there and could not be decoded.
func (v *validator) unclean(at string, fields ...string) []string {
	return slices.DeleteFunc(fields, func(field string) bool {
		return !v.has(at+"."+field) || v.clean(at+"."+field)
	})
}

func (v *validator) conflicts(at string, conflicts []Conflict) {
	for _, c := range conflicts {
		v.report(at+"."+c.Field, "%s", c.Message)
	}
}

func (v *validator) has(path string) bool {
	_, found := find(v.file.root, path)
	return found
}
