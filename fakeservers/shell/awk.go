package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/benhoyt/goawk/interp"
	"github.com/benhoyt/goawk/parser"
)

// awk runs a program over its standard input or one file. Its options are -F and -v. The program
// can't start others, nor open files: the interpreter would take those of the host.
func awk(ctx context.Context, s *session, args []string) int {
	const trouble = 2 // the exit code of awk that can't run its program
	vars, args, err := awkVariables(args)
	if err == nil && (len(args) == 0 || len(args) > 2) {
		err = errors.New("skewrig understands -F FS, -v NAME=VALUE, a program and at most one file")
	}
	if err != nil {
		s.complain("awk", err)
		return trouble
	}
	program, err := parser.ParseProgram([]byte(args[0]), nil)
	if err != nil {
		s.complain("awk", err)
		return trouble
	}
	input, code := s.awkInput(ctx, args[1:])
	if code != 0 {
		return trouble
	}
	runner, err := interp.New(program)
	if err == nil {
		code, err = runner.ExecuteContext(ctx, &interp.Config{
			Argv0: "awk", Stdin: input, Output: s.stdout, Error: s.stderr, Vars: vars, Environ: pairs(s.env),
			NoExec: true, NoFileReads: true, NoFileWrites: true,
		})
	}
	switch {
	case ctx.Err() != nil:
		return ExitKilled
	case err != nil:
		s.complain("awk", err)
		return trouble
	}
	return code
}

// awkVariables parts awk's options from its other arguments, as names and values in turn.
func awkVariables(args []string) (vars, rest []string, _ error) {
	for isOption(args) {
		if strings.HasPrefix(args[0], "--") {
			return vars, args[1:], nil
		}
		var option, value string
		option, value, args = nextOption(args)
		name, of, assigns := strings.Cut(value, "=")
		switch {
		case option == "-F":
			vars = append(vars, "FS", value)
		case option == "-v" && assigns:
			vars = append(vars, name, of)
		default:
			return nil, nil, fmt.Errorf("skewrig doesn't implement %s %s", option, value)
		}
	}
	return vars, args, nil
}

// awkInput is the file, or the standard input if there is none.
func (s *session) awkInput(ctx context.Context, files []string) (_ io.Reader, code int) {
	if len(files) == 0 {
		return struct{ io.Reader }{s.input(ctx)}, 0 // the interpreter would close it
	}
	text, code := s.text(ctx, files)
	return bytes.NewReader(text), code
}

// pairs are the names and values of an environment in turn.
func pairs(env []string) []string {
	all := []string{} // not nil: that would be the host's environment
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		all = append(all, name, value)
	}
	return all
}
