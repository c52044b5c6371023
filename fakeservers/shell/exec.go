package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// session is where commands run: the container's files, and their environment,
// input and output.
type session struct {
	files *image.Process
	// dir is the working directory. If unset, "/".
	dir string
	env []string
	// stdin, if unset, is empty.
	stdin          io.Reader
	stdout, stderr io.Writer
	// terminal says that a person types: a shell prompts.
	terminal bool
	census   *census
	// signals are those that reach this command, and traps what a shell does on them.
	// If unset, none does.
	signals *signals
	traps   *traps
	// exceed ends a shell that uses too much, and says why.
	exceed func(error)
	// probe is the grpc_health_probe that there is. If unset, an imitation.
	probe HealthProbe
}

// newSession returns a session in a container whose commands start afresh.
func newSession(p *image.Process, streams image.Streams) *session {
	return &session{
		files: p, dir: p.Dir, env: p.Env, stdin: streams.Stdin, stdout: streams.Stdout, stderr: streams.Stderr, terminal: streams.Terminal, census: new(census),
	}
}

// run runs a command as a process of the container, which gets signals. The first
// process ignores those that it doesn't handle; others end.
func (s *session) run(ctx context.Context, args []string, sent <-chan syscall.Signal, first bool) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended atomic.Int32 // by this signal
	s.signals = &signals{otherwise: func(signal syscall.Signal) {
		if !first {
			ended.Store(int32(signal))
			cancel()
		}
	}}
	go s.signals.listen(ctx, sent)
	code := runCommand(ctx, s, args)
	if signal := ended.Load(); signal != 0 {
		return exitBySignal + int(signal)
	}
	return code
}

// path returns the absolute path of a file.
func (s *session) path(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join("/", s.dir, name)
}

// command plays a Unix command: its arguments without its name, its exit code.
type command func(ctx context.Context, s *session, args []string) int

// input returns the standard input. A command that waits there ends with ctx.
func (s *session) input(ctx context.Context) io.Reader {
	switch in := s.stdin.(type) {
	case nil:
		return strings.NewReader("")
	case *image.Pipe:
		return in.Until(ctx)
	default:
		return in
	}
}

func (s *session) readFile(name string) ([]byte, error) { return s.files.ReadFile(s.path(name)) }

// commands returns what can be run, by name. Each does what its namesake does
// with the options that are common in probes, and no more.
func commands() map[string]command {
	return map[string]command{
		"true":   builtin("true"),
		":":      builtin(":"),
		"false":  builtin("false"),
		"test":   builtin("test"),
		"[":      builtin("["),
		"echo":   builtin("echo"),
		"printf": builtin("printf"),
		"cat":    cat,
		"ls":     withOptions("ls", "1aAl", ls),
		"sleep":  sleep,
		"touch":  withOptions("touch", "", touch),
		"mkdir":  withOptions("mkdir", "p", mkdir),
		"rm":     withOptions("rm", "rRf", rm),
		"tail":   tail,
		"tar":    runTar,
		"sh":     sh,
		"bash":   sh,

		"awk":      awk,
		"curl":     curl,
		"cut":      cut,
		"date":     date,
		"env":      env,
		"grep":     grep,
		"head":     head,
		"hostname": hostname,
		"id":       id,
		"kill":     kill,
		"sort":     withOptions("sort", "", sortLines),
		"sysctl":   withOptions("sysctl", "", sysctl),
		"wc":       withOptions("wc", "lwc", wc),

		"fallocate":         fallocate,
		"grpc_health_probe": grpcHealthProbe,
	}
}

// Commands lists the commands that can be run in a container, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(commands())) }

// runCommand runs a command, by its name or path.
func runCommand(ctx context.Context, s *session, args []string) int {
	known := commands()
	if len(args) > 0 {
		if run := known[path.Base(args[0])]; run != nil {
			return run(ctx, s, args[1:])
		}
	}
	return NotImplemented(s.stderr, args, Commands())
}

// complain writes to the standard error as Unix commands do, and returns 1.
func (s *session) complain(name string, err error) int {
	fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
	return 1
}

// each runs a command's part for each of its arguments, also after an error.
func (s *session) each(command string, args []string, run func(arg string) error) (code int) {
	for _, arg := range args {
		if err := run(arg); err != nil {
			code = s.complain(command, err)
		}
	}
	return code
}

// withOptions plays a command whose arguments begin with those single-letter options, and
// refuses others.
func withOptions(name, known string, run func(ctx context.Context, s *session, letters string, rest []string) int) command {
	return func(ctx context.Context, s *session, args []string) int {
		letters, rest, err := parseOptions(known, args)
		if err != nil {
			return s.complain(name, err)
		}
		return run(ctx, s, letters, rest)
	}
}

// parseOptions parts single-letter options from the other arguments. An option that is not known is an error.
func parseOptions(known string, args []string) (letters string, rest []string, _ error) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return letters, append(rest, args[i+1:]...), nil
		case len(arg) < 2 || arg[0] != '-':
			rest = append(rest, arg)
		case strings.Trim(arg[1:], known) != "":
			return "", nil, fmt.Errorf("skewrig doesn't implement %s", arg)
		default:
			letters += arg[1:]
		}
	}
	return letters, rest, nil
}

