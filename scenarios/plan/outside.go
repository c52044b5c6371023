package plan

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/skewrig/skewrig/harness/program"
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
			place = at.String()
		}
		if o := (Outside{place, text, real, at.Line, at.Column}); !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	s.EachSettings(func(of string, settings spec.Settings, place func(string) string) {
		for _, o := range settings.Outside(of) {
			if program.Owns(of, o.Name) {
				continue // it can't be allowed, as the file's own errors say
			}
			add(place(o.Path), of+": "+o.Error(), false)
		}
	})
	for i, step := range s.Steps {
		if step.Skipped {
			continue
		}
		at := fmt.Sprintf("steps[%d].%s", i, step.Kind)
		for _, used := range nodeUses(step.Action) {
			add(at+used.path, used.text, !used.everywhere)
		}
	}
	slices.SortStableFunc(all, func(a, b Outside) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) })
	return all
}

// nodeUse is a part of an object by which pods use the node that they run on.
type nodeUse struct {
	path, text string
	// everywhere is true for what real components do with this machine, on simulated nodes too.
	everywhere bool
}

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
		all = append(all, nodeUse{path: ".args[0]", text: "kubectl debug: the container may share namespaces and files of the node"})
	}
	return all
}

func nodeUsesOf(at string, value any) (all []nodeUse) {
	switch value := value.(type) {
	case map[string]any:
		if field, is := value["path"].(string); is && value["op"] != nil { // of a JSON patch
			last, parent := path.Base(field), path.Base(path.Dir(field))
			all = append(all, namedUse(at, last, value["value"])...)
			all = append(all, namedUse(at, parent, map[string]any{last: value["value"]})...)
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
	flag, rest, _ := strings.Cut(strings.ReplaceAll(text, "_", "-"), "=")
	if flag == "--privileged" && rest != "false" {
		return []nodeUse{{path: at, text: "privileged: the container may do what root may on the node"}}
	}
	if i := strings.IndexAny(text, "{["); i >= 0 && strings.HasPrefix(text, "-") {
		text = text[i:]
	}
	if decoded, err := base64.StdEncoding.DecodeString(text); err == nil { // as Secrets have it
		text = string(decoded)
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
		all = append(all, nodeUse{at, use.text, use.everywhere})
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
		return []nodeUse{{path: at, text: name + ": " + text}}
	case (name == "hostPath" || name == "local") && object["path"] != nil:
		return []nodeUse{{path: at, text: fmt.Sprintf("%s: %v: the pod reads and writes files of the node", name, object["path"])}}
	case slices.Contains(mountsOutside, name) && len(object) > 0:
		return []nodeUse{{path: at, text: name + ": the node mounts a volume from outside of the rig"}}
	case name == "procMount" && value == "Unmasked":
		return []nodeUse{{path: at, text: "procMount: Unmasked: the container changes settings of the node's kernel"}}
	case name == "capabilities":
		return addedCapabilities(at, object["add"])
	default:
		return componentUse(at, name, value)
	}
}

// handlers are the fields of probes and lifecycle hooks for which the kubelet connects to a host.
var handlers = []string{"httpGet", "tcpSocket"}

// strangers are the user and the group of all who have no credentials.
var strangers = []string{"system:anonymous", "system:unauthenticated"}

func hasName(object any, name string) bool {
	fields, _ := object.(map[string]any)
	return fields["name"] == name
}

// componentUse judges a field by what a real component does with this machine because of it: the kubelet connects to
// the hosts of probes and hooks, the API server to the URLs of webhooks, kube-controller-manager removes the directory of
// a hostPath volume whose claim is deleted (pkg/volume/hostpath, Delete), and a client starts the program that its kubeconfig
// has for credentials.
func componentUse(at, name string, value any) []nodeUse {
	object, _ := value.(map[string]any)
	use := func(field string, value any, does string) []nodeUse {
		return []nodeUse{{path: at, text: fmt.Sprintf("%s: %v: %s", field, value, does), everywhere: true}}
	}
	command, is := object["command"].(string) // that of a container is a list
	for _, user := range strangers {
		if list, is := value.([]any); is && name == "subjects" && slices.ContainsFunc(list, func(s any) bool { return hasName(s, user) }) {
			return use("subjects", user, "the API server lets in other users of this machine")
		}
	}
	address := outsideAddress(value)
	switch host, url := object["host"], object["url"]; {
	case slices.Contains(handlers, name) && isOutside(host):
		return use(name+".host", host, "the kubelet connects to another machine")
	case name == "clientConfig" && url != nil:
		return use("clientConfig.url", url, "the API server connects to an address outside of the rig")
	case (name == "addresses" || name == "podIPs") && address != nil:
		return use(name, address, "the API server connects to it, past any proxy, for exec and attach")
	case name == "podIP" && isOutside(value):
		return use(name, value, "the API server connects to it for the pod's proxy")
	case name == "externalName":
		return use(name, value, "the API server connects to it for a webhook or an APIService with this Service")
	case name == "exec" && is:
		return use("exec", command, "a client with this kubeconfig starts a program of this machine")
	case name == "persistentVolumeReclaimPolicy" && value != "Retain":
		return use(name, value, "kube-controller-manager removes what a hostPath volume has on this machine")
	default:
		return nil
	}
}

// outsideAddress returns the first address of a Node's or a Pod's status that is not this machine's own, or nil. A rig's API
// servers use a Node's InternalIP.
func outsideAddress(list any) any {
	all, _ := list.([]any)
	for _, one := range all {
		fields, _ := one.(map[string]any)
		if isOutside(fields["ip"]) {
			return fields["ip"]
		}
		if fields["type"] == "InternalIP" && isOutside(fields["address"]) {
			return fields["address"]
		}
	}
	return nil
}

// reserved are addresses that no network may have (RFC 1112, section 4): pods of nodes with endpoints report such ones.
var reserved = netip.MustParsePrefix("240.0.0.0/4")

// isOutside reports whether a host is not this machine's own: loopback addresses, those that stand for them or are reserved, and no
// host at all, which is the pod's. No host has a space in its name.
func isOutside(host any) bool {
	text, is := host.(string)
	if !is || text == "" || text == "localhost" || strings.Contains(text, " ") {
		return false
	}
	address, err := netip.ParseAddr(text)
	address = address.Unmap()
	return err != nil || !address.IsLoopback() && !address.IsUnspecified() && !reserved.Contains(address)
}

func addedCapabilities(at string, added any) (all []nodeUse) {
	list, _ := added.([]any)
	for _, c := range list {
		if !slices.Contains(harmless, strings.TrimPrefix(fmt.Sprint(c), "CAP_")) {
			all = append(all, nodeUse{path: at, text: fmt.Sprintf("capabilities: %v: the container may do with the node what others may not", c)})
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
