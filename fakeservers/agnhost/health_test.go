package agnhost_test

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/harness/pki"
)

// check asks for the health of a service.
func check(t *testing.T, address, service string, secure bool) (healthpb.HealthCheckResponse_ServingStatus, codes.Code) {
	t.Helper()
	creds := insecure.NewCredentials()
	if secure {
		creds = credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})
	}
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	return response.GetStatus(), status.Code(err)
}

func TestGRPCHealthChecking(t *testing.T) {
	t.Parallel()
	c := run(t, spec{command: []string{"/agnhost", "grpc-health-checking", "--service=web"}})
	c.listening(2)
	expect := func(service string, want healthpb.HealthCheckResponse_ServingStatus, wantCode codes.Code) {
		t.Helper()
		if got, code := check(t, c.address(5000), service, false); got != want || code != wantCode {
			t.Errorf("service %q: %v, %v, want %v, %v", service, got, code, want, wantCode)
		}
	}
	expect("web", healthpb.HealthCheckResponse_SERVING, codes.OK)
	expect("", 0, codes.NotFound)
	for path, want := range map[string]healthpb.HealthCheckResponse_ServingStatus{
		"/make-not-serving": healthpb.HealthCheckResponse_NOT_SERVING,
		"/make-serving":     healthpb.HealthCheckResponse_SERVING,
	} {
		if status, body := get(t, "http://"+c.address(8080)+path); status != 200 || !isDuration(body) {
			t.Errorf("%s: %d %q", path, status, body)
		}
		expect("web", want, codes.OK)
	}
	c.expectLogs("Http server starting to listen on :8080", "gRPC server starting to listen on :5000", "Serving the Check request", "Mark as unhealthy")
}

func TestGRPCHealthCheckingGrowsUnhealthy(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]healthpb.HealthCheckResponse_ServingStatus{
		0:                healthpb.HealthCheckResponse_SERVING,
		61 * time.Second: healthpb.HealthCheckResponse_NOT_SERVING,
	} {
		c := run(t, spec{args: []string{"grpc-health-checking", "--delay-unhealthy-sec=60"}, age: age})
		c.listening(2)
		if got, code := check(t, c.address(5000), "", false); got != want {
			t.Errorf("after %v: %v, %v, want %v", age, got, code, want)
		}
	}
}

func TestGRPCHealthCheckingOverTLS(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	pair, err := pki.SelfSigned(pki.Request{CommonName: "mounted", Hosts: []string{"localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := pair.Write(volume, "tls"); err != nil {
		t.Fatal(err)
	}
	mounts := []image.Mount{{ContainerPath: "/certs", HostPath: volume}}
	for name, tc := range map[string]struct{ cert, key, subject string }{
		"of the image": {"/localhost.crt", "/localhost.key", "skewrig fake server"},
		"of a volume":  {"/certs/tls.crt", "/certs/tls.key", "mounted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"grpc-health-checking", "--port=8443", "--http-port=0", "--tls-cert-file", tc.cert, "--tls-private-key-file", tc.key}
			c := run(t, spec{args: args, mounts: mounts})
			c.listening(2)
			if got, code := check(t, c.address(8443), "", true); got != healthpb.HealthCheckResponse_SERVING {
				t.Errorf("over TLS: %v, %v", got, code)
			}
			if got, code := check(t, c.address(8443), "", false); code == codes.OK {
				t.Errorf("in plaintext: %v", got)
			}
			conn, err := tls.Dial("tcp", c.address(8443), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if got := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; got != tc.subject {
				t.Errorf("certificate of %q, want %q", got, tc.subject)
			}
		})
	}
	for want, args := range map[string][]string{
		"both --tls-cert-file and --tls-private-key-file must be set":                {"--tls-cert-file=/localhost.crt"},
		"reading the certificate: open /nowhere.crt: file does not exist":            {"--tls-cert-file=/nowhere.crt", "--tls-private-key-file=/certs/tls.key"},
		"loading /certs/tls.key and /certs/tls.crt: tls: failed to find certificate": {"--tls-cert-file=/certs/tls.key", "--tls-private-key-file=/certs/tls.crt"},
	} {
		c := run(t, spec{args: append([]string{"grpc-health-checking"}, args...), mounts: mounts})
		c.expectExit(1)
		c.expectLogs(want)
	}
}
