package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/pki"
	"github.com/skewrig/skewrig/record"
)

// httpRig is a link that looks into what it passes, between a client with a
// certificate and a server that plays an API server.
type httpRig struct {
	*Link
	t       testing.TB
	client  *http.Client
	history *record.History
}

func newHTTPRig(t testing.TB, server http.HandlerFunc) *httpRig {
	t.Helper()
	ca, err := pki.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewUnstartedServer(server)
	upstream.TLS = &tls.Config{Certificates: []tls.Certificate{issue(t, ca, "kube-apiserver")}, MinVersion: tls.VersionTLS12}
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	history := record.NewHistory(nil)
	l, err := New(Config{Name: "client->kube-apiserver", Listen: "127.0.0.1:0", Targets: []string{upstream.Listener.Addr().String()}, Recorder: history, HTTP: &HTTP{
		Identity: issue(t, ca, "kube-apiserver"), ClientCA: ca.Pool(),
		Server: &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: ca.CertPEM()}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		upstream.Close()
	})
	return &httpRig{Link: l, t: t, history: history, client: &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{issue(t, ca, "watchdog", "garden")}, MinVersion: tls.VersionTLS12},
	}}}
}

func issue(t testing.TB, ca *pki.CA, name string, groups ...string) tls.Certificate {
	t.Helper()
	pair, err := ca.Issue(pki.Request{CommonName: name, Organizations: groups, Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	cert, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (r *httpRig) get(path string) (*http.Response, error) {
	return r.client.Get("https://" + r.Address() + path)
}

// says gets a path and returns status and body.
func (r *httpRig) says(path string) string {
	r.t.Helper()
	resp, err := r.get(path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func (r *httpRig) set(f record.LinkFault) {
	r.t.Helper()
	if err := r.Set(f); err != nil {
		r.t.Fatal(err)
	}
}

// requests are those in the record, without how long they took.
func (r *httpRig) requests() (all []record.LinkRequest) {
	for _, seen := range record.All[record.LinkRequest](r.history.Events()) {
		if seen.Seconds <= 0 {
			r.t.Errorf("%+v took no time", seen)
		}
		seen.Seconds = 0
		all = append(all, seen)
	}
	return all
}

func TestTheServerLearnsTheClient(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Impersonate-User"), " of ", r.Header.Values("Impersonate-Group"))
	})
	if got := r.says("/version"); got != "200 watchdog of [garden]" {
		t.Errorf("the server says %q", got)
	}
	if got := fmt.Sprint(r.requests()); got != fmt.Sprint([]record.LinkRequest{{Method: "GET", Path: "/version", Code: 200}}) {
		t.Errorf("the record has %s", got)
	}
}

// TestWhoHasATokenIsAskedForAsItself: the link forwards the token of a client without a
// certificate, adds no certificate, and leaves its header Impersonate-User to the server.
func TestWhoHasATokenIsAskedForAsItself(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Authorization"), " ", len(r.TLS.PeerCertificates), " ", r.Header.Get("Impersonate-User"))
	})
	own := r.client.Transport.(*http.Transport).TLSClientConfig //nolint:forcetypeassert // it was made so
	r.client.Transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: own.RootCAs, MinVersion: tls.VersionTLS12}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.Address()+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer mine")
	req.Header.Set("Impersonate-User", "admin")
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "Bearer mine 0 admin" {
		t.Errorf("the server says %q, %v", body, err)
	}
}

