package server_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/stats"

	"github.com/skewrig/skewrig/harness/pki"
)

// impatience is how long a client waits for what must not come. It counts
// from when the client has got as far as it will, so a slow machine doesn't
// cut it short.
const impatience = 100 * time.Millisecond

// givesUp is when a client begins to lose patience. The zero value is never.
type givesUp int

const (
	afterSending givesUp = iota + 1
	afterHeaders
)

// probe is a client as the kubelet's HTTP probers are: one request per
// connection, no verification of certificates, no redirects to other hosts.
type probe struct {
	http2   bool
	givesUp givesUp
}

func (p probe) client() *http.Client {
	transport := &http.Transport{
		DisableKeepAlives:  true,
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2:  true,
	}
	if p.http2 {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

type answer struct {
	status int
	proto  string
	body   string
	header http.Header
}

func (p probe) get(t *testing.T, url string) (answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	leave := func() { time.AfterFunc(impatience, cancel) }
	var trace httptrace.ClientTrace
	if p.givesUp == afterSending {
		trace.WroteRequest = func(httptrace.WroteRequestInfo) { leave() }
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &trace), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "kube-probe/1.37")
	client := p.client()
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	if p.givesUp == afterHeaders {
		leave()
	}
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Proto, string(body), response.Header}, err
}

type health = healthpb.HealthCheckResponse_ServingStatus

// check asks a gRPC server for the health of a service.
func check(t *testing.T, addr, service string, secure *tls.Config) (health, error) {
	t.Helper()
	creds := insecure.NewCredentials()
	if secure != nil {
		creds = credentials.NewTLS(secure)
	}
	conn := grpcClient(t, addr, grpc.WithTransportCredentials(creds), grpc.WithUserAgent("kube-probe/1.37"))
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	return response.GetStatus(), err
}

// checkImpatiently asks a plaintext gRPC server for its health, and gives up
// some time after the given moment.
func checkImpatiently(t *testing.T, addr string, when givesUp) (health, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn := grpcClient(t, addr, plaintext, grpc.WithStatsHandler(&leaver{when: when, leave: func() { time.AfterFunc(impatience, cancel) }}))
	defer conn.Close()
	response, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	return response.GetStatus(), err
}

// leaver calls leave when a call has got as far as when.
type leaver struct {
	when  givesUp
	leave func()
}

func (l *leaver) HandleRPC(_ context.Context, event stats.RPCStats) {
	switch event.(type) {
	case *stats.OutPayload:
		if l.when == afterSending {
			l.leave()
		}
	case *stats.InHeader:
		if l.when == afterHeaders {
			l.leave()
		}
	}
}

func (*leaver) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*leaver) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*leaver) HandleConn(context.Context, stats.ConnStats)                       {}

var plaintext = grpc.WithTransportCredentials(insecure.NewCredentials())

func grpcClient(t *testing.T, addr string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func dial(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	tcp, _ := conn.(*net.TCPConn)
	if err := tcp.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return tcp
}

// handshakeImpatiently begins TLS, and gives up some time after it has sent
// the ClientHello.
func handshakeImpatiently(t *testing.T, conn net.Conn) error {
	t.Helper()
	err := tls.Client(impatient{conn}, anyCertificate).HandshakeContext(t.Context())
	_ = conn.Close()
	return err
}

// impatient is a connection that gives up some time after each write.
type impatient struct{ net.Conn }

func (i impatient) Write(p []byte) (int, error) {
	n, err := i.Conn.Write(p)
	if err != nil {
		return n, err
	}
	return n, i.SetDeadline(time.Now().Add(impatience))
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, conn net.Conn) string {
	t.Helper()
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", got, err)
	}
	return string(got)
}

func clientCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	pair, err := pki.SelfSigned(pki.Request{CommonName: "prober"})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
