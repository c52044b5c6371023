// Package checkout reads a git checkout of Kubernetes as it is, what is not committed
// included, without touching it: git gets a repository of its own, with the objects of the
// checkout. No program runs that the configuration of the checkout names.
package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// Checkout is the files of a git checkout at one moment.
type Checkout struct {
	// Dir is the top of the work tree.
	Dir string
	// Ref is the commit, branch or tag that was asked for. If unset, the files are those of
	// the work tree.
	Ref string
	// Commit is the one that the files are of, or come after.
	Commit string
	// Dirty is true if they are not as in Commit.
	Dirty bool
	// Tree is the digest of the files, as git has it.
	Tree string
	// Version is what the checkout calls itself (hack/lib/version.sh of k8s.io/kubernetes),
	// with the beginning of Tree: v1.90.0-alpha.1.12+0123456789abcd-dirty.01234567.
	Version release.Version

	// State is the directory for what is known of the checkout.
	State string

	repository repository
}

// Open reads the files of the checkout that a directory is in: those of the work tree, or if
// ref is set, those of a commit. State is a directory that is kept between calls for the
// same directory, so that files which have not changed are not read again.
func Open(ctx context.Context, dir, ref, state string) (*Checkout, error) {
	found, err := find(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s is no git checkout: %w", dir, err)
	}
	if strings.HasPrefix(ref, "-") {
		return nil, fmt.Errorf("%q can't name a commit", ref)
	}
	c := &Checkout{Dir: found.top, Ref: ref, State: state, repository: found}
	if err := c.create(); err != nil {
		return nil, err
	}
	commit := ref
	if commit == "" {
		commit = "HEAD"
	}
	if c.Commit, err = found.theirs(ctx, "rev-parse", "--verify", "--quiet", commit+"^{commit}"); err != nil {
		return nil, fmt.Errorf("the checkout %s has no commit %s", c.Dir, commit)
	}
	committed, err := found.theirs(ctx, "rev-parse", c.Commit+"^{tree}")
	if err != nil {
		return nil, err
	}
	c.Tree = committed
	if ref == "" {
		if c.Tree, err = c.workTree(ctx); err != nil {
			return nil, fmt.Errorf("reading the files of %s: %w", c.Dir, err)
		}
	}
	c.Dirty = c.Tree != committed
	c.Version, err = c.version(ctx)
	return c, err
}

// workTree is the tree of what the work tree has now, but for files that git ignores.
func (c *Checkout) workTree(ctx context.Context) (string, error) {
	if err := c.copyIndex(); err != nil {
		return "", err
	}
	index := filepath.Join(c.gitDir(), "index")
	if err := c.forgetSubmodules(ctx, index); err != nil {
		return "", err
	}
	if _, err := c.own(ctx, c.Dir, index, "add", "--all"); err != nil {
		return "", err
	}
	tree, err := c.own(ctx, c.Dir, index, "write-tree")
	return strings.TrimSpace(string(tree)), err
}

// forgetSubmodules removes submodules that have a repository from an index. Git adds them again.
// For one that it knows, it would run git there, with the configuration of the submodule.
func (c *Checkout) forgetSubmodules(ctx context.Context, index string) error {
	listed, err := c.own(ctx, c.Dir, index, "ls-files", "-z", "--stage")
	if err != nil {
		return err
	}
	remove := []string{"update-index", "--force-remove", "--"}
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		_, name, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(entry, "160000 ") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(c.Dir, name, ".git")); err == nil {
			remove = append(remove, name)
		}
	}
	if len(remove) > 3 {
		_, err = c.own(ctx, c.Dir, index, remove...)
	}
	return err
}

// ask has git tell something of the files.
func (c *Checkout) ask(ctx context.Context, args ...string) ([]byte, error) {
	return c.own(ctx, c.Dir, filepath.Join(c.State, "no-index"), args...)
}

// Diff is what the files have that the commit does not, as git apply takes it. It is empty
// if nothing is.
func (c *Checkout) Diff(ctx context.Context) (string, error) {
	if !c.Dirty {
		return "", nil
	}
	out, err := c.ask(ctx, "diff-tree", "-p", "--binary", "--no-color", "--no-ext-diff", c.Commit, c.Tree)
	return string(out), err
}

// File returns the text of a file.
func (c *Checkout) File(ctx context.Context, path string) ([]byte, error) {
	return c.ask(ctx, "cat-file", "blob", c.Tree+":"+path)
}

// Digest is that of some files and directories. What is missing counts as such.
func (c *Checkout) Digest(ctx context.Context, paths ...string) (string, error) {
	out, err := c.ask(ctx, append([]string{"ls-tree", c.Tree, "--"}, paths...)...)
	return string(out), err
}

// CopyTo makes a directory have the files, and no others that git does not ignore. What it
// has already is not written again, so that the times of files stay.
func (c *Checkout) CopyTo(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := c.own(ctx, dir, dir+".index", "read-tree", "--reset", "-u", c.Tree); err != nil {
		return fmt.Errorf("copying %s: %w", c.Dir, err)
	}
	return nil
}

// described is what git says of a commit after a tag: how many commits after it, and which.
var described = regexp.MustCompile(`^(.*)-(\d+)-g([0-9a-f]+)$`)

// version is what the checkout calls itself. Without a tag there is nothing to call it.
func (c *Checkout) version(ctx context.Context) (release.Version, error) {
	said, err := c.repository.theirs(ctx, "describe", "--tags", "--match=v*", "--abbrev=14", c.Commit)
	if err != nil {
		return "", &NoVersion{Dir: c.Dir, Commit: c.Commit}
	}
	return c.called(said)
}

// called turns what git describe said into a version.
func (c *Checkout) called(said string) (release.Version, error) {
	base, build := said, ""
	if parts := described.FindStringSubmatch(said); parts != nil {
		// v1.90.0-alpha.1-12-g… is v1.90.0-alpha.1.12+…, and v1.90.1-12-g… v1.90.1-12+….
		joint := "-"
		if strings.Contains(parts[1], "-") {
			joint = "."
		}
		base, build = parts[1]+joint+parts[2], parts[3]
	}
	if c.Dirty {
		build = strings.TrimPrefix(build+"-dirty", "-")
	}
	if build != "" {
		build += "."
	}
	v := release.Version(base + "+" + build + c.Tree[:8])
	if _, err := release.Parse(string(v.WithoutBuild())); err != nil {
		return "", fmt.Errorf("the tag of %s: %w", c.Dir, err)
	}
	return v, nil
}

// NoVersion is the error for a checkout in which no tag says which version it is.
type NoVersion struct{ Dir, Commit string }

// Error implements error.
func (e *NoVersion) Error() string {
	return fmt.Sprintf("the checkout %s does not tell its version: no tag v… comes before commit %.12s; get tags with git fetch --tags (of a shallow clone with --unshallow)", e.Dir, e.Commit)
}
