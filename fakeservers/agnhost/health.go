package agnhost

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"path"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
)

// healthChecking are the flags and the state of grpc-health-checking.
type healthChecking struct {
	port, httpPort    int32
	delayUnhealthySec int
	service           string
	certificate       certificateFlags
	// forced is what /make-serving or /make-not-serving said last.
	forced atomic.Pointer[behavior.ServingStatus]
}

func grpcHealthChecking(flags *pflag.FlagSet) runner {
	h := &healthChecking{}
	flags.Int32Var(&h.port, "port", 5000, "Port number.")
	flags.Int32Var(&h.httpPort, "http-port", 8080, "Port number for the /make-serving and /make-not-serving.")
	flags.IntVar(&h.delayUnhealthySec, "delay-unhealthy-sec", -1, "Number of seconds to delay before start reporting NOT_SERVING, negative value indicates never.")
	flags.StringVar(&h.service, "service", "", "Service name to register the health check for.")
	h.certificate.add(flags)
	return h.run
}

func (h *healthChecking) run(ctx context.Context, p *process) int {
	secure, err := h.certificate.read(p)
	if err != nil {
		return p.fatal(err)
	}
	p.log.Printf("Http server starting to listen on :%d", h.httpPort)
	err = p.serve(server.Config{
		Listener: behavior.Listener{Port: h.httpPort, Protocol: behavior.HTTP1},
		Handler:  h.switches(p),
	})
	if err != nil {
		return p.fatal(err)
	}
	p.log.Printf("gRPC server starting to listen on :%d", h.port)
	protocol := behavior.GRPC
	if h.certificate.set() {
		protocol = behavior.GRPCTLS
	}
	return p.serveAndWait(ctx, server.Config{
		Listener:    behavior.Listener{Port: h.port, Protocol: protocol},
		Health:      func(service string) (behavior.ServingStatus, error) { return h.check(p, service) },
		Certificate: secure,
	})
}

func (h *healthChecking) check(p *process, service string) (behavior.ServingStatus, error) {
	p.log.Printf("Serving the Check request for health check, started at %v", p.Started)
	if service != h.service {
		return "", status.Error(codes.NotFound, "unknown service")
	}
	if forced := h.forced.Load(); forced != nil && *forced == behavior.NotServing {
		return behavior.NotServing, nil
	}
	if h.delayUnhealthySec >= 0 && p.uptime() >= time.Duration(h.delayUnhealthySec)*time.Second {
		return behavior.NotServing, nil
	}
	return behavior.Serving, nil
}

// switches are the endpoints that make the server unhealthy and healthy again.
func (h *healthChecking) switches(p *process) http.Handler {
	mux := http.NewServeMux()
	to := func(next behavior.ServingStatus, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			p.log.Print(message)
			h.forced.Store(&next)
			_, _ = io.WriteString(w, p.uptime().String())
		}
	}
	mux.HandleFunc("/make-not-serving", to(behavior.NotServing, "Mark as unhealthy"))
	mux.HandleFunc("/make-serving", to(behavior.Serving, "Mark as healthy"))
	return mux
}

// certificateFlags name the files of a certificate and its key.
type certificateFlags struct{ certFile, keyFile string }

func (c *certificateFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.certFile, "tls-cert-file", "", "File containing an x509 certificate for TLS. (CA cert, if any, concatenated after server cert).")
	flags.StringVar(&c.keyFile, "tls-private-key-file", "", "File containing an x509 private key matching --tls-cert-file.")
}

func (c *certificateFlags) set() bool { return c.certFile != "" }

// read returns the certificate in the files. It is nil without files, and for
// those that the agnhost image has at /localhost.crt and /localhost.key: the
// server makes a self-signed one instead, which is what they hold.
func (c *certificateFlags) read(p *process) (*tls.Certificate, error) {
	if (c.certFile == "") != (c.keyFile == "") {
		return nil, errors.New("both --tls-cert-file and --tls-private-key-file must be set")
	}
	if c.certFile == "" || isOfImage(c.certFile, "localhost.crt") && isOfImage(c.keyFile, "localhost.key") {
		return nil, nil
	}
	return shell.ReadCertificate(p.ReadFile, c.certFile, c.keyFile)
}

// isOfImage reports whether a path, relative to the root directory in which
// the program runs, is that of a file in it.
func isOfImage(file, name string) bool { return path.Clean("/"+file) == "/"+name }