func TestAnAnswerIsLost(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	r := newHTTPRig(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			asked.Add(1)
		}
		fmt.Fprint(w, "fine")
	})
	r.set(record.LinkFault{Path: record.AnyPath, Verb: "list", Resource: "pods", Nth: 2, Lost: true})
	for i, want := range []bool{true, false, true} {
		if got := r.says("/api/v1/nodes"); got != "200 fine" {
			t.Errorf("another request: %s", got)
		}
		resp, err := r.get("/api/v1/pods")
		if err == nil {
			resp.Body.Close()
		}
		if answered := err == nil; answered != want {
			t.Errorf("request %d is answered: %t", i+1, answered)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("the server was asked %d times", n)
	}
	if e := r.phase.Load().effect(); e != (record.Effect{Requests: 1}) {
		t.Errorf("the effect is %+v", e)
	}
	var lost int
	for _, seen := range r.requests() {
		if seen.Lost {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("the record has %+v", r.requests())
	}
}

// TestTheClientIsKilledAtARequest: before the server gets it, or after the server has done it. In
// neither case is it answered.
func TestTheClientIsKilledAtARequest(t *testing.T) {
	t.Parallel()
	for when, reached := range map[record.Moment]int64{record.CrashBefore: 2, record.CrashAfter: 3} {
		var asked, killed atomic.Int64
		r := newHTTPRig(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
		r.cfg.Crash = func() { killed.Add(1) }
		r.set(record.LinkFault{Path: record.AnyPath, Verb: "list", Resource: "pods", Nth: 2, Crash: when})
		for i, want := range []bool{true, false, true} {
			resp, err := r.get("/api/v1/pods")
			if err == nil {
				resp.Body.Close()
			}
			if answered := err == nil; answered != want {
				t.Errorf("%s: request %d is answered: %t", when, i+1, answered)
			}
		}
		if asked.Load() != reached || killed.Load() != 1 {
			t.Errorf("%s: the server was asked %d times, not %d, and the client was killed %d times", when, asked.Load(), reached, killed.Load())
		}
		if e := r.phase.Load().effect(); e != (record.Effect{Requests: 1}) {
			t.Errorf("%s: the effect is %+v", when, e)
		}
	}
}

func TestAClientThatCanNotBeKilled(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(http.ResponseWriter, *http.Request) {})
	err := r.Set(record.LinkFault{Path: record.AnyPath, Nth: 1, Crash: record.CrashBefore})
	if err == nil || !strings.Contains(err.Error(), "can't be killed") {
		t.Errorf("it is set: %v", err)
	}
}

func TestRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") })
	r.set(record.LinkFault{Path: "/version", Status: http.StatusTooManyRequests, RetryAfter: 3 * time.Second})
	resp, err := r.get("/version")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "3" {
		t.Errorf("%s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
	}
	if got := r.says("/version"); !strings.Contains(got, `"reason":"TooManyRequests"`) || !strings.Contains(got, `"retryAfterSeconds":3`) {
		t.Errorf("the answer is %s", got)
	}
	if got := r.says("/api/v1/nodes"); got != "200 fine" {
		t.Errorf("another request: %s", got)
	}
	r.set(record.LinkFault{Path: record.AnyPath, Status: http.StatusServiceUnavailable})
	if got := r.says("/api/v1/nodes"); !strings.HasPrefix(got, "503") {
		t.Errorf("any request: %s", got)
	}
	if e := r.phase.Load().effect(); e != (record.Effect{Requests: 1}) {
		t.Errorf("the effect is %+v", e)
	}
	r.set(record.LinkFault{})
	if got := r.says("/version"); got != "200 fine" {
		t.Errorf("after the fault: %s", got)
	}
	if first := r.requests()[0]; !first.Answered || first.Code != http.StatusTooManyRequests {
		t.Errorf("the record has %+v", first)
	}
}

func TestRequestsAreHeld(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") })
	r.set(record.LinkFault{Path: "/slow", Delay: time.Hour})
	if got := r.says("/fast"); got != "200 fine" {
		t.Errorf("another request: %s", got)
	}
	answer := make(chan string)
	go func() { answer <- r.says("/slow") }()
	if !await.Until(t.Context(), patience, func() bool { return r.phase.Load().effect().Requests > 0 }) {
		t.Fatal("the request had no effect")
	}
	select {
	case got := <-answer:
		t.Errorf("it was not held: %s", got)
	default:
	}
	r.set(record.LinkFault{})
	if got := <-answer; got != "200 fine" {
		t.Errorf("it was answered %s", got)
	}
}

func TestAWatchIsPassedAsItComes(t *testing.T) {
	t.Parallel()
	more := make(chan string)
	r := newHTTPRig(t, func(w http.ResponseWriter, _ *http.Request) {
		for text := range more {
			fmt.Fprint(w, text)
			w.(http.Flusher).Flush() //nolint:forcetypeassert // all are
		}
	})
	go func() { more <- "one" }()
	resp, err := r.get(LeasesPath + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	hear(t, resp.Body, "one")
	more <- "two"
	hear(t, resp.Body, "two")
	close(more)
}

func TestALostServerAnswersNothing(t *testing.T) {
	t.Parallel()
	r := newHTTPRig(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if resp, err := r.get("/version"); err == nil {
		resp.Body.Close()
		t.Errorf("the client was answered %s", resp.Status)
	}
	if got := r.requests(); len(got) != 1 || got[0].Error == "" || got[0].Code != 0 {
		t.Errorf("the record has %+v", got)
	}
}

func TestLeasesAreRead(t *testing.T) {
	t.Parallel()
	at := metav1.NewMicroTime(time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC))
	list := &coordinationv1.LeaseList{Items: []coordinationv1.Lease{
		{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: coordinationv1.LeaseSpec{RenewTime: &at}},
		{ObjectMeta: metav1.ObjectMeta{Name: "new"}},
	}}
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		r := newHTTPRig(t, func(w http.ResponseWriter, _ *http.Request) {
			info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), media)
			w.Header().Set("Content-Type", media)
			_ = scheme.Codecs.EncoderForVersion(info.Serializer, coordinationv1.SchemeGroupVersion).Encode(list, w)
		})
		if got := r.says(LeasesPath); !strings.Contains(got, "node-a") {
			t.Errorf("%s: the client gets %q", media, got)
		}
		if got := r.requests()[0].Renewed; len(got) != 1 || !got["node-a"].Equal(at.Time) {
			t.Errorf("%s: the record has %v", media, got)
		}
	}
}

