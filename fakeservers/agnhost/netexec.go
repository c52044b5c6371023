package agnhost

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
	"github.com/skewrig/skewrig/harness/await"
)

// netexecServer are the flags and the state of netexec.
type netexecServer struct {
	*process
	httpPort      int32
	udpPort       int
	sctpPort      int
	certificate   certificateFlags
	override      string
	udpAddresses  string
	delayShutdown int

	// ready is set once the UDP server runs: /healthz is about that.
	ready atomic.Bool
	// stopping is set once SIGTERM has come.
	stopping atomic.Bool
	// exits takes the first request to exit.
	exits chan exitRequest
	// answering is how many requests are being answered.
	answering atomic.Int64
}

// exitRequest asks the program to exit, by default at once.
type exitRequest struct {
	code int
	// after is how long to wait first, and patience how long to let requests
	// finish after that.
	after, patience time.Duration
}

func netexec(flags *pflag.FlagSet) runner {
	n := &netexecServer{exits: make(chan exitRequest, 1)}
	flags.Int32Var(&n.httpPort, "http-port", 8080, "HTTP Listen Port")
	flags.IntVar(&n.udpPort, "udp-port", 8081, "UDP Listen Port")
	flags.IntVar(&n.sctpPort, "sctp-port", -1, "SCTP Listen Port")
	flags.StringVar(&n.override, "http-override", "", "Override the HTTP handler to always respond as if it were a GET with this path & params")
	flags.StringVar(&n.udpAddresses, "udp-listen-addresses", "", "A comma separated list of ip addresses the udp servers listen from")
	flags.IntVar(&n.delayShutdown, "delay-shutdown", 0, "Number of seconds to delay shutdown when receiving SIGTERM.")
	n.certificate.add(flags)
	return func(ctx context.Context, p *process) int {
		n.process = p
		if err := n.start(ctx); err != nil {
			return p.fatal(err)
		}
		return n.run(ctx)
	}
}

func (n *netexecServer) start(ctx context.Context) error {
	if n.sctpPort != -1 {
		n.log.Print("skewrig has no SCTP: --sctp-port is ignored")
	}
	if n.udpPort != -1 {
		if err := n.startUDP(ctx); err != nil {
			return err
		}
	}
	config := server.Config{
		Listener: behavior.Listener{Port: n.httpPort, Protocol: behavior.HTTP1},
		Handler:  n.counted(n.handler()),
	}
	if n.certificate.set() {
		certificate, err := n.certificate.read(n.process)
		if err != nil {
			return err
		}
		config.Listener.Protocol, config.Certificate = behavior.HTTPS, certificate
	}
	if err := n.serve(config); err != nil {
		return err
	}
	n.log.Printf("Started HTTP server on port %d", n.httpPort)
	return nil
}

func (n *netexecServer) startUDP(ctx context.Context) error {
	if n.udpPort < 0 || n.udpPort > 65535 {
		return fmt.Errorf("%d is not a UDP port", n.udpPort)
	}
	if n.udpAddresses != "" {
		n.log.Printf("A pod has one address here: UDP listens on %s instead of %s", n.IP, n.udpAddresses)
	}
	if err := n.serveUDP(ctx, uint16(n.udpPort), n.datagram); err != nil {
		return err
	}
	n.log.Printf("Started UDP server on port %s %d", n.IP, n.udpPort)
	n.ready.Store(true)
	return nil
}

// run runs until a signal or a request ends the program.
func (n *netexecServer) run(ctx context.Context) int {
	n.SayUp()
	var stop <-chan time.Time
	signals := n.Signals
	for {
		select {
		case <-ctx.Done():
			return shell.ExitKilled
		case <-stop:
			return 0
		case exit := <-n.exits:
			return n.exit(ctx, exit)
		case sig, open := <-signals:
			switch {
			case !open:
				signals = nil
			case sig == sigint:
				return exitSignal
			case sig == sigterm && stop == nil:
				n.stopping.Store(true)
				if n.delayShutdown > 0 {
					n.log.Printf("Sleeping %d seconds before terminating...", n.delayShutdown)
				}
				stop = time.After(time.Duration(n.delayShutdown) * time.Second)
			}
		}
	}
}

// exit waits as the request has it, and returns the exit code.
func (n *netexecServer) exit(ctx context.Context, request exitRequest) int {
	if !shell.Pass(ctx, request.after) {
		return shell.ExitKilled
	}
	if request.patience > 0 {
		await.Until(ctx, request.patience, func() bool { return n.answering.Load() == 0 })
		if ctx.Err() != nil {
			return shell.ExitKilled
		}
		n.log.Print("Graceful shutdown completed")
	}
	return request.code & 0xff
}

// requestExit asks the program to exit. The first to ask decides how.
func (n *netexecServer) requestExit(request exitRequest) {
	select {
	case n.exits <- request:
	default:
	}
}

// counted counts the requests that are being answered.
func (n *netexecServer) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.answering.Add(1)
		defer n.answering.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// datagram answers a datagram: a command, or nothing.
func (n *netexecServer) datagram(datagram []byte, from net.Addr) []byte {
	text := strings.TrimSpace(string(datagram))
	command, argument, _ := strings.Cut(text, " ")
	switch strings.ToLower(command) {
	case "hostname":
		return []byte(n.Hostname())
	case "echo":
		return []byte(strings.ToLower(argument))
	case "envvar":
		value, _ := n.Getenv(strings.TrimSpace(argument))
		return []byte(value)
	case "clientip":
		return []byte(from.String())
	case "serverport":
		return []byte(strconv.Itoa(n.udpPort))
	}
	if text != "" {
		n.log.Printf("Unknown UDP command received from %s: %q", from, text)
	}
	return nil
}
