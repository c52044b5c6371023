package shell

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// The exit codes that grpc_health_probe documents.
const (
	healthProbeUsage      = 1 // wrong arguments
	healthProbeConnection = 2 // no connection, or not in time
	healthProbeRPC        = 3 // the call failed, or not in time
	healthProbeUnhealthy  = 4 // the service is not SERVING
)

// healthProbe are the flags of grpc_health_probe, the client of the gRPC health
// service that people run in exec probes
// (github.com/grpc-ecosystem/grpc-health-probe). Those for gzip, SPIFFE, ALTS
// and headers are not played.
type healthProbe struct {
	addr, service, userAgent   string
	connectTimeout, rpcTimeout time.Duration
	tls, noVerify              bool
	ca, cert, key, serverName  string
}

func grpcHealthProbe(ctx context.Context, s *session, args []string) int {
	var p healthProbe
	flags := p.flags()
	if err := flags.Parse(args); err != nil {
		return s.unasked(healthProbeUsage, err)
	}
	if s.probe.Path != "" {
		return s.probe.run(ctx, s, &p, flags)
	}
	if err := p.check(); err != nil {
		return s.unasked(healthProbeUsage, err)
	}
	creds, err := p.credentials(s)
	if err != nil {
		return s.unasked(healthProbeUsage, fmt.Errorf("failed to initialize tls credentials: %w", err))
	}
	target, err := p.target(s)
	if err != nil {
		return s.unasked(healthProbeConnection, err)
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds), grpc.WithUserAgent(p.userAgent),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer(s.files)(ctx, "tcp", address)
		}))
	if err != nil {
		return s.unasked(healthProbeConnection, err)
	}
	defer conn.Close()
	if !connected(ctx, conn, p.connectTimeout) {
		return s.unasked(healthProbeConnection, fmt.Errorf("failed to connect service %q within %v", p.addr, p.connectTimeout))
	}
	return p.ask(ctx, s, conn)
}

// unasked ends a probe that could ask no server, and says why.
func (s *session) unasked(code int, err error) int {
	fmt.Fprintf(s.stderr, "error: %v\n", err)
	return code
}

func (p *healthProbe) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("grpc_health_probe", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&p.addr, "addr", "", "")
	flags.StringVar(&p.service, "service", "", "")
	flags.StringVar(&p.userAgent, "user-agent", "grpc_health_probe", "")
	flags.DurationVar(&p.connectTimeout, "connect-timeout", time.Second, "")
	flags.DurationVar(&p.rpcTimeout, "rpc-timeout", time.Second, "")
	flags.BoolVar(&p.tls, "tls", false, "")
	flags.BoolVar(&p.noVerify, "tls-no-verify", false, "")
	flags.StringVar(&p.ca, "tls-ca-cert", "", "")
	flags.StringVar(&p.cert, "tls-client-cert", "", "")
	flags.StringVar(&p.key, "tls-client-key", "", "")
	flags.StringVar(&p.serverName, "tls-server-name", "", "")
	flags.Bool("v", false, "") // prints more when all is well
	return flags
}

func (p *healthProbe) check() error {
	switch {
	case p.addr == "":
		return errors.New("-addr not specified")
	case p.connectTimeout <= 0 || p.rpcTimeout <= 0:
		return errors.New("-connect-timeout and -rpc-timeout must be greater than zero")
	case !p.tls && (p.noVerify || p.ca != "" || p.cert != "" || p.serverName != ""):
		return errors.New("specified a -tls-* flag without specifying -tls")
	case (p.cert == "") != (p.key == ""):
		return errors.New("-tls-client-cert and -tls-client-key go together")
	case p.noVerify && (p.ca != "" || p.serverName != ""):
		return errors.New("-tls-no-verify can't be combined with -tls-ca-cert or -tls-server-name")
	}
	return nil
}

func (p *healthProbe) credentials(s *session) (credentials.TransportCredentials, error) {
	if !p.tls {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{ServerName: p.serverName, InsecureSkipVerify: p.noVerify} //nolint:gosec // what -tls-no-verify asks for
	if p.ca != "" {
		pem, err := s.readFile(p.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("no certificate in %s", p.ca)
		}
	}
	if p.cert != "" {
		pair, err := ReadCertificate(s.readFile, p.cert, p.key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{*pair}
	}
	return credentials.NewTLS(config), nil
}

// target is what to dial: a TCP port, and nothing else that gRPC has a name for.
func (p *healthProbe) target(s *session) (string, error) {
	host, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		return "", err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || strings.HasPrefix(host, "unix") {
		return "", fmt.Errorf("%q is no host and port", p.addr)
	}
	host, err = resolve(s.files, host)
	return "passthrough:///" + net.JoinHostPort(host, port), err
}

// connected waits for the connection to be made. A failure is not the end of it:
// the server may be about to start.
func connected(ctx context.Context, conn *grpc.ClientConn, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
		if state == connectivity.Idle {
			conn.Connect()
		}
		if !conn.WaitForStateChange(ctx, state) {
			return false
		}
	}
	return true
}

func (p *healthProbe) ask(ctx context.Context, s *session, conn *grpc.ClientConn) int {
	ctx, cancel := context.WithTimeout(ctx, p.rpcTimeout)
	defer cancel()
	answer, err := health.NewHealthClient(conn).Check(ctx, &health.HealthCheckRequest{Service: p.service})
	switch {
	case status.Code(err) == codes.Unimplemented:
		fmt.Fprintf(s.stderr, "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): %v\n", err)
		return healthProbeRPC
	case err != nil:
		fmt.Fprintf(s.stderr, "error: health rpc failed: %v\n", err)
		return healthProbeRPC
	case answer.GetStatus() != health.HealthCheckResponse_SERVING:
		fmt.Fprintf(s.stderr, "service unhealthy (responded with %q)\n", answer.GetStatus())
		return healthProbeUnhealthy
	}
	fmt.Fprintf(s.stdout, "status: %v\n", answer.GetStatus())
	return 0
}

// ReadCertificate reads a certificate and its key.
func ReadCertificate(read func(name string) ([]byte, error), certFile, keyFile string) (*tls.Certificate, error) {
	cert, err := read(certFile)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate: %w", err)
	}
	key, err := read(keyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the private key: %w", err)
	}
	certificate, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("loading %s and %s: %w", certFile, keyFile, err)
	}
	return &certificate, nil
}
