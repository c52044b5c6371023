package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skewrig/skewrig/podsapi/client"
)

// Error is an error for people.
type Error struct {
	// Problem is what is the case, Advice what to do about it.
	Problem, Advice string
	// Err is what it was found by. It may be nil.
	Err error
}

// Error returns the problem and the advice.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s (%v): %s", e.Problem, e.Err, e.Advice)
	}
	return e.Problem + ": " + e.Advice
}

// Unwrap returns what the error was found by.
func (e *Error) Unwrap() error { return e.Err }

// explain turns the end of a call into an error for people.
func explain(ctx context.Context, socket string, r client.Request, err error) error {
	said := errors.New(status.Convert(err).Message())
	switch status.Code(err) {
	case codes.Unavailable:
		return unavailable(ctx, socket, said)
	case codes.FailedPrecondition:
		return &Error{"the node is initializing and doesn't know all of its pods yet", "try again in a few seconds", nil}
	case codes.InvalidArgument:
		if r.Fields != "" {
			return &Error{fmt.Sprintf("the server refuses the field mask %q", r.Fields), "name fields that its version of a pod has", said}
		}
	case codes.ResourceExhausted:
		if r.Method == client.WatchPods {
			return &Error{"the server ended the watch because of its load", "watch again, and read faster", said}
		}
		return &Error{"the rate limit of the node is exceeded", "try again in a second, and use watch instead of polling", said}
	case codes.NotFound:
		return &Error{fmt.Sprintf("there is no pod with the UID %s on this node", r.UID), "see `skewrig podsapi list`", said}
	case codes.Unimplemented:
		return &Error{"the server at this socket doesn't serve the Pods API v1alpha1", "turn on the kubelet's feature gate PodsAPI, or name its socket with --socket", said}
	case codes.DeadlineExceeded:
		return &Error{fmt.Sprintf("there is no answer within %s", patience), "look at the log of the kubelet", said}
	}
	return fmt.Errorf("%s: %w", r.Method, err)
}

// unavailable says why no answer, which a connection of its own finds out.
func unavailable(ctx context.Context, socket string, said error) error {
	err := connect(ctx, socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{
			Problem: "there is no socket " + socket,
			Advice:  "the kubelet has it while it runs with the feature gate PodsAPI on, which needs v1.36 or newer; name another one with --socket",
		}
	case errors.Is(err, fs.ErrPermission):
		return denied(socket)
	case errors.Is(err, syscall.ECONNREFUSED) && !isSocket(socket):
		return &Error{Problem: socket + " is not a socket", Advice: "name the kubelet's with --socket"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Problem: "no process listens at " + socket, Advice: "its kubelet does not run any more: start it again"}
	case err != nil:
		return fmt.Errorf("connecting to %s: %w", socket, err)
	}
	return turnedAway(socket, said)
}

func connect(ctx context.Context, socket string) error {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.WithoutCancel(ctx), "unix", socket)
	if err != nil {
		return err
	}
	return conn.Close()
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}
