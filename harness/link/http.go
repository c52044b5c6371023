package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/skewrig/skewrig/harness/peer"
	"github.com/skewrig/skewrig/record"
)

// HTTP has a link look into what it passes: it ends the client's TLS, and asks
// the API server on behalf of the client. Then a fault can be one of requests,
// and the requests are recorded.
type HTTP struct {
	// Identity is the certificate that the client gets to see.
	Identity tls.Certificate
	// ClientCA signs the certificates of clients, which say who they are.
	ClientCA *x509.CertPool
	// Server is the configuration of a client with all permissions: it sends each
	// request on behalf of the user who made it (user impersonation), to the target whose
	// turn it is.
	Server *rest.Config
}

// door is the inner end of a link that looks into what it passes.
type door struct {
	link    *Link
	address string
	server  http.Server
	proxy   httputil.ReverseProxy
}

// open starts the inner end, and has the link lead there.
func (l *Link) open(host string) (*door, error) {
	config := rest.CopyConfig(l.cfg.HTTP.Server)
	config.DisableCompression = true // what is passed is read, too
	through, err := newIdentities(config)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // a library must not log on its own
	d := &door{link: l, address: listener.Addr().String()}
	d.proxy = httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "https", Host: l.next()[0]}); onBehalf(r) },
		Transport:      through,
		FlushInterval:  -1, // a watch shows each event as it comes
		ErrorLog:       silent,
		ModifyResponse: d.answered,
		ErrorHandler:   d.failed,
	}
	d.server = http.Server{
		Handler: d, ErrorLog: silent, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{l.cfg.HTTP.Identity}, MinVersion: tls.VersionTLS12,
			ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: l.cfg.HTTP.ClientCA,
		},
	}
	l.work.Go(func() { _ = d.server.ServeTLS(peer.Own(listener), "", "") }) // until it is closed
	return d, nil
}

// onBehalf says to the API server whose request it is, by the certificate that
// the client has shown. The client can't add to that: its own headers for impersonation would count as
// the administrator's.
func onBehalf(r *httputil.ProxyRequest) {
	r.Out.Header.Del("Accept-Encoding")
	if len(r.In.TLS.PeerCertificates) == 0 {
		return // it has a token, or is anonymous
	}
	for name := range r.Out.Header {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), impersonate) {
			delete(r.Out.Header, name)
		}
	}
	who := r.In.TLS.PeerCertificates[0].Subject
	r.Out.Header.Set(transport.ImpersonateUserHeader, who.CommonName)
	r.Out.Header[transport.ImpersonateGroupHeader] = who.Organization
}

// impersonate begins the names of all headers for user impersonation.
const impersonate = "Impersonate-"

// identities asks the API server as an administrator on behalf of clients that have shown a
// certificate. Requests of all others it passes without one, with the tokens that they have.
type identities struct{ administrator, anonymous http.RoundTripper }

func newIdentities(config *rest.Config) (i identities, err error) {
	if i.administrator, err = rest.TransportFor(config); err != nil {
		return i, err
	}
	i.anonymous, err = rest.TransportFor(rest.AnonymousClientConfig(config))
	return i, err
}

// RoundTrip implements http.RoundTripper.
func (i identities) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(r.TLS.PeerCertificates) == 0 {
		return i.anonymous.RoundTrip(r)
	}
	return i.administrator.RoundTrip(r)
}

type (
	beganKey struct{}
	lostKey  struct{}
)

// ServeHTTP answers a request by itself if the link's fault says so.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	r = r.WithContext(context.WithValue(r.Context(), beganKey{}, began))
	p := d.link.phase.Load()
	if p.meets(r) {
		p.requests.Add(1)
		d.hold(r.Context(), p)
		if p.fault.Status != 0 {
			refuse(w, p.fault)
			d.record(r, record.LinkRequest{Code: p.fault.Status, Answered: true})
			return
		}
		if p.fault.Crash == record.CrashBefore {
			d.crash(r)
		}
		if p.fault.Lost || p.fault.Crash == record.CrashAfter {
			r = r.WithContext(context.WithValue(r.Context(), lostKey{}, p.fault))
		}
	}
	d.proxy.ServeHTTP(w, r)
}

