// Package shell runs the scripts and commands of a Unix system in a simulated container: a shell, what is in
// busybox, curl and grpc_health_probe. Each does what its namesake does with the options that are common in probes, and
// no more, and refuses the rest by name. Nothing reaches the host: files are the container's, addresses those
// of its rig, and what a shell uses is bounded.
package shell

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// shellBuiltins are the interpreter's commands that a script may use. The others
// look at files of the host, or go round the checks of parseScript.
const shellBuiltins = " : [ break cd continue echo eval exec exit false getopts printf pwd read return set shift test trap true unset wait "

// errRefused ends a script with 127, once a message has said why: to guess would
// be to play another program.
var errRefused = errors.New("the script can't be run")

// sh runs sh [-FLAGS] -c SCRIPT [NAME [ARGUMENT...]], sh [-FLAGS] FILE [ARGUMENT...],
// or sh [-FLAGS], which reads its commands from the standard input. A command that
// can't be played, and a part of a script that can't, ends it with 127, unless
// a person types. What it leaves in the background ends with it.
func sh(ctx context.Context, s *session, args []string) int {
	return s.labeled(ctx, func(ctx context.Context) int { return s.shell(ctx, args) })
}

func (s *session) shell(ctx context.Context, args []string) int {
	var flags []string
	command := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters := strings.Map(keepsOfSet, args[0])
		command = command || strings.Contains(args[0], "c")
		if letters != "-" {
			flags = append(flags, letters)
		}
		args = args[1:]
	}
	switch {
	case len(args) == 0 && command:
		return s.refuse(errors.New("-c requires an argument"))
	case len(args) == 0:
		return interact(ctx, s, flags)
	case command && len(args) == 1:
		args = append(args, "sh")
	case !command:
		script, err := s.readFile(args[0])
		if err != nil {
			return s.refuse(err)
		}
		args = append([]string{string(script)}, args...)
	}
	return runScript(ctx, s, args[0], args[1], slices.Concat(flags, []string{"--"}, args[2:]))
}

// keepsOfSet drops the flags of a shell that set doesn't have.
func keepsOfSet(flag rune) rune {
	if strings.ContainsRune("cils", flag) {
		return -1
	}
	return flag
}

// builtin plays a command that the shell has itself.
func builtin(name string) command {
	return func(ctx context.Context, s *session, args []string) int {
		return runScript(ctx, s, `"$@"`, name, append([]string{"--", name}, args...))
	}
}

// runScript runs a script, with set's options and arguments in params.
func runScript(ctx context.Context, s *session, script, name string, params []string) int {
	file, err := parseScript(script, name)
	if err != nil {
		return s.refuse(err)
	}
	if s.signals != nil {
		s.traps = newTraps(s.signals)
		withTraps(file)
		file.Stmts = append(file.Stmts, parsed(exitCommand+` "$?"`)...) // when a trap of the last command is run
	}
	withRoom(file)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.limit(cancel)
	runner, end, err := newRunner(s, params)
	if err != nil {
		return s.refuse(err)
	}
	defer end()
	return s.status(ctx, runner.Run(ctx, file))
}

// status returns the exit code of what an interpreter has run.
func (s *session) status(ctx context.Context, err error) int {
	status, exited := errors.AsType[interp.ExitStatus](err)
	switch {
	case exited:
		return int(status)
	case ctx.Err() != nil:
		return ExitKilled
	case errors.Is(err, errRefused):
		return exitNotFound
	case err != nil:
		return s.refuse(err)
	}
	return 0
}

// refuse says why a script can't be played.
func (s *session) refuse(err error) int {
	fmt.Fprintf(s.stderr, "sh: %v\n", err)
	return exitNotFound
}

// parseScript reads a script, and refuses what the interpreter would ask the
// host about (FIFOs, owners of files, and home directories of users), and what it
// would answer in another way than a shell.
func parseScript(script, name string) (*syntax.File, error) {
	if len(script) > maxScript || nests(script) {
		return nil, fmt.Errorf("%s: must be at most %d bytes, and %d parts inside one another", name, maxScript, maxNesting)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(script), name)
	if err != nil {
		return nil, err
	}
	return file, check(file)
}

