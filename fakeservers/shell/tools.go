package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func mkdir(_ context.Context, s *session, letters string, names []string) int {
	return s.each("mkdir", names, func(name string) error {
		if _, err := s.files.Stat(s.path(name)); err == nil && !strings.Contains(letters, "p") {
			return fmt.Errorf("%s: file exists", s.path(name))
		}
		return s.files.Mkdir(s.path(name))
	})
}

// env prints the environment, sorted.
func env(_ context.Context, s *session, args []string) int {
	if len(args) > 0 {
		return s.complain("env", errors.New("skewrig doesn't implement arguments"))
	}
	for _, variable := range slices.Sorted(slices.Values(s.env)) {
		fmt.Fprintln(s.stdout, variable)
	}
	return 0
}

// hostname prints the host name: with -f, as /etc/hosts completes it, since there is no DNS.
func hostname(_ context.Context, s *session, args []string) int {
	name := s.files.Hostname()
	switch {
	case len(args) == 0:
		fmt.Fprintln(s.stdout, name)
		return 0
	case !slices.Equal(args, []string{"-f"}):
		return s.complain("hostname", fmt.Errorf("skewrig understands -f, not %s", strings.Join(args, " ")))
	}
	hosts, err := s.readFile("/etc/hosts")
	if err != nil {
		return s.complain("hostname", err)
	}
	for line := range strings.Lines(string(hosts)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 && slices.Contains(fields[1:], name) {
			fmt.Fprintln(s.stdout, fields[1])
			return 0
		}
	}
	return s.complain("hostname", fmt.Errorf("%s: unknown host", name))
}

// date prints the time of this machine.
func date(_ context.Context, s *session, args []string) int {
	if len(args) > 0 {
		return s.complain("date", errors.New("skewrig doesn't implement arguments"))
	}
	fmt.Fprintln(s.stdout, time.Now().UTC().Format(time.UnixDate))
	return 0
}

// id prints the number of the user: -u.
func id(_ context.Context, s *session, args []string) int {
	if !slices.Equal(args, []string{"-u"}) {
		return s.complain("id", fmt.Errorf("skewrig understands -u, not %q", strings.Join(args, " ")))
	}
	fmt.Fprintln(s.stdout, s.files.UID)
	return 0
}

// head prints the first lines of files: -n N.
func head(ctx context.Context, s *session, args []string) int {
	lines := 10
	if len(args) > 1 && args[0] == "-n" {
		number, err := strconv.Atoi(args[1])
		if err != nil || number < 0 {
			return s.complain("head", fmt.Errorf("skewrig understands -n N, not -n %s", args[1]))
		}
		lines, args = number, args[2:]
	}
	_, files, err := parseOptions("", args)
	if err != nil {
		return s.complain("head", err)
	}
	all, code := s.lines(ctx, files)
	s.printLines(all[:min(lines, len(all))])
	return code
}

// sysctl prints kernel parameters, whose names have dots or slashes.
func sysctl(_ context.Context, s *session, _ string, names []string) int {
	return s.each("sysctl", names, func(name string) error {
		if strings.Contains(name, "=") {
			return fmt.Errorf("skewrig doesn't set parameters: %s", name)
		}
		name = strings.ReplaceAll(name, "/", ".")
		value, err := s.readFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
		if err == nil {
			fmt.Fprintf(s.stdout, "%s = %s\n", name, strings.TrimSuffix(string(value), "\n"))
		}
		return err
	})
}

// isOption reports whether arguments begin with an option of one letter.
func isOption(args []string) bool { return len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' }

// nextOption is the option with which arguments begin, its value, which may be an argument of its own, and the others.
func nextOption(args []string) (option, value string, rest []string) {
	option, value, rest = args[0][:2], args[0][2:], args[1:]
	if value == "" && len(rest) > 0 {
		value, rest = rest[0], rest[1:]
	}
	return option, value, rest
}

// tail prints the last lines of files, or what follows a byte: -n N, -c +N.
func tail(ctx context.Context, s *session, args []string) int {
	lines, from := 10, 0
	for isOption(args) {
		var option, value string
		option, value, args = nextOption(args)
		number, err := strconv.Atoi(value)
		switch {
		case err == nil && option == "-n" && number >= 0 && value[0] != '+':
			lines = number
		case err == nil && option == "-c" && value[0] == '+':
			from = number
		default:
			return s.complain("tail", fmt.Errorf("skewrig understands -n N and -c +N, not %s %s", option, value))
		}
	}
	text, code := s.text(ctx, args)
	if from > 0 {
		text = text[min(from-1, len(text)):]
	} else {
		split := bytes.SplitAfter(text, []byte{'\n'})
		if len(split[len(split)-1]) == 0 {
			split = split[:len(split)-1]
		}
		text = bytes.Join(split[max(0, len(split)-lines):], nil)
	}
	_, _ = s.stdout.Write(text)
	return code
}