// crash has the client killed, and its request go nowhere.
func (d *door) crash(r *http.Request) {
	d.record(r, record.LinkRequest{Error: "the client is killed before the server is asked"})
	d.link.cfg.Crash()
	panic(http.ErrAbortHandler) //nolint:forbidigo // that is how a handler ends a connection without an answer
}

// meets reports whether a request is one that the fault is about.
func (p *phase) meets(r *http.Request) bool {
	verb, resource := about(r)
	if !p.fault.Meets(r.URL.Path, verb, resource) {
		return false
	}
	n := p.matching.Add(1)
	return p.fault.Nth == 0 || n == int64(p.fault.Nth)
}

// hold keeps a request for as long as the fault says, and lasts.
func (d *door) hold(ctx context.Context, p *phase) {
	if p.fault.Delay == 0 {
		return
	}
	select {
	case <-time.After(p.fault.Delay):
	case <-p.over:
	case <-ctx.Done():
	case <-d.link.closed.Done():
	}
}

// refuse answers as an API server does that has no time (429), or is not well.
func refuse(w http.ResponseWriter, f record.LinkFault) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(f.Status), Message: "the link answers: " + http.StatusText(f.Status), //nolint:gosec // it has three digits
		Reason: metav1.StatusReasonInternalError, Details: new(metav1.StatusDetails),
	}
	switch f.Status {
	case http.StatusTooManyRequests:
		status.Reason = metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		status.Reason = metav1.StatusReasonServiceUnavailable
	}
	if seconds := int(f.RetryAfter / time.Second); seconds > 0 {
		status.Details.RetryAfterSeconds = int32(seconds) //nolint:gosec // it was checked to be few
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(status) // who doesn't listen has gone
}

// answered records the server's answer, and what a list of leases says.
func (d *door) answered(resp *http.Response) error {
	seen := record.LinkRequest{Code: resp.StatusCode}
	if f, lost := resp.Request.Context().Value(lostKey{}).(record.LinkFault); lost {
		seen.Lost = true
		d.record(resp.Request, seen)
		if f.Crash != "" {
			d.link.cfg.Crash()
		}
		return errors.Join(errLost, resp.Body.Close())
	}
	if resp.Request.URL.Path == LeasesPath && resp.StatusCode == http.StatusOK && resp.Request.URL.Query().Get("watch") == "" {
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if seen.Renewed, err = renewed(body); err != nil {
			return err
		}
	}
	d.record(resp.Request, seen)
	if verb, resource := about(resp.Request); verb == "watch" && resp.StatusCode == http.StatusOK {
		d.watched(resp, resource)
	}
	return nil
}

// LeasesPath lists the leases of nodes.
const LeasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

func renewed(body []byte) (map[string]time.Time, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil) // JSON or protobuf
	if err != nil {
		return nil, fmt.Errorf("reading a list of leases: %w", err)
	}
	list, ok := object.(*coordinationv1.LeaseList)
	if !ok {
		return nil, fmt.Errorf("reading a list of leases: it is a %T", object)
	}
	times := make(map[string]time.Time, len(list.Items))
	for _, l := range list.Items {
		if l.Spec.RenewTime != nil {
			times[l.Name] = l.Spec.RenewTime.UTC()
		}
	}
	return times, nil
}

// errLost is why a client does not get what the server has answered.
var errLost = errors.New("the answer gets lost")

// failed tells the client what a broken connection would: nothing.
func (d *door) failed(_ http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, errLost) {
		d.record(r, record.LinkRequest{Error: err.Error()})
	}
	panic(http.ErrAbortHandler) //nolint:forbidigo // that is how a handler ends a connection without an answer
}

func (d *door) record(r *http.Request, seen record.LinkRequest) {
	seen.Method, seen.Path = r.Method, r.URL.Path
	if began, ok := r.Context().Value(beganKey{}).(time.Time); ok {
		seen.Seconds = time.Since(began).Seconds()
	}
	d.link.cfg.Recorder.Append("link", d.link.cfg.Name, seen)
}
