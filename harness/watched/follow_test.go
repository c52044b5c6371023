package watched

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStore: a list shows which objects have gone, and what was modified is passed on with its state before.
func TestStore(t *testing.T) {
	t.Parallel()
	var got []string
	s := &store[*metav1.ObjectMeta]{
		objects: make(map[string]*metav1.ObjectMeta), synced: make(chan struct{}),
		changed: func(change string, before, now *metav1.ObjectMeta) {
			of := ""
			if before != nil {
				of = " of " + before.ResourceVersion
			}
			got = append(got, fmt.Sprint(change, " ", now.Name, now.ResourceVersion, of))
		},
		strip: func(object any) any {
			of := object.(*metav1.ObjectMeta) //nolint:forcetypeassert // it is one
			return &metav1.ObjectMeta{Name: of.Name, ResourceVersion: of.ResourceVersion}
		},
	}
	object := func(name, version string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Name: name, ResourceVersion: version, Labels: map[string]string{"a": "b"}}
	}
	for _, do := range []func() error{
		func() error { return s.Replace([]any{object("a", "1"), object("b", "1")}, "") },
		func() error { return s.Update(object("a", "2")) },
		func() error { return s.Replace([]any{object("a", "3")}, "") }, // the deletion of b was missed
		func() error { return s.Delete(object("a", "4")) },
		func() error { return s.Add(object("a", "5")) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"added a1", "added b1", "modified a2 of 1", "modified a3 of 2", "deleted b1", "deleted a4", "added a5"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := Await(t.Context(), s.synced); err != nil || s.objects["/a"].Labels != nil {
		t.Errorf("%v, %v", err, s.objects)
	}
}
