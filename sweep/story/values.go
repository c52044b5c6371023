package story

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// valuesText has objects, and values of their fields.
//
//go:embed values.yaml
var valuesText []byte

// values are objects of each kind, each with one value of one of its fields: empty, at bounds, of each kind, or twice.
func values() (all []Story) {
	var table struct {
		// Objects are the objects by a name, and Beside is what has to be there too.
		Objects map[string]map[string]any   `json:"objects"`
		Beside  map[string][]map[string]any `json:"beside"`
		// Values are the values of fields, by the name of the object and the path of the field.
		Values map[string]map[string][]any `json:"values"`
	}
	if err := yaml.UnmarshalStrict(valuesText, &table); err != nil {
		panic(err) //nolint:forbidigo // the text is part of the program
	}
	for _, name := range slices.Sorted(maps.Keys(table.Values)) {
		for _, path := range slices.Sorted(maps.Keys(table.Values[name])) {
			for n, value := range table.Values[name][path] {
				o := unstructured.Unstructured{Object: table.Objects[name]}
				o = *o.DeepCopy()
				if err := unstructured.SetNestedField(o.Object, value, strings.Split(path, ".")...); err != nil {
					panic(fmt.Sprintf("%s: %s: %v", name, path, err)) //nolint:forbidigo // the text is part of the program
				}
				all = append(all, Story{
					Name:    fmt.Sprintf("%s-%s-%d", lower(name), lower(strings.ReplaceAll(path, ".", "-")), n+1),
					Objects: append(slices.Clone(table.Beside[name]), o.Object),
					Acts:    []Act{labeled(ref(o.Object))},
				})
			}
		}
	}
	return all
}
