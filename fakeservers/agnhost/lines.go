package agnhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
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
	var options strings.Builder
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters := args[0][1:]
		if strings.Trim(letters, "Eiqv") != "" {
			s.complain("grep", fmt.Errorf("skewrig understands -E, -i, -q and -v, not %s", args[0]))
			return grepTrouble
		}
		options.WriteString(letters)
		args = args[1:]
	}
	has := func(letter string) bool { return strings.Contains(options.String(), letter) }
	if len(args) == 0 {
		s.complain("grep", errors.New("it takes an expression"))
		return grepTrouble
	}
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

// sortLines prints lines in the order of their bytes. It has no options.
func sortLines(ctx context.Context, s *session, args []string) int {
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return s.complain("sort", fmt.Errorf("skewrig understands no options, not %s", args[0]))
	}
	lines, code := s.lines(ctx, args)
	slices.Sort(lines)
	s.printLines(lines)
	return code
}

// lines are those of files, or of the standard input if there are none, and the exit code of
// who reads them.
func (s *session) lines(ctx context.Context, files []string) (lines []string, code int) {
	inner := *s
	var all bytes.Buffer
	inner.stdout = &all
	code = cat(ctx, &inner, files)
	for line := range strings.Lines(all.String()) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines, code
}

func (s *session) printLines(lines []string) {
	for _, line := range lines {
		_, _ = io.WriteString(s.stdout, line+"\n")
	}
}
