package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// Outside is something in a scenario that reaches beyond the rig of a cell.
type Outside struct {
	// Place is where the file has it, as file:line:column. The field of a scenario that was not read from a file.
	Place string
	Text  string
	// Real is true for what is inside on simulated nodes, and outside on nodes with real containers.
	Real bool

	line, column int
}

// outside returns what in a scenario reaches beyond the rig: settings of components, and objects whose pods
// use the node that they run on.
func outside(f *spec.File, s spec.Scenario) (all []Outside) {
	add := func(field, text string, real bool) {
		at, place := f.Position(field), field
		if at.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", f.Path, at.Line, at.Column)
		}
		if o := (Outside{place, text, real, at.Line, at.Column}); !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	s.EachSettings(func(program string, settings spec.Settings, place func(string) string) {
		for _, o := range settings.Outside(program) {
			add(place(o.Path), program+": "+o.Error(), false)
		}
	})
	for i, step := range s.Steps {
		if step.Skipped {
			continue
		}
		at := fmt.Sprintf("steps[%d].%s", i, step.Kind)
		for _, used := range nodeUses(step.Action) {
			add(at+used.path, used.text, true)
		}
	}
	slices.SortStableFunc(all, func(a, b Outside) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) })
	return all
}

// nodeUse is a part of an object by which pods use the node that they run on.
type nodeUse struct{ path, text string }

// nodeUses finds them in all that an action has, whatever it does with it.
func nodeUses(a spec.Action) (all []nodeUse) {
	var part any = a
	if file, is := a.(action.File); is {
		part = file.Objects
	}
	text, err := json.Marshal(part)
	var value any
	if err == nil && json.Unmarshal(text, &value) == nil {
		all = nodeUsesOf("", value)
	}
	if kubectl, is := a.(action.Kubectl); is && len(kubectl.Args) > 0 && kubectl.Args[0] == "debug" {
		all = append(all, nodeUse{".args[0]", "kubectl debug: the container may share namespaces and files of the node"})
	}
	return all
}

func nodeUsesOf(at string, value any) (all []nodeUse) {
	switch value := value.(type) {
	case map[string]any:
		if field, is := value["path"].(string); is && value["op"] != nil { // of a JSON patch
			all = append(all, namedUse(at, path.Base(field), value["value"])...)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			within := fmt.Sprintf("%s[%q]", at, key)
			all = append(all, namedUse(within, key, value[key])...)
			all = append(all, nodeUsesOf(within, value[key])...)
		}
	case []any:
		for i, item := range value {
			all = append(all, nodeUsesOf(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	case string:
		all = textUses(at, value)
	}
	return all
}

// textUses finds them in an argument of a program, which may be an object or a part of one.
func textUses(at, text string) (all []nodeUse) {
	flag, rest, _ := strings.Cut(text, "=")
	if flag == "--privileged" && rest != "false" {
		return []nodeUse{{at, "privileged: the container may do what root may on the node"}}
	}
	if i := strings.IndexAny(text, "{["); i >= 0 && strings.HasPrefix(text, "--") {
		text = text[i:]
	}
	if !strings.ContainsAny(text, ":") {
		return nil
	}
	var object any
	if yaml.Unmarshal([]byte(text), &object) != nil {
		return nil
	}
	if _, still := object.(string); still {
		return nil
	}
	for _, use := range nodeUsesOf("", object) {
		all = append(all, nodeUse{at, use.text})
	}
	return all
}

// usesNode are fields that say by themselves that a pod uses its node, and what it can do there then.
var usesNode = map[string]string{
	"hostPID": "the pod sees and ends processes of the node", "hostIPC": "the pod shares memory with processes of the node",
	"hostNetwork": "the pod has the network of the node", "privileged": "the container may do what root may on the node",
}

// mountsOutside are volumes from outside of the rig.
var mountsOutside = []string{"nfs", "iscsi", "fc", "cephfs", "rbd", "glusterfs", "flexVolume"}

// harmless are capabilities that each container may have (Pod Security Standards, baseline).
var harmless = []string{"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}

// namedUse judges a field by its name and value.
func namedUse(at, name string, value any) []nodeUse {
	object, _ := value.(map[string]any)
	switch text := usesNode[name]; {
	case text != "" && value == true:
		return []nodeUse{{at, name + ": " + text}}
	case (name == "hostPath" || name == "local") && object["path"] != nil:
		return []nodeUse{{at, fmt.Sprintf("%s: %v: the pod reads and writes files of the node", name, object["path"])}}
	case slices.Contains(mountsOutside, name) && len(object) > 0:
		return []nodeUse{{at, name + ": the node mounts a volume from outside of the rig"}}
	case name == "procMount" && value == "Unmasked":
		return []nodeUse{{at, "procMount: Unmasked: the container changes settings of the node's kernel"}}
	case name == "capabilities":
		return addedCapabilities(at, object["add"])
	default:
		return nil
	}
}

func addedCapabilities(at string, added any) (all []nodeUse) {
	list, _ := added.([]any)
	for _, c := range list {
		if !slices.Contains(harmless, strings.TrimPrefix(fmt.Sprint(c), "CAP_")) {
			all = append(all, nodeUse{at, fmt.Sprintf("capabilities: %v: the container may do with the node what others may not", c)})
		}
	}
	return all
}

// OutsideOf returns what cells have that reaches beyond their rigs, each once. A cluster has real containers on
// all nodes.
func OutsideOf(cells []Cell, cluster bool) (all []Outside) {
	for _, c := range cells {
		real := cluster || slices.ContainsFunc(c.Topology.Nodes, func(n record.Node) bool { return n.Runtime != "" })
		for _, o := range c.Outside {
			if (real || !o.Real) && !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all
}
