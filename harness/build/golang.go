package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/process"
)

// modfileName is the lock's name in a work directory. The Go command wants a
// go.mod beside it, and takes the sums from the file of the same name.
const modfileName = "lock.mod"

// stub is the go.mod of a cache.
const stub = "module cache\n"

// ErrNoRelease is the error for a release that can't be had as a Go module, whichever it
// is.
var ErrNoRelease error = &NoRelease{}

// NoRelease is the error for one such release.
type NoRelease struct {
	Target Target
	// Near are releases that there are, the likeliest first.
	Near []string
	// Said is how the Go command puts it.
	Said string
}

// Error implements error.
func (e *NoRelease) Error() string {
	of := string(e.Target.Component)
	if e.Target.Component.isKubernetes() {
		of = "Kubernetes"
	}
	message := fmt.Sprintf("%s %s does not exist", of, e.Target.Version)
	if len(e.Near) > 0 {
		message += "; near it are " + strings.Join(e.Near, ", ")
	}
	return message
}

// Is reports whether another error is ErrNoRelease.
func (e *NoRelease) Is(other error) bool { return other == ErrNoRelease }

// goCommand runs the Go command in a directory and returns its output. An
// error carries the end of what it said.
func goCommand(ctx context.Context, dir string, args []string) (string, error) {
	return goTelling(ctx, dir, args, nil)
}

// goTelling is goCommand, and calls a function with each line that it says while it works.
func goTelling(ctx context.Context, dir string, args []string, tell func(line string), env ...string) (string, error) {
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

// needsGo says what to do if a release needs a version of Go.
func needsGo(version string) string {
	return fmt.Sprintf("the release needs Go %s or newer: install it (https://go.dev/dl), or set GOTOOLCHAIN=auto to let the Go command download it", version)
}

// newerGo says so if the Go command printed that a release needs a newer Go.
func newerGo(text string) string {
	found := needsNewer.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return needsGo(strings.TrimSuffix(found[1], "."))
}

// downloadModule fetches the module of a release, if it is not there yet, and
// returns its directory.
func downloadModule(ctx context.Context, dir string, t Target) (string, error) {
	return download(ctx, dir, t, t.module())
}

// download does so for a module of a target's release. If the lock of that is committed, the module has to be the one
// in it: no checksum database is asked then.
func download(ctx context.Context, dir string, t Target, module string) (string, error) {
	from := dir
	if l, err := readLock(locks, "locks/"+lockName(t)); err == nil {
		if from, err = os.MkdirTemp(dir, "sums-"); err != nil {
			return "", err
		}
		defer os.RemoveAll(from)
		if err := errors.Join(writeFile(filepath.Join(from, "go.mod"), []byte(stub)), writeFile(filepath.Join(from, "go.sum"), l.sum)); err != nil {
			return "", err
		}
	}
	found, err := downloadVersion(ctx, from, module)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, exec.ErrNotFound): // the Go command itself
		return "", err
	case errors.Is(err, ErrUnreachable):
		return "", err
	case absent.MatchString(err.Error()):
		return "", noRelease(ctx, dir, t, err)
	case refusal(err) != "":
		return "", fmt.Errorf("downloading %s: %s: %w", module, refusal(err), err)
	default:
		return "", fmt.Errorf("downloading %s: %w", module, err)
	}
}

// absent finds in an error of the Go command that there is no such module. Of the answers
// of a proxy, only these two mean that (go.dev/ref/mod#goproxy-protocol), and a directory of
// files does not have it.
var absent = regexp.MustCompile(`\b(404|410)\b|unknown revision|not found|reading file://\S+: no such file`)

// status finds in an error of the Go command how a proxy answered.
var status = regexp.MustCompile(`: ([45]\d\d [A-Z][A-Za-z ]+)`)

// refusal says that a proxy did not answer what it was asked, if an error of the Go command
// is about that.
func refusal(err error) string {
	answer := status.FindStringSubmatch(err.Error())
	if answer == nil {
		return ""
	}
	return "the module proxy refuses to say (" + strings.TrimSpace(answer[1]) + ": see go env GOPROXY)"
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
