package agnhost

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/server"
)

// porterMessage is what porter answers with --json-response.
type porterMessage struct {
	Method string
	Body   string
}

// porter serves on each port that a variable of the environment names, with
// the variable's value. A port that can't be served is logged, and no more.
func porter(flags *pflag.FlagSet) runner {
	asJSON := flags.Bool("json-response", false, "Responds to requests with a json response that includes the default value with the http.Request Method")
	return func(ctx context.Context, p *process) int {
		for _, entry := range p.Env {
			name, value, _ := strings.Cut(entry, "=")
			kind, number, found := cutPorter(name)
			if !found {
				continue
			}
			if err := p.servePorter(ctx, kind, number, value, *asJSON); err != nil {
				p.log.Printf("server on port %q failed: %v", number, err)
				continue
			}
			p.log.Printf("Started %s server on port %s", kind, number)
		}
		return p.wait(ctx)
	}
}

// cutPorter returns what a variable such as SERVE_TLS_PORT_8443 asks for.
func cutPorter(name string) (kind, number string, found bool) {
	for _, kind := range []string{"TCP", "UDP", "TLS", "SCTP"} {
		if number, found := strings.CutPrefix(name, "SERVE_"+kind+"_PORT_"); found {
			return kind, number, true
		}
	}
	number, found = strings.CutPrefix(name, "SERVE_PORT_")
	return "TCP", number, found
}

// porterHandler answers requests with a value.
func porterHandler(value string, asJSON bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if asJSON {
			w.Header().Set("Content-Type", "application/json")
			writeJSON(w, porterMessage{Method: r.Method, Body: value})
			return
		}
		_, _ = io.WriteString(w, value)
	}
}

func (p *process) servePorter(ctx context.Context, kind, number, value string, asJSON bool) error {
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return err
	}
	config := server.Config{
		Listener: behavior.Listener{Port: int32(port), Protocol: behavior.HTTP1},
		Handler:  porterHandler(value, asJSON),
	}
	switch kind {
	case "UDP":
		return p.serveUDP(ctx, uint16(port), func([]byte, net.Addr) []byte { return []byte(value) })
	case "SCTP":
		return errors.New("skewrig has no SCTP")
	case "TLS":
		config.Listener.Protocol = behavior.HTTPS
		if config.Certificate, err = p.porterCertificate(); err != nil {
			return err
		}
	}
	return p.serve(config)
}

func (p *process) porterCertificate() (*tls.Certificate, error) {
	files := certificateFlags{certFile: "localhost.crt", keyFile: "localhost.key"}
	if file, _ := p.Getenv("CERT_FILE"); file != "" {
		files.certFile = file
	}
	if file, _ := p.Getenv("KEY_FILE"); file != "" {
		files.keyFile = file
	}
	return files.read(p)
}
