package engine

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/skewrig/skewrig/scenarios/spec"
)

func TestFind(t *testing.T) {
	t.Parallel()
	v1 := schema.GroupVersion{Group: "example.com", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1})
	mapper.Add(v1.WithKind("Runner"), meta.RESTScopeNamespace)
	mapper.Add(v1.WithKind("Fleet"), meta.RESTScopeRoot)
	o := objects{mapper: mapper}
	for written, want := range map[string]string{"runners/a": "runners/default/a", "runners/shop/a": "runners/shop/a", "fleets/a": "fleets/a"} {
		ref, err := spec.ParseObjectRef(written)
		if err != nil {
			t.Fatal(err)
		}
		resource, err := o.find(&ref)
		if err != nil || ref.String() != want || resource != v1.WithResource(ref.Resource) {
			t.Errorf("%s is %s of %s, %v, want %s", written, ref, resource, err, want)
		}
	}
	if _, err := o.find(&spec.ObjectRef{Resource: "none"}); err == nil {
		t.Error("it finds a resource that is not there")
	}
}
