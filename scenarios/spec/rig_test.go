package spec

import (
	"testing"
)

func TestParseObjectRef(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ObjectRef{
		"pods/tls":               {Resource: "pods", Namespace: "default", Name: "tls"},
		"pods/other/tls":         {Resource: "pods", Namespace: "other", Name: "tls"},
		"nodes/node-a":           {Resource: "nodes", Name: "node-a"},
		"clusterroles/system:a":  {Resource: "clusterroles", Name: "system:a"},
		"widgets.example.io/a.b": {Resource: "widgets.example.io", Namespace: "default", Name: "a.b"},
	} {
		got, err := ParseObjectRef(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}
