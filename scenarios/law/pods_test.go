package law_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/scenarios/law"
)

func TestPodsOf(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	history := record.NewHistory(nil)
	observe := func(name, owner, uid string, restarts int) {
		object, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"namespace": "shop", "name": name, "uid": uid, "ownerReferences": []any{map[string]any{"uid": owner}}},
			"status":   map[string]any{"containerStatuses": []any{map[string]any{"name": "app", "restartCount": restarts}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		history.Append("watch", "pods/shop/"+name, record.ObjectObserved{Change: "modified", Resource: "pods", Namespace: "shop", Name: name, Object: object})
	}
	history.Append("watch", "statefulsets/shop/db", record.ObjectObserved{Change: "added", Resource: "statefulsets", Namespace: "shop", Name: "db", Object: json.RawMessage(`{"metadata": {"namespace": "shop", "name": "db", "uid": "s"}}`)})
	observe("db-0", "s", "a", 0)
	observe("db-0", "s", "a", 2)
	observe("db-0", "s", "b", 1) // made anew
	observe("web-0", "other", "c", 5)
	c := law.NewCourse(law.Course{Timeline: timeline.Of(history.Events())}, nil)
	got := c.PodsOf(law.Object{Key: "statefulsets/shop/db"}, at.Add(-time.Hour), time.Time{})
	if got.Made != 2 || got.Restarted != 3 || len(got.All) != 1 || !got.All["shop/db-0"] {
		t.Errorf("%+v", got)
	}
}
