package agnhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sh runs a script as far as probes and the containers of tests go: commands
// with quoted words, one after the other, chained by && and ||, with their
// output to a file. Anything else ends it with 127: to guess would be to play
// another program.
func sh(ctx context.Context, s *session, args []string) int {
	if len(args) == 0 {
		// An interactive shell with no terminal reads the end of its input.
		return 0
	}
	letters := strings.TrimLeft(args[0], "-")
	if len(args) < 2 || !strings.HasPrefix(args[0], "-") || strings.Trim(letters, "ec") != "" || !strings.Contains(letters, "c") {
		fmt.Fprintf(s.stderr, "sh: skewrig understands sh -c SCRIPT\n")
		return exitNotFound
	}
	steps, err := parseScript(args[1])
	if err != nil {
		fmt.Fprintf(s.stderr, "sh: %v: skewrig understands commands, quotes, ; && || > and >>\n", err)
		return exitNotFound
	}
	return runScript(ctx, s, steps, strings.Contains(letters, "e"))
}

// step is a command of a script.
type step struct {
	// after is what joins the command to the one before it: ";", "&&", "||".
	after string
	args  []string
	// file, if set, takes the output; more of it if add is set.
	file string
	add  bool
}

// runScript runs the steps. If strict, the first that fails ends it, as with
// sh -e.
func runScript(ctx context.Context, s *session, steps []step, strict bool) int {
	code := 0
	for i, step := range steps {
		if step.after == "&&" && code != 0 || step.after == "||" && code == 0 {
			continue
		}
		if step.args[0] == "exit" {
			return exitCode(step.args[1:], code)
		}
		code = runStep(ctx, s, step)
		if ctx.Err() != nil || code == exitNotFound {
			return code
		}
		chained := i+1 < len(steps) && steps[i+1].after != ";"
		if strict && code != 0 && !chained {
			return code
		}
	}
	return code
}

func exitCode(args []string, last int) int {
	if len(args) == 0 {
		return last
	}
	code, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	return code & 0xff
}

func runStep(ctx context.Context, s *session, step step) int {
	if step.file == "" {
		return runCommand(ctx, s, step.args)
	}
	var output bytes.Buffer
	// The file is there from the start, even if the command takes long.
	if err := s.redirect(step, nil); err != nil {
		return s.complain("sh", err)
	}
	code := runCommand(ctx, &session{files: s.files, stdout: &output, stderr: s.stderr}, step.args)
	if err := s.redirect(step, output.Bytes()); err != nil {
		return s.complain("sh", err)
	}
	return code
}

func (s *session) redirect(step step, output []byte) error {
	if step.file == "/dev/null" {
		return nil
	}
	if step.add {
		// A file that isn't there yet has nothing in it.
		before, _ := s.files.ReadFile(step.file)
		output = append(before, output...)
	}
	return s.files.WriteFile(step.file, output)
}

// token is a word or an operator of a script.
type token struct {
	text     string
	operator bool
}

// parseScript reads a script. An empty one has no steps.
func parseScript(script string) ([]step, error) {
	tokens, err := tokenize(script)
	if err != nil {
		return nil, err
	}
	var steps []step
	current := step{after: ";"}
	finish := func(after string) error {
		switch {
		case len(current.args) > 0:
			steps = append(steps, current)
		case current.file != "" || after != ";" || current.after != ";":
			return fmt.Errorf("nothing to run before or after %s", after)
		}
		current = step{after: after}
		return nil
	}
	for i := 0; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case !t.operator:
			current.args = append(current.args, t.text)
		case t.text == ">" || t.text == ">>":
			if i+1 == len(tokens) || tokens[i+1].operator || current.file != "" {
				return nil, fmt.Errorf("%s without a file of its own", t.text)
			}
			i++
			current.file, current.add = tokens[i].text, t.text == ">>"
		default:
			if err := finish(t.text); err != nil {
				return nil, err
			}
		}
	}
	return steps, finish(";")
}

// tokenize splits a script into words and operators.
func tokenize(script string) ([]token, error) {
	var tokens []token
	for rest := strings.TrimLeft(script, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		operator := operatorAt(rest)
		if operator == "" {
			word, n, err := wordAt(rest)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, token{text: word})
			rest = rest[n:]
			continue
		}
		rest = rest[len(operator):]
		if operator == "\n" {
			operator = ";"
		}
		tokens = append(tokens, token{text: operator, operator: true})
	}
	return tokens, nil
}

func operatorAt(text string) string {
	for _, operator := range []string{"&&", "||", ">>", ">", ";", "\n"} {
		if strings.HasPrefix(text, operator) {
			return operator
		}
	}
	return ""
}

// special are the characters that mean something to a shell and nothing here.
const special = "$`|&()<*?{}#!~\\"

// wordAt reads the word at the start of text, and how long it is there.
func wordAt(text string) (word string, n int, err error) {
	var b strings.Builder
	for n < len(text) && !strings.ContainsRune(" \t\n;>", rune(text[n])) && operatorAt(text[n:]) == "" {
		c := text[n]
		switch {
		case c == '\'' || c == '"':
			quoted, _, found := strings.Cut(text[n+1:], string(c))
			if !found {
				return "", 0, errors.New("a quote without an end")
			}
			if c == '"' && strings.ContainsAny(quoted, "$`\\") {
				return "", 0, fmt.Errorf("%q", quoted)
			}
			b.WriteString(quoted)
			n += len(quoted) + 2
		case strings.IndexByte(special, c) >= 0 && (c != '!' || n != 0):
			return "", 0, fmt.Errorf("%q", c)
		default:
			b.WriteByte(c)
			n++
		}
	}
	return b.String(), n, nil
}
