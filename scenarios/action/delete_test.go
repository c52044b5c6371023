package action_test

import (
	"encoding/json"
	"testing"

	"github.com/skewrig/skewrig/scenarios/action"
	"github.com/skewrig/skewrig/scenarios/spec"
)

// TestDelete: an object is written alone where nothing else is said, and each of a namespace is an object of any name.
func TestDelete(t *testing.T) {
	t.Parallel()
	pod := spec.ObjectRef{Resource: "pods", Namespace: "shop", Name: "web"}
	for want, d := range map[string]action.Delete{
		`"pods/shop/web"`: {Object: pod},
		`{"object":"pods/shop/web","propagation":"Orphan"}`: {Object: pod, Propagation: "Orphan"},
		`{"each":"pods/shop"}`:                              {Each: "pods/shop"},
	} {
		if text, err := json.Marshal(d); err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
	}
	each := action.Delete{Each: "pods/shop"}.Ref()
	if !each.Names("", "pods", "shop", "web") || each.Names("", "pods", "default", "web") || each.Names("", "services", "shop", "web") || each.Names("seed", "pods", "shop", "web") {
		t.Errorf("%s names others, or not a pod of the namespace", each)
	}
}
