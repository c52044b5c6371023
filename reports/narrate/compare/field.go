package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// rename remembers what of an object is generated: its name, and the hash of its template.
func (t *runFacts) rename(v *timeline.Version) {
	common := v.Workload().GenerateName
	if common != "" {
		common += "*"
	}
	for _, label := range []string{"pod-template-hash", "controller-revision-hash"} {
		if hash := v.Meta().Labels[label]; hash != "" {
			t.names[hash] = "*"
			if common == "" && strings.Contains(v.Name, hash) {
				common = v.Name
			}
			common = strings.ReplaceAll(common, hash, "*")
		}
	}
	if common != "" {
		t.names[v.Name] = common
	}
}

// another is what is another one in each run: times, addresses, UIDs, the rest of generated names.
var another = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T[0-9:.]+Z|\b\d{1,3}(\.\d{1,3}){3}\b|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32,}\b|kube-api-access-[a-z0-9]{5}`)

// plain is a text without what is another one in each run.
func (t *runFacts) plain(text string) string {
	if name, known := t.names[text]; known {
		return name
	}
	if t.known == nil {
		t.known = slices.SortedFunc(maps.Keys(t.names), func(a, b string) int { return len(b) - len(a) })
	}
	for _, name := range t.known {
		text = strings.ReplaceAll(text, name, t.names[name])
	}
	return another.ReplaceAllString(text, "*")
}

// unlike are fields that are others in each run, or say what an object is called.
var unlike = []string{
	"metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp", "metadata.deletionTimestamp", "metadata.managedFields",
	"metadata.generateName", "metadata.name", "metadata.namespace", "metadata.selfLink", "metadata.deletionGracePeriodSeconds",
	"apiVersion", "kind",
}

// fields adds what objects had in their fields, of how many objects there were, and what clients
// of containers began with. A spec is firm: each state that it had was seen. A status passes
// through more states than are seen, so that what it ended as is all that is looked at, and may
// be chance.
func (t *runFacts) fields(end int) {
	ended := make(map[string]*timeline.Version)
	many := make(map[string]map[string]bool)
	for _, v := range t.Versions {
		if v.Static() || slices.Contains([]string{"nodes", "leases"}, v.Resource) || v.Place > end {
			continue
		}
		object := t.common(path(v.Cluster, v.Resource, v.Namespace, v.Name))
		if many[object] == nil {
			many[object] = make(map[string]bool)
		}
		many[object][string(v.Meta().UID)] = true
		if v.Gone() {
			continue
		}
		ended[object] = v
		leaves(v.Fields(), "", func(path, value string) {
			if !strings.HasPrefix(path, "status.") {
				t.firm(v.Place, object+": "+t.plain(path), " is "+t.plain(value), "")
			}
		})
	}
	for _, object := range slices.Sorted(maps.Keys(ended)) {
		v := ended[object]
		leaves(v.Fields(), "", func(path, value string) {
			if strings.HasPrefix(path, "status.") {
				t.soft(v.Place, object+": "+t.plain(path), " ended as "+t.plain(value), "")
			}
		})
		t.add(!strings.HasPrefix(object, "pods/"), v.Place, object, fmt.Sprintf(" was %d objects", len(many[object])), "")
	}
	t.answers()
	t.podsAPI()
	for _, c := range t.Connections {
		if c.First != record.FirstNothing {
			t.firm(c.Place, fmt.Sprintf("wire of container %s, port %d", t.common(c.Container), c.Port), " began with "+string(c.First), "")
		}
	}
}

// answers adds what was read of components.
func (t *runFacts) answers() {
	for _, step := range slices.Sorted(maps.Keys(t.Answered)) {
		a := t.Answered[step]
		if a.Path == "" {
			continue
		}
		about := fmt.Sprintf("step %s: %s", step, a.Path)
		t.firm(a.Place, about, fmt.Sprintf(" was answered %d", a.Code), "")
		leaves(a.Response.Value(), "", func(path, value string) { t.firm(a.Place, about+": "+path, " is "+t.plain(value), "") })
	}
}

// podsAPI adds what kubelets answered of their pods.
func (t *runFacts) podsAPI() {
	for _, step := range slices.Sorted(maps.Keys(t.PodsAnswers)) {
		a := t.PodsAnswers[step]
		place := len(t.Events)
		if i := slices.IndexFunc(t.Steps, func(s *timeline.Step) bool { return s.Name == step }); i >= 0 {
			place = t.Steps[i].From.Place
		}
		t.firm(place, fmt.Sprintf("step %s: %s of the Pods API", step, a.Method), " was answered "+a.Code, "")
		for _, name := range slices.Sorted(maps.Keys(a.Pods)) {
			leaves(a.Pods[name].Value(), "", func(path, value string) {
				about := fmt.Sprintf("step %s: pod %s: %s", step, t.common(name), t.plain(path))
				t.add(!strings.HasPrefix(path, "status."), place, about, " is "+t.plain(value), "")
			})
		}
	}
}

// leaves calls do with each value in an object that has no other ones in it, and its path. An
// element of a list is called by its name or type if it has one.
func leaves(value any, path string, do func(path, value string)) {
	if slices.Contains(unlike, path) || strings.HasSuffix(path, "Time") || strings.HasSuffix(path, "edAt") || strings.HasSuffix(path, ".uid") {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			leaves(v[name], strings.TrimPrefix(path+"."+name, "."), do)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, item := range v {
			leaves(item, fmt.Sprintf("%s[%s]", path, called(item, i)), do)
		}
		if len(v) > 0 {
			return
		}
	}
	text, _ := json.Marshal(value) // it was JSON
	do(path, string(text))
}

// called is what an element of a list is called.
func called(item any, place int) string {
	fields, _ := item.(map[string]any)
	for _, key := range []string{"name", "type"} {
		if name, is := fields[key].(string); is && !strings.HasPrefix(name, "kube-api-access-") {
			return name
		}
	}
	return strconv.Itoa(place)
}
