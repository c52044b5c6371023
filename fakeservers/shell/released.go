package shell

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
	children "github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/record"
)

// HealthProbe is a grpc_health_probe that was built from a release.
type HealthProbe struct {
	// Path is the executable.
	Path string
	// Program is what the record calls it: its name and release.
	Program string
}

// WithHealthProbe returns an image whose commands run a released grpc_health_probe, and
// not the imitation. It is the only program of this machine that a container can start:
// whatever path a command gives, it is this executable that runs.
func WithHealthProbe(of image.Image, probe HealthProbe) image.Image {
	of.Exec = func(ctx context.Context, p *image.Process, args []string, streams image.Streams) int {
		s := newSession(p, streams)
		s.probe = probe
		return s.run(ctx, args, streams.Signals, false)
	}
	return of
}

// run runs the program with the arguments that were parsed. Those that the imitation does
// not have never reach it, and neither do the container's environment and the files of
// this machine: it gets an address of the rig, and copies of the container's files.
func (h HealthProbe) run(ctx context.Context, s *session, p *healthProbe, flags *flag.FlagSet) int {
	if p.addr != "" {
		target, err := p.target(s)
		if err != nil {
			return s.unasked(healthProbeConnection, err)
		}
		p.addr = target
	}
	dir, err := os.MkdirTemp("", "skewrig-probe-")
	if err != nil {
		return s.complain("skewrig", err)
	}
	defer os.RemoveAll(dir)
	for name, file := range map[string]*string{"ca": &p.ca, "cert": &p.cert, "key": &p.key} {
		if *file, err = s.copyFile(*file, filepath.Join(dir, name)); err != nil {
			return s.complain("skewrig", err)
		}
	}
	var args []string
	flags.Visit(func(f *flag.Flag) { args = append(args, "-"+f.Name+"="+f.Value.String()) })
	return h.start(ctx, s, children.Command{Path: h.Path, Args: args, Dir: dir, Stdout: s.stdout, Stderr: s.stderr, Stop: syscall.SIGKILL})
}

// start starts the process, waits for its end and records it.
func (h HealthProbe) start(ctx context.Context, s *session, probe children.Command) int {
	began := time.Now()
	ended, err := probe.Run(ctx)
	if ended.State == nil {
		return s.complain("skewrig", err)
	}
	code := ended.State.ExitCode()
	s.files.Recorder.Append("server/"+s.files.Container, s.files.Container, record.ProcessRan{
		Program: h.Program, ExitCode: int32(code), DurationSeconds: time.Since(began).Seconds(),
		CPUSeconds: (ended.State.UserTime() + ended.State.SystemTime()).Seconds(),
	})
	if code < 0 {
		return ExitKilled
	}
	return code
}

// copyFile copies a file of the container, and returns the path of the copy. One that
// the container doesn't have has none, as the program then says itself.
func (s *session) copyFile(name, to string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := s.readFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return to, nil
	}
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(to, data, 0o600)
}
