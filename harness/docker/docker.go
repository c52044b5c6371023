// Package docker runs the docker command. The environment variable DOCKER_HOST or the current
// context selects the daemon, as in a shell.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/skewrig/skewrig/harness/process"
)

// RunLabel is the label of what skewrig makes: its value is the run that it is of, or what it is for.
const RunLabel = "skewrig.dev/run"

// Command is a docker command.
func Command(args ...string) process.Command {
	return process.Command{Path: "docker", Args: args, Env: process.UserEnv()}
}

// Run runs docker and returns what it prints, without white space at either end. An error has what
// it says.
func Run(ctx context.Context, args ...string) (string, error) { return Pipe(ctx, nil, args...) }

// Pipe is Run, and docker reads from in.
func Pipe(ctx context.Context, in io.Reader, args ...string) (string, error) {
	cmd := Command(args...)
	cmd.Stdin = in
	return cmd.Output(ctx)
}

// answerLimit is how long a daemon has to answer that it is there.
const answerLimit = 15 * time.Second

// Check is an error if there is no docker command, or no daemon answers it.
func Check(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("the program docker is not in PATH (on Debian and Ubuntu: apt-get install docker.io)")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("no answer within %s", answerLimit))
	defer cancel()
	if _, err := Run(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("no Docker daemon answers; start one, or set DOCKER_HOST to where it is: %w", err)
	}
	return nil
}

// HasImage reports whether the daemon has an image.
func HasImage(ctx context.Context, name string) bool {
	_, err := Run(ctx, "image", "inspect", "--format", "{{.Id}}", name)
	return err == nil
}
