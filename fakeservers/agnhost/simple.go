package agnhost

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
)

// terminationLog is where a container's last words go by default
// (terminationMessagePath of a container's spec).
const terminationLog = "/dev/termination-log"

// pauseProgram waits for a signal, and says in its last words which it was.
func pauseProgram(*pflag.FlagSet) runner {
	return func(ctx context.Context, p *process) int {
		fmt.Fprintln(p.Stdout, "Paused")
		fmt.Fprintln(p.Stdout, "Signals registered")
		sig, ok := p.waitSignal(ctx, sigint, sigterm)
		if !ok {
			return shell.ExitKilled
		}
		message := fmt.Sprintf("exiting because of signal %q\n", sig)
		path, found := p.Getenv("TERMINATION_MESSAGE_PATH")
		if !found || path == "" {
			path = terminationLog
		}
		if err := p.WriteFile(path, []byte(message)); err != nil {
			p.log.Printf("writing the termination message: %v", err)
		}
		_, _ = io.WriteString(p.Stdout, message)
		if sig == sigint {
			return 1
		}
		return 2
	}
}

// entrypointTester prints the whole command line.
func entrypointTester(*pflag.FlagSet) runner {
	return func(_ context.Context, p *process) int {
		fmt.Fprintf(p.Stdout, "%v\n", p.Args)
		return 0
	}
}

// etcHosts prints the file that the kubelet writes of host names.
func etcHosts(*pflag.FlagSet) runner {
	return func(_ context.Context, p *process) int {
		text, err := p.ReadFile("/etc/hosts")
		if err != nil {
			return p.fatal(err)
		}
		_, _ = p.Stdout.Write(text)
		return 0
	}
}

// livenessTime is how long the program is alive, livenessPort where it says so.
const (
	livenessTime = 10 * time.Second
	livenessPort = 8080
)

func liveness(*pflag.FlagSet) runner {
	return func(ctx context.Context, p *process) int {
		mux := http.NewServeMux()
		mux.HandleFunc("/started", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, p.uptime().String())
		})
		mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
			if uptime := p.uptime(); uptime > livenessTime {
				w.WriteHeader(http.StatusInternalServerError)
				fmt.Fprintf(w, "error: %v", uptime.Seconds())
				return
			}
			_, _ = io.WriteString(w, "ok")
		})
		mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
			escaped := r.URL.Query().Get("loc")
			location, err := url.QueryUnescape(escaped)
			if err != nil {
				http.Error(w, fmt.Sprintf("invalid redirect: %q", escaped), http.StatusBadRequest)
				return
			}
			http.Redirect(w, r, location, http.StatusFound)
		})
		return p.serveAndWait(ctx, server.Config{
			Listener: behavior.Listener{Port: livenessPort, Protocol: behavior.HTTP1},
			Handler:  mux,
		})
	}
}

// serveAndWait serves until a signal ends the program.
func (p *process) serveAndWait(ctx context.Context, config server.Config) int {
	if err := p.serve(config); err != nil {
		return p.fatal(err)
	}
	p.log.Printf("Listening on port %d", config.Listener.Port)
	return p.wait(ctx)
}

func h2cServer(flags *pflag.FlagSet) runner {
	port := flags.Int32("port", 80, "Port number.")
	return func(ctx context.Context, p *process) int {
		p.log.Printf("Serving h2c on port %d.", *port)
		return p.serveAndWait(ctx, server.Config{
			Listener: behavior.Listener{Port: *port, Protocol: behavior.H2C},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, "ok")
			}),
		})
	}
}

// tcpReset resets every connection that sends something.
func tcpReset(flags *pflag.FlagSet) runner {
	port := flags.Int32("port", 8080, "Port number.")
	return func(ctx context.Context, p *process) int {
		err := p.serve(server.Config{Listener: behavior.Listener{
			Port: *port, Protocol: behavior.TCP, Phases: behavior.Timeline{{Fault: behavior.Reset}},
		}})
		if err != nil {
			return p.fatal(err)
		}
		return p.awaitDeletion(ctx, int(*port), 0)
	}
}
