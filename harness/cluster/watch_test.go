package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// gated is an API server with one resource, which it serves or does not, and which has an object or not. It may refuse its
// watches.
type gated struct{ served, empty, refuses atomic.Bool }

func (g *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(code int32, reason metav1.StatusReason) {
		w.WriteHeader(int(code))
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason})
	}
	w.Header().Set("Content-Type", "application/json")
	switch q := r.URL.Query(); {
	case !g.served.Load():
		refuse(http.StatusNotFound, metav1.StatusReasonNotFound)
	case q.Get("sendInitialEvents") == "true":
		refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case q.Get("watch") == "true" && g.refuses.Load():
		refuse(http.StatusForbidden, metav1.StatusReasonForbidden)
	case q.Get("watch") == "true":
		w.(http.Flusher).Flush() //nolint:forcetypeassert // it is one
		<-r.Context().Done()
	case g.empty.Load():
		fmt.Fprint(w, `{"apiVersion": "example.com/v1", "kind": "ClaimList", "metadata": {"resourceVersion": "9"}, "items": []}`)
	default:
		fmt.Fprint(w, `{"apiVersion": "example.com/v1", "kind": "ClaimList", "metadata": {"resourceVersion": "7"}, "items": [
			{"apiVersion": "example.com/v1", "kind": "Claim", "metadata": {"name": "a", "namespace": "default", "uid": "1", "resourceVersion": "7"}}]}`)
	}
}

// TestAResourceThatIsNotServed is no longer there, and its objects are not deleted: they are recorded again once it is
// served, or as deleted then.
func TestAResourceThatIsNotServed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		empty bool
		want  []string
	}{
		"its object is still there": {false, []string{"added claims/default/a", "unserved claims/default/a", "added claims/default/a"}},
		"its object has gone":       {true, []string{"added claims/default/a", "unserved claims/default/a", "deleted claims/default/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := record.NewHistory(nil)
			always := func() bool { return true }
			api, listening, first := observedClaims(t, h, always)
			first.stop()
			api.served.Store(false) // and the API server is started again, without the gate
			second, err := observe(t.Context(), &rest.Config{Host: listening.URL}, nil, h, first, always)
			if err != nil {
				t.Fatal(err)
			}
			defer second.stop()
			api.empty.Store(c.empty)
			api.served.Store(true)
			if err := h.Wait(t.Context(), func(events []record.Event) bool { return len(events) >= len(c.want) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, changesIn(h.Events())); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAResourceThatIsTakenAway while it is watched is not served either, and no loss.
func TestAResourceThatIsTakenAway(t *testing.T) {
	t.Parallel()
	h := record.NewHistory(nil)
	api, listening, o := observedClaims(t, h, func() bool { return true })
	defer o.stop()
	api.served.Store(false)
	listening.CloseClientConnections()
	if err := h.Wait(t.Context(), func(events []record.Event) bool { return len(events) >= 2 }); err != nil {
		t.Fatal(err)
	}
	want := []string{"added claims/default/a", "unserved claims/default/a"}
	if diff := cmp.Diff(want, changesIn(h.Events())); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// observedClaims starts an API server that serves claims, and an observer of them.
func observedClaims(t *testing.T, h *record.History, same func() bool) (api *gated, listening *httptest.Server, o *observer) {
	t.Helper()
	api = new(gated)
	api.served.Store(true)
	listening = httptest.NewServer(api)
	t.Cleanup(listening.Close)
	claims := []schema.GroupVersionResource{{Group: "example.com", Version: "v1", Resource: "claims"}}
	o, err := observe(t.Context(), &rest.Config{Host: listening.URL}, claims, h, nil, same)
	if err != nil {
		t.Fatal(err)
	}
	return api, listening, o
}

func changesIn(events []record.Event) (changes []string) {
	for _, e := range events {
		var data struct{ Change string }
		_ = json.Unmarshal(e.Data, &data)
		changes = append(changes, strings.TrimSpace(data.Change+" "+e.Subject))
	}
	return changes
}

// TestAWatchThatCannotGoOn is a loss if it still can't when the observer ends, and if the process of the API server is still the
// same.
func TestAWatchThatCannotGoOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		another, mended bool
		want            []string
	}{
		"it stays so":           {want: []string{"claims: watching claims: "}},
		"it is mended":          {mended: true},
		"the process has ended": {another: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := record.NewHistory(nil)
			api, listening, o := observedClaims(t, h, func() bool { return !c.another })
			api.refuses.Store(true)
			listening.CloseClientConnections()
			isBroken := func() bool {
				o.mu.Lock()
				defer o.mu.Unlock()
				return len(o.broken) > 0
			}
			if !await.Until(t.Context(), time.Minute, isBroken) {
				t.Error("the watch is not broken")
			}
			api.refuses.Store(!c.mended)
			if c.mended && !await.Until(t.Context(), time.Minute, func() bool { return !isBroken() }) {
				t.Error("the watch does not go on")
			}
			o.stop()
			var lost []string
			for e, l := range record.All[record.ObservationLost](h.Events()) {
				if !l.Resumed { // as what lists the objects anew records
					lost = append(lost, e.Subject+": "+l.Reason)
				}
			}
			if len(lost) != len(c.want) || len(lost) > 0 && !strings.HasPrefix(lost[0], c.want[0]) {
				t.Errorf("lost %q, want %q", lost, c.want)
			}
		})
	}
}

// TestMissed: what is missed is a loss while one process of the API server is observed.
func TestMissed(t *testing.T) {
	t.Parallel()
	for same, want := range map[bool]int{true: 1, false: 0} {
		h := record.NewHistory(nil)
		newObserver(nil, h, func() bool { return same }).missed("pods", time.Now(), http.ErrServerClosed)
		if got := len(h.Events()); got != want {
			t.Errorf("the same process: %t, %d losses", same, got)
		}
	}
}