func TestALinkOfBytesKnowsNoRequests(t *testing.T) {
	t.Parallel()
	if err := newRig(t).Set(record.LinkFault{Path: record.AnyPath, Status: 429}); err == nil || !strings.Contains(err.Error(), "does not see requests") {
		t.Errorf("it is set: %v", err)
	}
}

func TestALinkThatCanNotLookInside(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Name: "a->b", Listen: "127.0.0.1:0", HTTP: &HTTP{ClientCA: x509.NewCertPool(), Server: &rest.Config{
		Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("none")},
	}}})
	if err == nil || !strings.Contains(err.Error(), "a->b") {
		t.Errorf("it is made: %v", err)
	}
}

// BenchmarkRequests is how long a request takes that is answered at once, and how many are when
// clients ask side by side, with and without a link that looks at each for a fault of another one.
func BenchmarkRequests(b *testing.B) {
	for _, through := range []string{"nothing", "link"} {
		r := newHTTPRig(b, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine") })
		r.cfg.Recorder = record.NewHistory(io.Discard)
		r.set(record.LinkFault{Path: record.AnyPath, Verb: "create", Resource: "pods", Nth: 1, Lost: true})
		address := r.Address()
		if through == "nothing" {
			address = r.next()[0]
		}
		transport := r.client.Transport.(*http.Transport) //nolint:forcetypeassert // it was made so
		transport.DisableKeepAlives, transport.ForceAttemptHTTP2 = false, true
		ask := func(b *testing.B) {
			b.Helper()
			resp, err := r.client.Get("https://" + address + "/api/v1/namespaces/default/pods/web")
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		b.Run("one/"+through, func(b *testing.B) {
			for b.Loop() {
				ask(b)
			}
		})
		b.Run("many/"+through, func(b *testing.B) {
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask(b)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// TestHTTPImpersonation: a client with a certificate can't add to who it is. Its headers for impersonation would be
// believed, since the link asks as an administrator.
func TestHTTPImpersonation(t *testing.T) {
	t.Parallel()
	asked := make(chan http.Header, 1)
	r := newHTTPRig(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.Address()+"/api", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-Scopes", "impersonate-new"} {
		request.Header[name] = []string{"system:masters"}
	}
	resp, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	for name, values := range <-asked {
		if strings.HasPrefix(name, "Impersonate-") && slices.Contains(values, "system:masters") {
			t.Errorf("the server gets %s: %s", name, values)
		}
	}
}

// TestNoTargets: a link without targets is an error, and no way to lose those that it has.
func TestNoTargets(t *testing.T) {
	t.Parallel()
	if l, err := New(Config{Name: "a", Listen: "127.0.0.1:0"}); err == nil {
		t.Error(errors.Join(errors.New("a link leads nowhere"), l.Close()))
	}
	l, err := New(Config{Name: "a", Listen: "127.0.0.1:0", Targets: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	l.Route()
	if got := l.next(); !slices.Equal(got, []string{"127.0.0.1:1"}) {
		t.Errorf("it leads to %q", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
