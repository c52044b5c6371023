package ask

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// object is a pod as a manifest has it, with its kind, and without the empty fields
// that Go's types write where a mask left something out.
func object(p *corev1.Pod) map[string]any {
	fields := make(map[string]any)
	// A pod that was decoded can be encoded, and what is JSON can be read.
	text, _ := json.Marshal(p)
	_ = json.Unmarshal(text, &fields)
	dropNulls(fields)
	maps.DeleteFunc(fields, func(_ string, v any) bool {
		message, is := v.(map[string]any)
		return is && len(message) == 0
	})
	fields["apiVersion"], fields["kind"] = "v1", "Pod"
	return fields
}

func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return field == nil })
		for _, field := range v {
			dropNulls(field)
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}
