// Command typedclient is a client of the release that it is compiled against: it reads an
// object into the types of that release, changes it, and writes it back, as a controller of
// that release does. What its types don't have is lost on the way.
//
// It reads a request from its standard input, as JSON, and writes the answer to its standard
// output (harness/typedclient).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/component-base/version/verflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "typedclient:", err)
		os.Exit(1)
	}
}

// request is what to do: one of its fields.
type request struct {
	Update   *update   `json:"update"`
	Recode   *recode   `json:"recode"`
	Template *template `json:"template"`
}

// answer is what came of a request.
type answer struct {
	// Error says why it could not be done. A refusal by the API server is none.
	Error string `json:"error,omitempty"`
	// Code is the HTTP status of the last answer, and Codes are how often an API server
	// answered with which: to a write, or to a read that it refused.
	Code  int32         `json:"code,omitempty"`
	Codes map[int32]int `json:"codes,omitempty"`
	// Reason and Message are those of the last answer, if it was a refusal, and Warnings those
	// of all answers.
	Reason   string   `json:"reason,omitempty"`
	Message  string   `json:"message,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Object is the object as the types of this release show it, or the schemas of a template.
	Object []byte `json:"object,omitempty"`
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	fs := pflag.NewFlagSet("typedclient", pflag.ContinueOnError)
	verflag.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	verflag.PrintAndExitIfRequested()
	var r request
	if err := json.NewDecoder(in).Decode(&r); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	return json.NewEncoder(out).Encode(r.do(ctx))
}

func (r request) do(ctx context.Context) (a answer) {
	var err error
	switch {
	case r.Update != nil:
		err = r.Update.do(ctx, &a)
	case r.Recode != nil:
		a.Object, err = r.Recode.do()
	case r.Template != nil:
		a.Object, err = r.Template.do()
	default:
		err = errors.New("there is nothing to do")
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}