// check refuses a part of a script that can't be played.
func check(part syntax.Node) (err error) {
	otherHome := regexp.MustCompile(`(^|[{,])~[^/,}:]`)
	syntax.Walk(part, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.ProcSubst, *syntax.CoprocClause:
			err = fmt.Errorf("%s: skewrig doesn't implement <(), >() and coproc", node.Pos())
		case *syntax.UnaryTest:
			err = refuseTest(node, node.Op.String())
		case *syntax.BinaryTest:
			err = checkBinaryTest(node)
		case *syntax.Lit:
			if otherHome.MatchString(node.Value) {
				err = fmt.Errorf("%s: skewrig doesn't know the home directories of users: %s", node.Pos(), node.Value)
			}
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return checkLimits(part)
}

// newRunner returns an interpreter that has the container's files, environment
// and commands, and nothing of the host, with set's options and arguments in params.
// After end, nothing is written by what is still in the background.
func newRunner(s *session, params []string) (_ *interp.Runner, end func(), _ error) {
	var mu sync.Mutex
	stdout, stderr := &lockedWriter{mu: &mu, out: s.stdout}, &lockedWriter{mu: &mu, out: untraced{s.stderr}}
	stdin := s.stdin
	if pipe, is := stdin.(*image.Pipe); is {
		stdin = pipe.File // of another reader, the interpreter would read more than it needs
	}
	runner, err := interp.New(
		interp.StdIO(stdin, stdout, stderr),
		interp.Params(params...),
		interp.Dir("/"),
		// The interpreter opens FIFOs in this directory by itself.
		interp.Env(expand.ListEnviron("TMPDIR=/dev/null/none")),
		interp.CallHandler(s.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return s.exec }),
		interp.OpenHandler(s.open),
		interp.StatHandler(func(_ context.Context, name string, _ bool) (fs.FileInfo, error) { return s.stat(name) }),
		interp.AccessHandler(func(_ context.Context, name string, mode interp.AccessMode) error { return s.access(name, mode) }),
		interp.ReadDirHandler2(s.readDir),
	)
	if err != nil {
		return nil, nil, err
	}
	// It takes that directory from the first environment that it is reset with.
	// The option Dir would ask the host.
	runner.Dir = s.path("")
	runner.Reset()
	err = interp.Env(expand.ListEnviron(append([]string{"HOME=/root"}, s.env...)...))(runner)
	runner.Reset()
	return runner, func() {
		stdout.discard()
		stderr.discard()
	}, err
}

// ownCommands begins the names of commands that are no part of the script, and exitCommand is exit as one of them.
const (
	ownCommands = "__skewrig_"
	exitCommand = ownCommands + "exit"
)

// untraced leaves out what set -x writes of such commands.
type untraced struct{ io.Writer }

// Write implements io.Writer. The shell writes each line of a trace by itself.
func (u untraced) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("+ "+ownCommands)) {
		return len(b), nil
	}
	return u.Writer.Write(b)
}

// call checks a command before the interpreter runs it, and plays traps.
func (s *session) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	if err := s.room(&hc, args); err != nil {
		s.exceed(err)
		return nil, err
	}
	if args[0] == roomCommand {
		return []string{":"}, nil
	}
	if args[0] == exitCommand {
		args[0] = "exit"
	}
	args, err := s.traps.call(ctx, hc.Env, args)
	if err != nil {
		return nil, err
	}
	scripts := slices.Clone(args[1:])
	switch name := args[0]; name {
	case "pwd":
		// -P would ask the host about symbolic links.
		return args[:1], nil
	case "trap":
	case "eval":
		scripts = []string{strings.Join(scripts, " ")}
	case "test", "[":
		for _, operator := range refusedTests {
			if slices.Contains(args, operator) {
				return nil, fmt.Errorf("%s: skewrig doesn't implement %s", name, operator)
			}
		}
		return args, nil
	default:
		if interp.IsBuiltin(name) && !strings.Contains(shellBuiltins, " "+name+" ") {
			// By its path it is no builtin, but a command that can't be played.
			return append([]string{"/bin/" + name}, args[1:]...), nil
		}
		return args, nil
	}
	for i, script := range scripts {
		if scripts[i], err = bounded(script, args[0]); err != nil {
			return nil, err
		}
	}
	return append(args[:1:1], scripts...), nil
}

