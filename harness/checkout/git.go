package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/process"
)

// repository is what git says of a checkout.
type repository struct {
	top, gitDir, objects, index, exclude, format string
	// settings are those of the checkout, and of the user, that say which files are the same.
	settings []string
}

// find finds the repository of the checkout that a directory is in. Git decides with the user's
// configuration whether the checkout may be read (safe.directory).
func find(ctx context.Context, dir string) (repository, error) {
	environ := withoutGit("GIT_CONFIG", "GIT_CEILING", "GIT_DISCOVERY")
	found, err := git(ctx, dir, environ, "rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir",
		"--git-path", "objects", "--git-path", "index", "--git-path", "info/exclude", "--show-object-format")
	if err != nil {
		return repository{}, err
	}
	lines := strings.Split(found, "\n")
	if len(lines) != 6 {
		return repository{}, errors.New("its path has a line break")
	}
	r := repository{top: lines[0], gitDir: lines[1], objects: lines[2], index: lines[3], exclude: lines[4], format: lines[5]}
	if _, err := os.Lstat(filepath.Join(r.top, ".git")); err != nil {
		return repository{}, fmt.Errorf("its configuration says that its files are in %s, which has no .git", r.top)
	}
	if excludes, err := git(ctx, "/", environ, "config", "--type=path", "--get", "core.excludesFile"); err == nil {
		r.settings = append(r.settings, "-c", "core.excludesFile="+excludes)
	}
	same, _ := git(ctx, dir, environ, "config", "--null", "--get-regexp", `^core\.(filemode|symlinks|ignorecase|autocrlf|eol)$`) // there may be none
	for setting := range strings.SplitSeq(strings.TrimRight(same, "\x00"), "\x00") {
		if setting != "" {
			r.settings = append(r.settings, "-c", strings.Replace(setting, "\n", "=", 1))
		}
	}
	return r, nil
}

// theirs runs git with the repository of the checkout: only what reads neither its work tree nor
// its index, for which its configuration can name programs.
func (r repository) theirs(ctx context.Context, args ...string) (string, error) {
	return git(ctx, r.top, quiet("GIT_DIR="+r.gitDir), args...)
}

// gitDir is a repository of its own that has the objects of the checkout: neither the
// configuration of the checkout, with its filters, nor its hooks and attributes apply.
func (c *Checkout) gitDir() string { return filepath.Join(c.State, "git") }

// create makes the repository.
func (c *Checkout) create() error {
	for _, dir := range []string{"objects/info", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(c.gitDir(), filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	config := "[core]\n\trepositoryFormatVersion = 0\n"
	if c.repository.format != "sha1" {
		config = "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = " + c.repository.format + "\n"
	}
	exclude, err := files.Read(c.repository.exclude, files.MaxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": config, "info/exclude": string(exclude),
		"objects/info/alternates": alternate(c.repository.objects) + "\n",
	} {
		if err := files.WriteBytes(filepath.Join(c.gitDir(), filepath.FromSlash(name)), 0o600, []byte(text)); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(c.State, "objects")) // of an earlier version
}

// alternate is a path as git reads it: in quotes, as a string of C, if it begins with one.
func alternate(path string) string {
	if !strings.HasPrefix(path, `"`) && !strings.HasPrefix(path, "#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// maxIndex is the limit of an index: that of Kubernetes has 3 MB.
const maxIndex = 1 << 30

// copyIndex copies the index of the checkout, which knows the files that have not changed since.
func (c *Checkout) copyIndex() error {
	shared, err := filepath.Glob(filepath.Join(filepath.Dir(c.repository.index), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, from := range append(shared, c.repository.index) {
		text, err := files.Read(from, maxIndex)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = files.WriteBytes(filepath.Join(c.gitDir(), filepath.Base(from)), 0o600, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// own runs git with the repository of its own, on a work tree and its index.
func (c *Checkout) own(ctx context.Context, workTree, index string, args ...string) ([]byte, error) {
	environ := quiet("GIT_DIR="+c.gitDir(), "GIT_WORK_TREE="+workTree, "GIT_INDEX_FILE="+index)
	return run(ctx, workTree, environ, c.repository.settings, args...)
}

// withoutGit returns the environment without the variables of git, but for some by how their names
// begin.
func withoutGit(but ...string) []string {
	return slices.DeleteFunc(process.UserEnv(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") && !slices.ContainsFunc(but, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

// quiet returns an environment in which git reads no configuration but that of a repository, and
// fetches nothing.
func quiet(more ...string) []string {
	return slices.Concat(withoutGit(), []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0",
	}, more)
}

// git runs git and returns what it prints, without the last line break.
func git(ctx context.Context, dir string, environ []string, args ...string) (string, error) {
	out, err := run(ctx, dir, environ, nil, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// always keeps monitors of file systems and hooks of the user out, and names as they are.
var always = []string{
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "core.attributesFile=/dev/null",
}

func run(ctx context.Context, dir string, environ, settings []string, args ...string) ([]byte, error) {
	cmd := process.Command{
		Name: "git " + args[0], Path: "git", Args: slices.Concat(always, settings, args), Dir: dir,
		Env: append(environ, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"),
	}
	ended, err := cmd.Run(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("reading a checkout needs git in PATH: %w", err)
	}
	return ended.Stdout, err
}
