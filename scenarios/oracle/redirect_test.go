package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// TestRedirects: a connection that a redirect led to is its probe's, and if nothing good
// came of it, nothing good came of the redirect.
func TestRedirects(t *testing.T) {
	t.Parallel()
	s := twoProbes()
	begun := s.now()
	connect := func(at time.Duration, port int32, requests ...record.Request) {
		opened := begun.Add(at)
		for i := range requests {
			requests[i].Started, requests[i].UserAgent = opened, "kube-probe/1.37"
		}
		s.add(cont, record.Connection{Port: port, First: record.FirstTLS, Opened: opened, Closed: opened.Add(time.Millisecond), Requests: requests})
	}
	const port = 8443
	connect(0, port) // before any redirect
	connect(0, 8080, record.Request{Path: "/a", Status: 302})
	connect(10*time.Millisecond, 8081, record.Request{Path: "/b", Status: 302})
	connect(20*time.Millisecond, port, record.Request{Path: "/x", Status: 200, Headers: map[string][]string{"Referer": {"http://127.0.0.1:8081/b"}}})
	connect(30*time.Millisecond, port)
	connect(40*time.Millisecond, port) // nothing is left that led to it
	connect(time.Second, 8080, record.Request{Path: "/a", Status: 302})
	connect(9*time.Second, port) // too late
	want := []string{
		":8443 follows 0, good false", ":8080 a follows 0, good false", ":8081 b follows 0, good true", ":8443 b follows 3, good true",
		":8443 a follows 2, good false", ":8443 follows 0, good false", ":8080 a follows 0, good true", ":8443 follows 0, good false",
	}
	if diff := cmp.Diff(want, followed(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRedirectsLeadToTheirLocations: a connection is not that of a probe that was redirected
// elsewhere, and where it may be that of several, it is said of none that it failed.
func TestRedirectsLeadToTheirLocations(t *testing.T) {
	t.Parallel()
	const toHTTPS, elsewhere = "https://127.0.0.9:8443/x", "http://other.example/"
	for name, tc := range map[string]struct{ a, b, want string }{
		"to one":                {toHTTPS, elsewhere, ":8080 a follows 0, good false; :8081 b follows 0, good true; :8443 a follows 1, good false"},
		"to the same":           {toHTTPS, toHTTPS, ":8080 a follows 0, good true; :8081 b follows 0, good true; :8443 a b follows 0, good false"},
		"to the same, unknown":  {"", "", ":8080 a follows 0, good true; :8081 b follows 0, good true; :8443 a b follows 0, good false"},
		"to another scheme":     {"http://127.0.0.9:8443/x", elsewhere, ":8080 a follows 0, good true; :8081 b follows 0, good true; :8443 follows 0, good false"},
		"to another host":       {"https://127.0.0.8:8443/x", toHTTPS, ":8080 a follows 0, good true; :8081 b follows 0, good false; :8443 b follows 2, good false"},
		"to a path of the same": {"/x", toHTTPS, ":8080 a follows 0, good true; :8081 b follows 0, good false; :8443 b follows 2, good false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoProbes()
			begun := s.now()
			for i, r := range []record.Request{{Path: "/a", Status: 302, Location: tc.a}, {Path: "/b", Status: 302, Location: tc.b}} {
				port, opened := 8080+int32(i), begun.Add(time.Duration(i)*10*time.Millisecond)
				r.Started, r.UserAgent = opened, "kube-probe/1.37"
				s.add(cont, record.Connection{
					Local: fmt.Sprintf("127.0.0.9:%d", port), Port: port, First: record.FirstHTTP1, Opened: opened, Closed: opened, Requests: []record.Request{r},
				})
			}
			opened := begun.Add(20 * time.Millisecond)
			s.add(cont, record.Connection{Local: "127.0.0.9:8443", Port: 8443, First: record.FirstTLS, Opened: opened, Closed: opened})
			if got := strings.Join(followed(s), "; "); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// twoProbes is a story of a pod with a probe of :8080/a and one of :8081/b.
func twoProbes() *story {
	s := new(story)
	s.start("kubelet/node-a", newest, true)
	s.show(pod, false, `"spec": {"nodeName": "node-a", "containers": [
		{"name": "a", "readinessProbe": {"httpGet": {"port": 8080, "path": "/a"}}}, {"name": "b", "readinessProbe": {"httpGet": {"port": 8081, "path": "/b"}}}]}`)
	return s
}

// followed is what attempts follow, and whether they are good.
func followed(s *story) (all []string) {
	for _, a := range Attempts(s.events) {
		whose := ""
		for _, p := range a.Probes {
			whose += " " + p.Container[len(p.Container)-1:]
		}
		all = append(all, fmt.Sprintf(":%d%s follows %d, good %t", a.Port, whose, a.Follows, a.Succeeded))
	}
	return all
}