func cat(ctx context.Context, s *session, args []string) int {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return s.each("cat", args, func(name string) error {
		if name == "-" {
			_, err := io.Copy(s.stdout, s.input(ctx))
			return err
		}
		data, err := s.readFile(name)
		if err == nil {
			_, err = s.stdout.Write(data)
		}
		return err
	})
}

func ls(_ context.Context, s *session, _ string, names []string) int {
	if len(names) == 0 {
		names = []string{"."}
	}
	return s.each("ls", names, func(name string) error {
		mode, err := s.files.Stat(s.path(name))
		children := []string{name}
		if err == nil && mode.IsDir() {
			children, err = s.files.ReadDir(s.path(name))
		}
		if err == nil {
			for _, child := range children {
				fmt.Fprintln(s.stdout, child)
			}
		}
		return err
	})
}

// sleep waits for the sum of its arguments, "infinity" included.
func sleep(ctx context.Context, s *session, args []string) int {
	var total time.Duration
	for _, arg := range args {
		d, err := sleepTime(arg)
		if err != nil {
			return s.complain("sleep", err)
		}
		total += d
	}
	if len(args) == 0 {
		return s.complain("sleep", fmt.Errorf("missing operand"))
	}
	if !Pass(ctx, total) {
		return ExitKilled
	}
	return 0
}

// forever is long enough for "infinity", and can be summed up.
const forever = 1000 * 24 * time.Hour

func sleepTime(arg string) (time.Duration, error) {
	if arg == "infinity" || arg == "inf" {
		return forever, nil
	}
	unit := time.Second
	number := arg
	if i := len(arg) - 1; i >= 0 && strings.ContainsRune("smhd", rune(arg[i])) {
		unit = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[arg[i]]
		number = arg[:i]
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || value < 0 || value != value {
		return 0, fmt.Errorf("invalid time interval %q", arg)
	}
	return time.Duration(min(value*float64(unit), float64(forever))), nil
}

func touch(_ context.Context, s *session, _ string, names []string) int {
	return s.each("touch", names, func(name string) error {
		if _, err := s.files.Stat(s.path(name)); err == nil {
			return nil
		}
		return s.files.WriteFile(s.path(name), nil)
	})
}

// fallocate makes a file as large as is asked for, and leaves one that is larger.
func fallocate(_ context.Context, s *session, args []string) int {
	if len(args) != 3 || args[0] != "-l" {
		return s.complain("fallocate", errors.New("skewrig understands -l SIZE FILE"))
	}
	size, err := fileSize(args[1])
	if err != nil {
		return s.complain("fallocate", err)
	}
	name := s.path(args[2])
	data, err := s.files.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && len(data) < size {
		err = s.files.WriteFile(name, append(data, make([]byte, size-len(data))...))
	}
	if err != nil {
		return s.complain("fallocate", err)
	}
	return 0
}

// fileSize reads a number of bytes, which may end in K, M or G.
func fileSize(arg string) (int, error) {
	number := strings.TrimRight(arg, "KMG")
	unit, known := map[string]int{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[arg[len(number):]]
	value, err := strconv.Atoi(number)
	switch {
	case err != nil || !known || value <= 0:
		return 0, fmt.Errorf("invalid length %q", arg)
	case value > image.MaxFile/unit:
		return 0, fmt.Errorf("length %q: no file here can have more than %d bytes", arg, image.MaxFile)
	}
	return value * unit, nil
}

func rm(_ context.Context, s *session, letters string, names []string) int {
	return s.each("rm", names, func(name string) error {
		mode, err := s.files.Stat(s.path(name))
		switch {
		case err != nil && strings.Contains(letters, "f"):
			return nil
		case err != nil:
			return err
		case mode.IsDir() && !strings.ContainsAny(letters, "rR"):
			return fmt.Errorf("%s: is a directory", s.path(name))
		}
		return s.files.Remove(s.path(name))
	})
}

// Pass waits, and reports false if the process was killed before.
func Pass(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// The exit codes of shells.
const (
	// exitNotFound is a shell's for a command that there isn't.
	exitNotFound = 127
	// exitBySignal is what a shell adds to the signal that ended a command.
	exitBySignal = 128
	ExitKilled   = exitBySignal + int(syscall.SIGKILL)
)

// Main plays a command of a Unix system as the main process of a container.
// Process 1 of a container ignores the signals that it has no handler for, so
// only the kill ends it early.
func Main(ctx context.Context, p *image.Process) int {
	return newSession(p, p.Streams).run(ctx, p.Args, p.Signals, true)
}

// Exec plays a command beside the main process.
func Exec(ctx context.Context, p *image.Process, args []string, streams image.Streams) int {
	return newSession(p, streams).run(ctx, args, streams.Signals, false)
}

// Output runs a script in a container, and returns what it writes, and its exit code.
func Output(ctx context.Context, p *image.Process, script string) (output []byte, code int) {
	var text boundedText
	code = runCommand(ctx, newSession(p, image.Streams{Stdout: &text, Stderr: &text}), []string{"sh", "-c", script})
	return text.Bytes(), code
}

// Implements reports whether a command, by its name or path, can be run.
func Implements(command string) bool { return commands()[path.Base(command)] != nil }
