package trial_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/law"
	"github.com/skewrig/skewrig/sweep/trial"
)

// TestRests: objects are at rest once none is written any more, but for what is written without end already.
func TestRests(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	since := began.Add(10 * time.Second)
	written := func(key string, times int, last time.Duration) (events []record.Event) {
		for n := range times {
			events = append(events, record.Event{Kind: "object.observed", Subject: key, At: began.Add(last - time.Duration(n)*time.Millisecond)})
		}
		return events
	}
	changed := func(change string, generation, observed int, last time.Duration) []record.Event {
		events := written("deployments/sweep/s0000", 1, last)
		object := fmt.Sprintf(`{"metadata":{"generation":%d},"status":{"observedGeneration":%d}}`, generation, observed)
		events[0].Data = []byte(`{"change":"` + change + `","resource":"deployments","namespace":"sweep","name":"s0000","object":` + object + `}`)
		return events
	}
	lags := func(generation, observed int, last time.Duration) []record.Event {
		return changed("modified", generation, observed, last)
	}
	for _, tc := range []struct {
		name   string
		events []record.Event
		rests  bool
	}{
		{"nothing", nil, true},
		{"before", written("deployments/sweep/s0000", 1, 9*time.Second), true},
		{"its controller has not seen it", lags(2, 1, 5*time.Second), false},
		{"its controller has seen it by now", append(lags(2, 1, 4*time.Second), lags(2, 2, 5*time.Second)...), true},
		{"its controller has not seen it, and it is deleted", changed(record.Deleted, 2, 1, 5*time.Second), true},
		{"its controller did not see it before", lags(2, 1, -time.Second), true},
		{"just now", written("deployments/sweep/s0000", 1, 11*time.Second), false},
		{"what it owns, just now", written("pods/sweep/s0000-5d-x", 1, 11*time.Second), false},
		{"of no namespace, just now", written("nodes/s0001", 1, 11*time.Second), false},
		{"the event of a retry, just now", written("events/sweep/s0000-5d.18eb", 4, 11*time.Second), true},
		{"many events, just now", written("events/sweep/s0000-5d.18eb", 5, 11*time.Second), false},
		{"in another namespace", written("leases/kube-system/apiserver", 1, 11*time.Second), true},
		{"without end", written("replicasets/sweep/s0000-5d", 61, 11*time.Second), true},
		{"without end, with events", append(written("replicasets/sweep/s0000-5d", 61, 9*time.Second), written("events/sweep/s0000.18eb", 1, 11*time.Second)...), true},
		{"events without end", written("events/sweep/s0000.18eb", 61, 11*time.Second), false},
		{"without end in the phase before", written("replicasets/sweep/s0000-5d", 61, 20*time.Millisecond), true},
		{"another one, just now", append(written("replicasets/sweep/s0000-5d", 61, 11*time.Second), written("nodes/s0001", 1, 11*time.Second)...), false},
		{"of no item, without end", written("pods/sweep/other", 61, 11*time.Second), false},
	} {
		plan := trial.Plan{Items: []trial.Item{{Name: "s0000"}, {Name: "s0001"}}}
		if got := plan.Rests("sweep", tc.events, began, since); got != tc.rests {
			t.Errorf("%s: at rest %t, want %t", tc.name, got, tc.rests)
		}
	}
}

// TestCommand: a checkout is named by its directory, which a result does not have.
func TestCommand(t *testing.T) {
	t.Parallel()
	for v, want := range map[release.Version]string{"v1.37.2": "skewrig sweep v1.37.2", "v1.37.2-1+8a43.5aab": "skewrig sweep --source DIR"} {
		if got := trial.Command(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAgain: a plan runs again without what is written without end, if that may have kept something from being seen.
func TestAgain(t *testing.T) {
	t.Parallel()
	items := []trial.Item{{Name: "s0000"}, {Name: "s0001"}}
	finding := func(what string, items ...trial.Item) trial.Finding {
		f := trial.Finding{What: what}
		for _, i := range items {
			f.Items = append(f.Items, trial.Found{Item: i})
		}
		return f
	}
	endless, lost := finding(law.Endless, items[0]), finding(law.Lost, items[1])
	for _, tc := range []struct {
		name     string
		restless bool
		found    []trial.Finding
		want     string // the items that run again
	}{
		{"nothing found", true, nil, ""},
		{"nothing without end", true, []trial.Finding{lost}, ""},
		{"at rest", false, []trial.Finding{endless}, ""},
		{"at rest, and something else", false, []trial.Finding{endless, lost}, "[s0001]"},
		{"not at rest", true, []trial.Finding{endless}, "[s0001]"},
		{"all without end", true, []trial.Finding{finding(law.Endless, items...)}, ""},
	} {
		plan, again := trial.Seen{Plan: trial.Plan{Items: items}, Restless: tc.restless}.Again(tc.found)
		var got string
		if again {
			var names []string
			for _, i := range plan.Items {
				names = append(names, i.Name)
			}
			got = fmt.Sprint(names)
		}
		if got != tc.want {
			t.Errorf("%s: again %q, want %q", tc.name, got, tc.want)
		}
	}
}
