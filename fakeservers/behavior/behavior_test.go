package behavior_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
)

func TestAtFindsThePhaseInForce(t *testing.T) {
	t.Parallel()
	timeline := behavior.Timeline{
		{For: behavior.Duration(10 * time.Second), HTTP: &behavior.HTTP{Status: 200}},
		{For: behavior.Duration(5 * time.Second), HTTP: &behavior.HTTP{Status: 500}},
		{HTTP: &behavior.HTTP{Status: 204}},
	}
	for _, tc := range []struct {
		elapsed time.Duration
		status  int
	}{
		{-time.Second, 200},
		{0, 200},
		{10*time.Second - 1, 200},
		{10 * time.Second, 500},
		{15*time.Second - 1, 500},
		{15 * time.Second, 204},
		{1000 * time.Hour, 204},
	} {
		if got := timeline.At(tc.elapsed).HTTP.Status; got != tc.status {
			t.Errorf("after %v: status %d, want %d", tc.elapsed, got, tc.status)
		}
	}
	if diff := cmp.Diff(behavior.Phase{}, behavior.Timeline(nil).At(time.Hour)); diff != "" {
		t.Errorf("an empty timeline isn't healthy: %s", diff)
	}
}

func TestPhasesEndWithTimeAndRequests(t *testing.T) {
	t.Parallel()
	timeline := behavior.Timeline{
		{For: behavior.Duration(2 * time.Second), HTTP: &behavior.HTTP{Status: 200}},
		{Requests: 2, HTTP: &behavior.HTTP{Status: 500}},
		{For: behavior.Duration(3 * time.Second), HTTP: &behavior.HTTP{Status: 201}},
		{HTTP: &behavior.HTTP{Status: 204}},
	}
	var position behavior.Position
	for _, request := range []struct {
		second float64
		status int
	}{
		{0, 200}, {1, 200}, {1.9, 200}, // as many as come
		{5, 500}, {20, 500}, // as long as it takes
		{30, 201}, {32.9, 201}, // from the request on that came first
		{33, 204}, {34, 204},
	} {
		var phase behavior.Phase
		phase, position = timeline.Answer(position, time.Duration(request.second*float64(time.Second)))
		if phase.HTTP.Status != request.status {
			t.Errorf("after %.1fs: status %d, want %d", request.second, phase.HTTP.Status, request.status)
		}
	}
}

func TestAtHoldsTheLastPhaseEvenIfItHasAnEnd(t *testing.T) {
	t.Parallel()
	timeline := behavior.Timeline{{For: behavior.Duration(time.Second), Fault: behavior.Reset}}
	if got := timeline.At(time.Minute).Fault; got != behavior.Reset {
		t.Errorf("fault %q after the end, want %q", got, behavior.Reset)
	}
}

func TestARouteIsTheLongestMatch(t *testing.T) {
	t.Parallel()
	l := behavior.Listener{Routes: []behavior.Route{{Path: "/api/"}, {Path: "/api/v1/"}, {Path: "/healthz"}}}
	for path, want := range map[string]int{
		"/":            -1,
		"/api":         -1,
		"/api/":        0,
		"/api/v2":      0,
		"/api/v1/pods": 1,
		"/healthz":     2,
		"/healthz/x":   -1,
	} {
		if got := l.RouteOf(path); got != want {
			t.Errorf("%s: route %d, want %d", path, got, want)
		}
	}
}

func TestListenerAsJSON(t *testing.T) {
	t.Parallel()
	const text = `{"port":8443,"protocol":"grpc-tls","tls":{"certificate":"expired","maxVersion":"1.2"},` +
		`"phases":[{"for":"10s","delay":"250ms"},{"grpc":{"services":{"":"NOT_SERVING"}}}]}`
	var got behavior.Listener
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := behavior.Listener{
		Port:     8443,
		Protocol: behavior.GRPCTLS,
		TLS:      &behavior.TLS{Certificate: behavior.Expired, MaxVersion: "1.2"},
		Phases: behavior.Timeline{
			{For: behavior.Duration(10 * time.Second), Delay: behavior.Duration(250 * time.Millisecond)},
			{GRPC: &behavior.Health{Services: map[string]behavior.ServingStatus{"": behavior.NotServing}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read differently (-want +got):\n%s", diff)
	}
	back, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(back) != text {
		t.Errorf("written as\n%s\nwant\n%s", back, text)
	}
}

func TestDurationRefusesWhatHasNoUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`10`:     `a duration is a string such as "10s", not 10`,
		`"10"`:   `a duration is a number and a unit, such as "10s" or "1m30s", not "10"`,
		`"soon"`: `a duration is a number and a unit, such as "10s" or "1m30s", not "soon"`,
	} {
		var d behavior.Duration
		err := json.Unmarshal([]byte(text), &d)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
