package agnhost

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
)

// deletionTime is how long serve-hostname lives on after SIGTERM.
const deletionTime = 60 * time.Second

// hostnameFlags are the flags of serve-hostname.
type hostnameFlags struct {
	tcp, udp, http, close bool
	port                  uint16
}

func serveHostname(flags *pflag.FlagSet) runner {
	var f hostnameFlags
	flags.BoolVar(&f.tcp, "tcp", false, "Serve raw over TCP.")
	flags.BoolVar(&f.udp, "udp", false, "Serve raw over UDP.")
	flags.BoolVar(&f.http, "http", true, "Serve HTTP.")
	flags.BoolVar(&f.close, "close", false, "Close connection per each HTTP request.")
	flags.Uint16Var(&f.port, "port", 9376, "Port number.")
	return func(ctx context.Context, p *process) int {
		if err := f.serve(ctx, p); err != nil {
			return p.fatal(err)
		}
		return p.awaitDeletion(ctx, int(f.port), deletionTime)
	}
}

// awaitDeletion waits for SIGTERM, and lives on for a time after it.
func (p *process) awaitDeletion(ctx context.Context, port int, after time.Duration) int {
	p.log.Printf("Serving on port %d.", port)
	sig, ok := p.waitSignal(ctx, sigterm)
	if !ok {
		return shell.ExitKilled
	}
	p.log.Printf("Shutting down after receiving signal: %s.", sig)
	p.log.Printf("Awaiting pod deletion.")
	if !shell.Pass(ctx, after) {
		return shell.ExitKilled
	}
	return 0
}

func (f hostnameFlags) serve(ctx context.Context, p *process) error {
	if f.http && (f.tcp || f.udp) {
		return errors.New("TCP or UDP can't be served together with HTTP: add --http=false")
	}
	hostname := p.Hostname()
	var errs []error
	if f.tcp {
		stream := &behavior.Stream{Send: hostname, Close: true}
		errs = append(errs, p.serve(server.Config{Listener: behavior.Listener{
			Port: int32(f.port), Protocol: behavior.TCP, Phases: behavior.Timeline{{TCP: stream}},
		}}))
	}
	if f.udp {
		errs = append(errs, p.serveUDP(ctx, f.port, func(_ []byte, from net.Addr) []byte {
			p.log.Printf("UDP request from %s", from)
			return []byte(hostname)
		}))
	}
	if f.http {
		errs = append(errs, p.serve(server.Config{
			Listener: behavior.Listener{Port: int32(f.port), Protocol: behavior.HTTP1},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				p.log.Printf("HTTP request from %s", r.RemoteAddr)
				if f.close {
					w.Header().Add("Connection", "close")
				}
				_, _ = io.WriteString(w, hostname)
			}),
		}))
	}
	return errors.Join(errs...)
}
