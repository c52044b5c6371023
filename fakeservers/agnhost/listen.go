package agnhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/fakeservers/server"
	"github.com/skewrig/skewrig/fakeservers/shell"
)

// ListenVariable is the variable of the environment that holds a JSON array of
// listeners, which ServerImage serves besides those of its arguments.
const ListenVariable = "SKEWRIG_LISTEN"

// Listeners returns an image that serves the listeners, whatever its command
// and arguments are: what an image that can't be run is mapped to.
func Listeners(listeners ...behavior.Listener) image.Image {
	return image.Image{
		SizeBytes:  sizeServer,
		Entrypoint: []string{"/server"},
		Exec:       shell.Exec,
		Run: func(ctx context.Context, p *image.Process) int {
			process := newProcess(p)
			defer process.close()
			return process.serveAll(ctx, listeners)
		},
	}
}

// Any returns an image that stands for one of which nothing is known: a command or
// arguments that are a command of a Unix system are played, as those of busybox;
// anything else serves the listeners.
func Any(listeners ...behavior.Listener) image.Image {
	server := Listeners(listeners...)
	server.Entrypoint, server.Cmd = nil, server.Entrypoint
	serve := server.Run
	server.Run = func(ctx context.Context, p *image.Process) int {
		if len(p.Args) > 0 && shell.Implements(p.Args[0]) {
			return shell.Main(ctx, p)
		}
		return serve(ctx, p)
	}
	return server
}

// playServer plays ServerImage.
func playServer(ctx context.Context, p *image.Process) int {
	process := newProcess(p)
	defer process.close()
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	flags.SetOutput(process.Stderr)
	texts := flags.StringArray("listen", nil, "JSON of a listener: port, protocol, tls, phases, routes. May be repeated.")
	if err := flags.Parse(p.Args[min(1, len(p.Args)):]); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0
		}
		fmt.Fprintf(process.Stderr, "Error: %v\n", err)
		return exitError
	}
	listeners, err := process.listeners(*texts)
	if err != nil {
		return process.fatal(err)
	}
	return process.serveAll(ctx, listeners)
}

// listeners reads the listeners of the arguments and of the environment. The
// error holds every problem of each.
func (p *process) listeners(texts []string) ([]behavior.Listener, error) {
	var listeners []behavior.Listener
	var errs []error
	for i, text := range texts {
		var listener behavior.Listener
		if err := decode(text, &listener); err != nil {
			errs = append(errs, fmt.Errorf("--listen number %d: %w", i+1, err))
		}
		listeners = append(listeners, listener)
	}
	if text, found := p.Getenv(ListenVariable); found {
		var more []behavior.Listener
		if err := decode(text, &more); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", ListenVariable, err))
		}
		listeners = append(listeners, more...)
	}
	if len(errs) == 0 && len(listeners) == 0 {
		errs = append(errs, fmt.Errorf(`nothing to listen for: use --listen '{"port":8080,"protocol":"http1"}' or %s`, ListenVariable))
	}
	return listeners, errors.Join(errs...)
}

// decode reads one JSON value, strictly.
func decode(text string, into any) error {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("reading %q: %w", text, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading %q: more than one value", text)
	}
	return nil
}

// serveAll serves the listeners until a signal ends the process, with 0.
func (p *process) serveAll(ctx context.Context, listeners []behavior.Listener) int {
	var errs []error
	for i, listener := range listeners {
		if err := p.serve(server.Config{Listener: listener}); err != nil {
			errs = append(errs, fmt.Errorf("listener %d: %s", i+1, strings.ReplaceAll(err.Error(), "\n", "; ")))
			continue
		}
		p.log.Printf("listening on port %d: %s", listener.Port, listener.Protocol)
	}
	if len(errs) > 0 {
		return p.fatal(errors.Join(errs...))
	}
	sig, ok := p.waitSignal(ctx, sigterm, sigint)
	if !ok {
		return shell.ExitKilled
	}
	p.log.Printf("ending after signal: %s", sig)
	return 0
}
