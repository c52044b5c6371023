package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/record"
)

func TestARouteCountsItsRequests(t *testing.T) {
	t.Parallel()
	twice := behavior.Timeline{{Requests: 2, HTTP: &behavior.HTTP{Status: 503}}, {}}
	r := serve(t, behavior.Listener{Protocol: behavior.H2C, Routes: []behavior.Route{{Path: "/a", Phases: twice}, {Path: "/b", Phases: twice}}})
	for _, request := range []struct {
		path   string
		status int
	}{{"/a", 503}, {"/", 200}, {"/b", 503}, {"/a", 503}, {"/a", 200}, {"/b", 503}, {"/b", 200}} {
		got, err := probe{http2: true}.get(t, "http://"+r.addr()+request.path)
		if err != nil || got.status != request.status {
			t.Errorf("%s: status %d, want %d: %v", request.path, got.status, request.status, err)
		}
	}
}

func TestAnAnswerHasWhatThePhaseSays(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.H2C} {
		for name, tc := range map[string]struct {
			answer behavior.HTTP
			want   answer
		}{
			"status": {behavior.HTTP{Status: 503}, answer{status: 503}},
			"body":   {behavior.HTTP{Status: 500, Body: "no database"}, answer{status: 500, body: "no database"}},
			"filler": {behavior.HTTP{BodyBytes: 100_000}, answer{status: 200, body: strings.Repeat("x", 100_000)}},
			"redirect": {behavior.HTTP{Location: "http://0.0.0.0/", Headers: map[string]string{"X-A": "b"}},
				answer{status: 302, header: http.Header{"Location": {"http://0.0.0.0/"}, "X-A": {"b"}}}},
			"redirect to a port": {behavior.HTTP{Location: "https://:8443/a"},
				answer{status: 302, header: http.Header{"Location": {"https://127.0.0.1:8443/a"}}}},
			"redirect for good": {behavior.HTTP{Status: 308, Location: "/"}, answer{status: 308}},
		} {
			t.Run(string(protocol)+", "+name, func(t *testing.T) {
				t.Parallel()
				r := serve(t, behavior.Listener{Protocol: protocol, Phases: behavior.Timeline{{HTTP: &tc.answer}}})
				got, err := probe{http2: protocol == behavior.H2C}.get(t, "http://"+r.addr())
				if err != nil {
					t.Fatal(err)
				}
				if got.status != tc.want.status || got.body != tc.want.body {
					t.Errorf("status %d with %d bytes, want %d with %d", got.status, len(got.body), tc.want.status, len(tc.want.body))
				}
				for name := range tc.want.header {
					if got.header.Get(name) != tc.want.header.Get(name) {
						t.Errorf("%s: %q", name, got.header.Get(name))
					}
				}
				request := r.connection().Requests[0]
				if request.Location != tc.want.header.Get("Location") && tc.want.header != nil {
					t.Errorf("recorded that it leads to %q", request.Location)
				}
				if request.Status != tc.want.status || request.BodyBytes != int64(len(tc.want.body)) {
					t.Errorf("recorded %+v", request)
				}
			})
		}
	}
}

func TestProgramsAnswerInsteadOfPhases(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	r := start(t, server.Config{Listener: behavior.Listener{Protocol: behavior.HTTP1}, Handler: handler})
	got, err := probe{}.get(t, "http://"+r.addr())
	if err != nil || got.status != http.StatusTeapot {
		t.Errorf("status %d, error %v", got.status, err)
	}
}

func TestGRPCProgramsAnswerInsteadOfPhases(t *testing.T) {
	t.Parallel()
	r := start(t, server.Config{
		Listener: behavior.Listener{Protocol: behavior.GRPC},
		Health: func(service string) (behavior.ServingStatus, error) {
			if service == "" {
				return behavior.NotServing, nil
			}
			return "", status.Error(codes.PermissionDenied, "not yours")
		},
	})
	if got, err := check(t, r.addr(), "", nil); err != nil || got != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health %v, error %v", got, err)
	}
	if _, err := check(t, r.addr(), "db", nil); status.Code(err) != codes.PermissionDenied {
		t.Errorf("error %v", err)
	}
}

func TestPhasesFollowEachOther(t *testing.T) {
	t.Parallel()
	listener := behavior.Listener{
		Protocol: behavior.HTTP1,
		Phases: behavior.Timeline{
			{For: behavior.Duration(time.Hour), HTTP: &behavior.HTTP{Status: 200}},
			{HTTP: &behavior.HTTP{Status: 500}},
		},
		Routes: []behavior.Route{{Path: "/startup", Phases: behavior.Timeline{
			{For: behavior.Duration(time.Minute), HTTP: &behavior.HTTP{Status: 503}},
			{HTTP: &behavior.HTTP{Status: 204}},
		}}},
	}
	for name, tc := range map[string]struct {
		age             time.Duration
		status, startup int
	}{
		"young": {0, 200, 503}, "grown": {2 * time.Minute, 200, 204}, "old": {2 * time.Hour, 500, 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, server.Config{Listener: listener, Started: time.Now().Add(-tc.age)})
			for path, want := range map[string]int{"/": tc.status, "/startup": tc.startup} {
				got, err := probe{}.get(t, "http://"+r.addr()+path)
				if err != nil || got.status != want {
					t.Errorf("%s: status %d, error %v, want %d", path, got.status, err, want)
				}
			}
		})
	}
}

func TestAnAnswerCanBeSlow(t *testing.T) {
	t.Parallel()
	for _, protocol := range []behavior.Protocol{behavior.HTTP1, behavior.GRPC} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			phases := behavior.Timeline{{Delay: behavior.Duration(time.Hour)}}
			r := serve(t, behavior.Listener{Protocol: protocol, Phases: phases})
			var err error
			if protocol == behavior.GRPC {
				_, err = checkImpatiently(t, r.addr(), afterSending)
			} else {
				_, err = probe{givesUp: afterSending}.get(t, "http://"+r.addr())
			}
			if err == nil {
				t.Fatal("the answer came at once")
			}
			c := endedByClient(r.connection())
			if request := c.Requests[0]; request.Status != 0 || request.GRPCStatus != "" {
				t.Errorf("recorded an answer: %+v", request)
			}
			if c.CloseReason != record.ClientClosed {
				t.Errorf("close reason %s", c.CloseReason)
			}
		})
	}
}

func TestABriefDelayIsOnlyADelay(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	r := serve(t, behavior.Listener{Protocol: behavior.H2C, Phases: behavior.Timeline{{Delay: behavior.Duration(delay)}}})
	if got, err := (probe{http2: true}).get(t, "http://"+r.addr()); err != nil || got.status != 200 {
		t.Errorf("status %d, error %v", got.status, err)
	}
	if request := r.connection().Requests[0]; time.Duration(request.Duration) < delay {
		t.Errorf("answered after %v, want at least %v", request.Duration, delay)
	}
}
