// Command skewrig runs real Kubernetes components of any mix of releases,
// without containers and without root, through declarative scenarios, and
// reports what they did.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2" //nolint:depguard // to silence it

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/reports/render"
)

func main() {
	// The client libraries log on their own what they try again anyway. What a
	// user must know is an error, and is in the logs of the components.
	klog.SetLogger(logr.Discard())
	// The first interrupt ends what runs in good order; a second one takes the
	// default action and ends skewrig at once (its children die with it).
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	relaxGC()
	boundMemory(max(minMemory, uint64(app.Host().MemoryBytes)/2))
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is skewrig, but for the process around it. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	args, notices := renamed(root, args)
	for _, notice := range notices {
		fmt.Fprintln(stderr, notice)
	}
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if _, rest, notFound := root.Find(args); err != nil && notFound != nil {
		err = noCommand(root, rest)
	}
	var exit exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		for _, failed := range failures(err) {
			fmt.Fprintf(stderr, "skewrig: %s\n", render.VisibleWhole(failed.Error()))
		}
		return int(exit)
	}
	fmt.Fprintf(stderr, "skewrig: %s\n", render.VisibleWhole(err.Error())) // it may name what a program under test has named
	if verbose, _ := root.PersistentFlags().GetBool("verbose"); verbose {
		for _, said := range app.SaidOfReleases(err) {
			fmt.Fprintln(stderr, render.VisibleWhole(said))
		}
	}
	if _, ok := errors.AsType[*app.Failure](err); ok {
		return exitNotJudged
	}
	return exitUsage
}

// The exit codes of skewrig, as the design promises them to scripts. 0 and 1
// are what a report says (reports.ExitCode).
const (
	exitNotJudged = 2
	exitUsage     = 3
)

// failures are the errors that are joined with an exit code, such as that of a cluster that could not be removed.
func failures(err error) (others []error) {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range joined.Unwrap() {
			others = append(others, failures(e)...)
		}
		return others
	}
	if err != nil && !errors.As(err, new(exitCode)) {
		others = append(others, err)
	}
	return others
}

// exitCode is an error that only sets the exit code: everything was said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// exit is an error if an exit code is not 0.
func exit(code int) error {
	if code == 0 {
		return nil
	}
	return exitCode(code)
}
