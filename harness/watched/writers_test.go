package watched

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestWriters: a field manager wrote an object if it owns a field that changed, or if its entry is new or has
// another time.
func TestWriters(t *testing.T) {
	t.Parallel()
	const (
		early, late = `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:07Z"`
		replicas    = `{"f:status":{"f:replicas":{}}}`
		image       = `{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}`
		finalizer   = `{"f:metadata":{"f:finalizers":{".":{},"v:\"foreground\"":{}}}}`
	)
	entry := func(manager, at, fields string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Update","subresource":"status","time":%s,"fieldsV1":%s}`, manager, at, fields)
	}
	object := func(version int, body string, managed ...string) *unstructured.Unstructured {
		text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"1","resourceVersion":"%d","finalizers":["foreground"],"managedFields":[`, version)
		for i, m := range managed {
			text += map[bool]string{true: ","}[i > 0] + m
		}
		var u unstructured.Unstructured
		if err := json.Unmarshal([]byte(text+"]},"+body+"}"), &u.Object); err != nil {
			t.Fatal(err)
		}
		return &u
	}
	const one, two = `"status":{"replicas":1},"spec":{"containers":[{"name":"app","image":"a"}]}`, `"status":{"replicas":2},"spec":{"containers":[{"name":"app","image":"a"}]}`
	const other = `"status":{"replicas":1},"spec":{"containers":[{"name":"app","image":"b"}]}`
	for name, tc := range map[string]struct {
		before, now *unstructured.Unstructured
		want        []string
	}{
		"a value, within a second": {object(1, one, entry("kcm", early, replicas), entry("user", early, image)), object(2, two, entry("kcm", early, replicas), entry("user", early, image)), []string{"kcm"}},
		"an item of a list":        {object(1, one, entry("kcm", early, replicas), entry("user", early, image)), object(2, other, entry("kcm", early, replicas), entry("user", early, image)), []string{"user"}},
		"another time":             {object(1, one, entry("kcm", early, finalizer)), object(2, one, entry("kcm", late, finalizer)), []string{"kcm"}},
		"a new entry":              {object(1, one, entry("kcm", early, replicas)), object(2, two, entry("hpa", late, replicas)), []string{"hpa"}},
		"several writes":           {object(1, one, entry("kcm", early, replicas)), object(3, two, entry("hpa", late, replicas), entry("user", late, image)), []string{"hpa", "user"}},
		"an entry without a time":  {object(1, one, entry("kcm", "null", replicas)), object(2, two, entry("kcm", "null", replicas)), []string{"kcm"}},
		"a field that went":        {object(1, one, entry("kcm", early, replicas)), object(2, `"spec":{}`, entry("user", early, image)), []string{"user"}},
		"no write":                 {object(1, one, entry("kcm", early, replicas)), object(1, two, entry("kcm", early, replicas)), nil},
	} {
		var got []string
		_, event, err := observed("modified", "pods", tc.before, tc.now, nil)
		if err != nil || bytes.Contains(event.Object, []byte("managedFields")) {
			t.Errorf("%s: %s is recorded: %v", name, event.Object, err)
		}
		for _, w := range event.Writers {
			got = append(got, w.Manager)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
