package watched

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/skewrig/skewrig/record"
)

// writersOf are the field managers that changed an object since another state of it: they own a field that
// has changed, or an API server has put another time to what they own. A manager that only removed fields
// may not be among them.
func writersOf(old, now *unstructured.Unstructured) (writers []record.Writer) {
	if old == nil || old.GetUID() != now.GetUID() || old.GetResourceVersion() == now.GetResourceVersion() {
		return nil
	}
	times := make(map[record.Writer]string)
	for _, m := range old.GetManagedFields() {
		times[writerOf(m)] = timeOf(m)
	}
	for _, m := range now.GetManagedFields() {
		w := writerOf(m)
		var owned map[string]any
		if m.FieldsV1 != nil && json.Unmarshal(m.FieldsV1.GetRawBytes(), &owned) != nil {
			continue
		}
		if (times[w] != timeOf(m) || differs(owned, old.Object, now.Object)) && !slices.Contains(writers, w) {
			writers = append(writers, w)
		}
	}
	return writers
}

func writerOf(m metav1.ManagedFieldsEntry) record.Writer {
	return record.Writer{Manager: m.Manager, Operation: string(m.Operation), Subresource: m.Subresource}
}

// timeOf is when an entry was changed, which not each one has.
func timeOf(m metav1.ManagedFieldsEntry) string {
	if m.Time == nil {
		return ""
	}
	return m.Time.String()
}

// differs reports whether a field that is owned has another value now. What is owned is in the form of
// FieldsV1: a name as f:name, an item of a list as k:{"name":"app"} or v:"value".
func differs(owned map[string]any, old, now any) bool {
	for path, below := range owned {
		if path == "." {
			continue // it is owned that there is one
		}
		was, is := member(old, path), member(now, path)
		fields, _ := below.(map[string]any)
		if len(fields) == 0 && !reflect.DeepEqual(was, is) || len(fields) > 0 && (was == nil || differs(fields, was, is)) {
			return true
		}
	}
	return false
}

// member is what a path element of FieldsV1 stands for; nil if there is none.
func member(of any, path string) any {
	kind, name, _ := strings.Cut(path, ":")
	if fields, is := of.(map[string]any); is && kind == "f" {
		return fields[name]
	}
	var wanted any
	items, is := of.([]any)
	if !is || json.Unmarshal([]byte(name), &wanted) != nil {
		return nil
	}
	i := slices.IndexFunc(items, func(item any) bool {
		keys, isKey := wanted.(map[string]any)
		if kind != "k" || !isKey {
			return same(item, wanted)
		}
		fields, _ := item.(map[string]any)
		for key, value := range keys {
			if !same(fields[key], value) {
				return false
			}
		}
		return true
	})
	if i < 0 {
		return nil
	}
	return items[i]
}

// same compares values of JSON, of which one may have whole numbers as integers.
func same(a, b any) bool {
	one, _ := json.Marshal(a) // both were decoded from JSON
	other, _ := json.Marshal(b)
	return string(one) == string(other)
}
