package rest

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

var hasAmounts = Law{
	Breach:     "it has less than nothing of a resource",
	Class:      "invalid thing accepted",
	Components: []string{record.APIServer},
	Statement:  "An amount of a resource is not negative.",
	Source:     "kubernetes/website, docs/concepts/configuration/manage-resources-containers.md",
	faulty:     true,
	judge: func(s *State, report reporter) {
		for _, key := range slices.Sorted(maps.Keys(s.byKey)) {
			// Others have fields of these names that are about something else, as in the schema of a CustomResourceDefinition.
			if v := s.byKey[key]; v.Resource != "controllerrevisions" && slices.Contains(Resources, v.Resource) {
				negative(v, report, "", v.Fields())
			}
		}
	},
}

// amountFields are the names of fields that have amounts by the name of a resource.
var amountFields = []string{"capacity", "allocatable", "allocatedResources", "requests", "limits", "hard", "used", "min", "max", "default", "defaultRequest"}

// negative reports the amounts below a place that are negative.
func negative(v *timeline.Version, report reporter, at string, of any) {
	switch of := of.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(of)) {
			below, is := of[name].(map[string]any)
			if !is || !slices.Contains(amountFields, name) {
				negative(v, report, at+"."+name, of[name])
				continue
			}
			for _, unit := range slices.Sorted(maps.Keys(below)) {
				q, err := resource.ParseQuantity(fmt.Sprint(below[unit]))
				if err == nil && q.Sign() < 0 {
					report(v, "%s.%s[%s] is %v", at, name, unit, below[unit])
				}
			}
		}
	case []any:
		for _, below := range of {
			negative(v, report, at+"[]", below)
		}
	}
}
