package agnhost

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
	"time"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// session is where commands run: the container's files, and their output.
type session struct {
	files          *image.Process
	stdout, stderr io.Writer
}

// command plays a Unix command: its arguments without its name, its exit code.
type command func(ctx context.Context, s *session, args []string) int

// commands returns what can be run, by name. Each does what its namesake does
// with the options that are common in probes, and no more.
func commands() map[string]command {
	constant := func(code int) command {
		return func(context.Context, *session, []string) int { return code }
	}
	return map[string]command{
		"true":  constant(0),
		":":     constant(0),
		"false": constant(1),
		"cat":   cat,
		"ls":    ls,
		"test":  test,
		"[":     test,
		"echo":  echo,
		"sleep": sleep,
		"touch": touch,
		"rm":    rm,
		"sh":    sh,
		"bash":  sh,

		"fallocate":         fallocate,
		"grpc_health_probe": grpcHealthProbe,
	}
}

// runCommand runs a command, by its name or path.
func runCommand(ctx context.Context, s *session, args []string) int {
	known := commands()
	if len(args) > 0 {
		if run := known[path.Base(args[0])]; run != nil {
			return run(ctx, s, args[1:])
		}
	}
	return notPlayed(s.stderr, args, slices.Sorted(maps.Keys(known)))
}

// complain writes to the standard error as Unix commands do, and returns 1.
func (s *session) complain(name string, err error) int {
	fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
	return 1
}

// options splits the arguments into single-letter options and the rest.
func options(args []string) (letters string, rest []string) {
	for i, arg := range args {
		if arg == "--" {
			return letters, append(rest, args[i+1:]...)
		}
		if len(arg) > 1 && arg[0] == '-' {
			letters += arg[1:]
			continue
		}
		rest = append(rest, arg)
	}
	return letters, rest
}

func cat(_ context.Context, s *session, args []string) int {
	code := 0
	for _, name := range args {
		data, err := s.files.ReadFile(name)
		if err != nil {
			code = s.complain("cat", err)
			continue
		}
		_, _ = s.stdout.Write(data)
	}
	return code
}

func ls(_ context.Context, s *session, args []string) int {
	_, names := options(args)
	if len(names) == 0 {
		names = []string{"/"}
	}
	code := 0
	for _, name := range names {
		mode, err := s.files.Stat(name)
		children := []string{name}
		if err == nil && mode.IsDir() {
			children, err = s.files.ReadDir(name)
		}
		if err != nil {
			code = s.complain("ls", err)
			continue
		}
		for _, child := range children {
			fmt.Fprintln(s.stdout, child)
		}
	}
	return code
}

func echo(_ context.Context, s *session, args []string) int {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	_, _ = io.WriteString(s.stdout, strings.Join(args, " ")+end)
	return 0
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
	if !pass(ctx, total) {
		return exitKilled
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

func touch(_ context.Context, s *session, args []string) int {
	code := 0
	_, names := options(args)
	for _, name := range names {
		if _, err := s.files.Stat(name); err == nil {
			continue
		}
		if err := s.files.WriteFile(name, nil); err != nil {
			code = s.complain("touch", err)
		}
	}
	return code
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
	data, err := s.files.ReadFile(args[2])
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && len(data) < size {
		err = s.files.WriteFile(args[2], append(data, make([]byte, size-len(data))...))
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

func rm(_ context.Context, s *session, args []string) int {
	letters, names := options(args)
	code := 0
	for _, name := range names {
		mode, err := s.files.Stat(name)
		if err == nil && mode.IsDir() && !strings.ContainsAny(letters, "rR") {
			err = fmt.Errorf("%s: is a directory", name)
		} else if err == nil {
			err = s.files.Remove(name)
		} else if strings.Contains(letters, "f") {
			continue
		}
		if err != nil {
			code = s.complain("rm", err)
		}
	}
	return code
}

// test evaluates one condition: a file's, a text's, a comparison.
func test(_ context.Context, s *session, args []string) int {
	if len(args) > 0 && args[len(args)-1] == "]" {
		args = args[:len(args)-1]
	}
	negate := len(args) > 1 && args[0] == "!"
	if negate {
		args = args[1:]
	}
	holds, err := condition(s.files, args)
	if err != nil {
		s.complain("test", err)
		return 2
	}
	if holds == negate {
		return 1
	}
	return 0
}

func condition(files *image.Process, args []string) (bool, error) {
	switch {
	case len(args) == 0:
		return false, nil
	case len(args) == 1:
		return args[0] != "", nil
	case len(args) == 2:
		return fileCondition(files, args[0], args[1])
	case len(args) == 3 && (args[1] == "=" || args[1] == "=="):
		return args[0] == args[2], nil
	case len(args) == 3 && args[1] == "!=":
		return args[0] != args[2], nil
	}
	return false, fmt.Errorf("%q: skewrig understands -e, -f, -d, -s, -n, -z, = and !=", strings.Join(args, " "))
}

func fileCondition(files *image.Process, operator, operand string) (bool, error) {
	mode, err := files.Stat(operand)
	exists := err == nil
	switch operator {
	case "-n":
		return operand != "", nil
	case "-z":
		return operand == "", nil
	case "-e", "-r":
		return exists, nil
	case "-f":
		return exists && mode.IsRegular(), nil
	case "-d":
		return exists && mode.IsDir(), nil
	case "-s":
		data, err := files.ReadFile(operand)
		return err == nil && len(data) > 0, nil
	}
	return false, fmt.Errorf("%q: skewrig understands -e, -f, -d, -s, -n, -z, = and !=", operator)
}
