package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The exit codes of grep, when nothing matches and when it can't look.
const (
	grepNothing = 1
	grepTrouble = 2
)

// grep prints the lines that match an expression. Its options are -E, -i, -q and -v, and its
// expressions are those of Go, which are near to those of -E.
func grep(ctx context.Context, s *session, args []string) int {
	options, args, err := parseOptions("Eiqv", args)
	if err == nil && len(args) == 0 {
		err = errors.New("it takes an expression")
	}
	if err != nil {
		s.complain("grep", err)
		return grepTrouble
	}
	has := func(letter string) bool { return strings.Contains(options, letter) }
	expression := args[0]
	if has("i") {
		expression = "(?i)" + expression
	}
	matches, err := regexp.Compile(expression)
	if err != nil {
		s.complain("grep", err)
		return grepTrouble
	}
	lines, code := s.lines(ctx, args[1:])
	if code != 0 {
		return grepTrouble
	}
	found := slices.DeleteFunc(lines, func(line string) bool { return matches.MatchString(line) == has("v") })
	if !has("q") {
		s.printLines(found)
	}
	if len(found) == 0 {
		return grepNothing
	}
	return 0
}

// sortLines prints lines in the order of their bytes.
func sortLines(ctx context.Context, s *session, _ string, files []string) int {
	lines, code := s.lines(ctx, files)
	slices.Sort(lines)
	s.printLines(lines)
	return code
}

// cut prints a field of each line: -f N, and -d for another delimiter than a tab.
func cut(ctx context.Context, s *session, args []string) int {
	delimiter, field := "\t", 0
	for isOption(args) {
		var option, value string
		option, value, args = nextOption(args)
		number, err := strconv.Atoi(value)
		switch {
		case option == "-f" && err == nil && number > 0:
			field = number
		case option == "-d" && len(value) == 1:
			delimiter = value
		default:
			return s.complain("cut", fmt.Errorf("skewrig understands -f N and -d C, not %s %s", option, value))
		}
	}
	if field == 0 {
		return s.complain("cut", errors.New("it takes a field: -f N"))
	}
	lines, code := s.lines(ctx, args)
	for i, line := range lines {
		if fields := strings.Split(line, delimiter); len(fields) > 1 { // or it is printed as it is
			lines[i] = strings.Join(fields[min(field-1, len(fields)):min(field, len(fields))], "")
		}
	}
	s.printLines(lines)
	return code
}

// wc counts lines, words or bytes of a file, or of the standard input.
func wc(ctx context.Context, s *session, letters string, files []string) int {
	count := map[string]func([]byte) int{
		"l": func(text []byte) int { return bytes.Count(text, []byte("\n")) },
		"w": func(text []byte) int { return len(bytes.Fields(text)) },
		"c": func(text []byte) int { return len(text) },
	}[letters]
	if count == nil || len(files) > 1 {
		return s.complain("wc", errors.New("skewrig understands one of -l, -w and -c, and at most one file"))
	}
	text, code := s.text(ctx, files)
	if code != 0 {
		return code
	}
	s.printLines([]string{strings.Join(append([]string{strconv.Itoa(count(text))}, files...), " ")})
	return 0
}

func (s *session) printLines(lines []string) {
	for _, line := range lines {
		_, _ = io.WriteString(s.stdout, line+"\n")
	}
}