// exec plays a command that is not the shell's own.
func (s *session) exec(ctx context.Context, args []string) error {
	hc := interp.HandlerCtx(ctx)
	env := map[string]string{}
	for name, variable := range hc.Env.Each {
		// Of several with one name, the last one counts.
		delete(env, name)
		if variable.Exported {
			env[name] = name + "=" + variable.String()
		}
	}
	inner := &session{
		files: s.files, dir: hc.Dir, env: slices.Collect(maps.Values(env)),
		stdin: hc.Stdin, stdout: bound(hc.Stdout), stderr: bound(hc.Stderr), probe: s.probe, census: s.census,
	}
	if pipe, is := s.stdin.(*image.Pipe); is && hc.Stdin == io.Reader(pipe.File) {
		inner.stdin, inner.terminal = pipe, s.terminal
	}
	switch code := runCommand(ctx, inner, args); code {
	case 0:
		return nil
	case exitNotFound:
		return errRefused
	default:
		return interp.ExitStatus(code)
	}
}

// open opens a file that a command's input or output is redirected to.
func (s *session) open(ctx context.Context, name string, flag int, _ fs.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	nothing := strings.NewReader("")
	name = (&session{dir: hc.Dir}).path(name)
	devices := map[string]io.Writer{"/dev/null": io.Discard, "/dev/stdout": hc.Stdout, "/dev/stderr": hc.Stderr}
	if device := devices[name]; device != nil {
		return stream{nothing, device}, nil
	}
	data, err := s.files.ReadFile(name)
	if flag&os.O_CREATE == 0 {
		return stream{bytes.NewReader(data), io.Discard}, err
	}
	// A file that isn't there yet has nothing in it.
	if flag&os.O_TRUNC != 0 {
		data = nil
	}
	file := &outputFile{files: s.files, name: name, data: data}
	_, err = file.Write(nil)
	return stream{nothing, file}, err
}

// stream is an open file.
type stream struct {
	io.Reader
	io.Writer
}

// Close does nothing: each write is in the file at once.
func (stream) Close() error { return nil }

// outputFile is a file that is written to.
type outputFile struct {
	files *image.Process
	name  string

	mu   sync.Mutex
	data []byte
}

func (f *outputFile) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = append(f.data, b...)
	if err := f.files.WriteFile(f.name, f.data); err != nil {
		return 0, err
	}
	return len(b), nil
}

// stat describes a file of the container.
func (s *session) stat(name string) (fs.FileInfo, error) {
	mode, err := s.files.Stat(name)
	if err != nil {
		return nil, err
	}
	// The header of a file in an archive is the simplest FileInfo.
	header := tar.Header{Name: name, Mode: int64(mode.Perm()), Typeflag: tar.TypeDir}
	if !mode.IsDir() {
		header.Typeflag = tar.TypeReg
		data, _ := s.files.ReadFile(name)
		header.Size = int64(len(data))
	}
	return header.FileInfo(), nil
}

// access reports what root can't do with a file of the container.
func (s *session) access(name string, mode interp.AccessMode) error {
	file, err := s.files.Stat(name)
	if err == nil && mode&interp.AccessExec != 0 && file.Perm()&0o111 == 0 {
		return fs.ErrPermission
	}
	return err
}

// readDir lists a directory of the container, for words with * and ?.
func (s *session) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	names, err := s.files.ReadDir(name)
	var entries []fs.DirEntry
	for _, child := range names {
		if info, err := s.stat(path.Join(name, child)); err == nil {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	return entries, err
}
