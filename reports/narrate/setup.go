package narrate

import (
	"encoding/json"
	"fmt"
	"slices"
)

// probeFields are the fields of a container that have probes.
var probeFields = []string{"startupProbe", "livenessProbe", "readinessProbe"}

// probeSettings are the probes of the containers that a check is about, as the API server had
// them last until the check was decided: of those that it names, or of all of its objects.
func (t failedCheck) probeSettings() (lines []Line) {
	containers := t.named.Containers()
	for _, key := range t.objects {
		named, others := t.probesOf(key, func(name string) bool { return slices.Contains(containers, name) })
		if len(named) == 0 {
			named = others
		}
		lines = append(lines, named...)
	}
	return lines[:min(len(lines), maxLed)]
}

// probesOf are the probes in an object: those of containers that are named, and of others.
func (t failedCheck) probesOf(key string, isNamed func(container string) bool) (named, others []Line) {
	for _, v := range slices.Backward(t.b.States(key)) {
		if v.Gone() || t.b.at(v.Time) > t.to {
			continue
		}
		list, is := at(v.Fields(), []string{"spec", "template", "spec", "containers"})
		if !is {
			list, _ = at(v.Fields(), []string{"spec", "containers"})
		}
		containers, _ := list.([]any)
		for _, c := range containers {
			fields, _ := c.(map[string]any)
			for _, probe := range probeFields {
				if fields[probe] == nil {
					continue
				}
				text, _ := json.Marshal(fields[probe]) // it was decoded from JSON
				name := fmt.Sprint(fields["name"])
				line := Line{What: fmt.Sprintf("%s, container %s, %s", key, name, probe), Text: shortened(string(text), maxMessage)}
				if isNamed(name) {
					named = append(named, line)
				} else {
					others = append(others, line)
				}
			}
		}
		return named, others
	}
	return nil, nil
}
