// Package gotool runs the Go command as builds need it: with settings that shape no binary behind its key, with its
// progress, and with errors that say what to do.
package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/process"
)

// Run runs the Go command in a directory and returns its output. An
// error carries the end of what it said.
func Run(ctx context.Context, dir string, args []string) (string, error) {
	return RunTelling(ctx, dir, args, nil)
}

// RunTelling is goCommand, and calls a function with each line that it says while it works.
func RunTelling(ctx context.Context, dir string, args []string, tell func(line string), env ...string) (string, error) {
	environ, err := goEnviron()
	if err != nil {
		return "", fmt.Errorf("reading the configuration of the Go command: %w", err)
	}
	var said bytes.Buffer
	cmd := process.Command{Path: "go", Args: args, Dir: dir, Env: slices.Concat(environ, env), Stderr: &said, Nice: behind}
	if tell != nil {
		cmd.Stderr = io.MultiWriter(&said, &liner{tell: tell})
	}
	ended, err := cmd.Run(ctx)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("building a component needs the Go command in PATH (https://go.dev/dl): %w", err)
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		text := strings.ReplaceAll(steps.ReplaceAllString(said.String(), ""), "\t", "  ")
		if missing := unreachable(text); missing != nil {
			return string(ended.Stdout), missing
		}
		return string(ended.Stdout), fmt.Errorf("%w\n%s%s", err, process.LastLines(text, 30), onLine(newerGo(text)))
	}
	return string(ended.Stdout), nil
}

// onLine puts a text, if there is one, on a new line.
func onLine(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + text
}

// needsNewer is what the Go command says of a module for a newer Go.
var needsNewer = regexp.MustCompile(`requires go >= (\d[\w.]*)`)

// NeedsGo says what to do if a release needs a version of Go.
func NeedsGo(version string) string {
	return fmt.Sprintf("the release needs Go %s or newer: install it (https://go.dev/dl), or set GOTOOLCHAIN=auto to let the Go command download it", version)
}

// newerGo says so if the Go command printed that a release needs a newer Go.
func newerGo(text string) string {
	found := needsNewer.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return NeedsGo(strings.TrimSuffix(found[1], "."))
}

// absentModule finds in an error of the Go command that a module does not exist. Of the answers
// of a proxy, only these two mean that (go.dev/ref/mod#goproxy-protocol), and a directory of
// files does not have it.
var absentModule = regexp.MustCompile(`\b(404|410)\b|unknown revision|not found|reading file://\S+: no such file`)

// IsAbsent reports whether an error of the Go command says that a module does not exist.
func IsAbsent(err error) bool { return absentModule.MatchString(err.Error()) }

// status finds in an error of the Go command how a proxy answered.
var status = regexp.MustCompile(`: ([45]\d\d [A-Z][A-Za-z ]+)`)

// Answered is how a proxy answered, if an error of the Go command is about that.
func Answered(text string) (answer string, is bool) {
	found := status.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	return strings.TrimSpace(found[1]), true
}

// Refusal says that a proxy did not answer what it was asked, if an error of the Go command
// is about that.
func Refusal(err error) string {
	answer, is := Answered(err.Error())
	if !is {
		return ""
	}
	return "the module proxy refuses to say (" + answer + ": see go env GOPROXY)"
}

// downloading and compiling are the lines in which the Go command says what it downloads, and
// with -v each package that it begins to compile.
const (
	downloading = `^go: downloading .*`
	compiling   = `^[^\s:]+`
)

var (
	downloads = regexp.MustCompile(downloading + `$`)
	compiles  = regexp.MustCompile(compiling + `$`)
	steps     = regexp.MustCompile(`(?m)(` + downloading + `|` + compiling + `)\n`)
)

// behind is the priority of compilers (as of nice): they leave the processor to cells that run.
const behind = 10

// liner calls a function with each line that is written.
type liner struct {
	tell func(line string)
	rest []byte
}

func (l *liner) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(text), nil
		}
		l.tell(string(line))
		l.rest = rest
	}
}

// Download fetches a module in a version, if it is not there yet.
func Download(ctx context.Context, dir, module string) (string, error) {
	out, err := Run(ctx, dir, []string{"mod", "download", "-json", module})
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(out), &answer); jsonErr == nil && answer.Error != "" {
		if err = unreachable(answer.Error); err == nil {
			err = errors.New(answer.Error + onLine(newerGo(answer.Error)))
		}
	}
	return answer.Dir, err
}
