package build

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/checkout"
	"github.com/skewrig/skewrig/harness/release"
)

// featuresMain prints the feature gates of the Kubernetes that it is compiled with, as
// release.ParseGates reads them.
//
//go:embed features.go.txt
var featuresMain []byte

// features asks a checkout for its feature gates. The answer is kept in its state for as long
// as nothing changes that it is made of.
func (s store) features(ctx context.Context, c *checkout.Checkout) ([]release.Gate, error) {
	of, err := c.Digest(ctx, "go.mod", "pkg/features", "staging")
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(c.State, "gates-"+digest([]byte(of), featuresMain)[:16])
	text, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = s.runFeatures(ctx, c); err == nil {
			err = writeFile(kept, text)
		}
	}
	if err != nil {
		return nil, err
	}
	return release.ParseGates(string(text))
}

func (s store) runFeatures(ctx context.Context, c *checkout.Checkout) ([]byte, error) {
	if err := c.CopyTo(ctx, copyDir(c.State)); err != nil {
		return nil, err
	}
	l, err := lockSource(ctx, c, copyDir(c.State))
	if err != nil {
		return nil, err
	}
	return s.printFeatures(ctx, l, "-mod=mod")
}

// Features asks the packages of a release for its feature gates. They are sorted by name. The answer is kept in the
// cache.
func (b *Builder) Features(ctx context.Context, v release.Version) ([]release.Gate, error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(gatesFile(v)))); err == nil {
		return release.ParseGates(string(text)) // Export wrote it
	}
	target := b.withStandIns(Target{Component: APIServer, Version: v})
	kept := filepath.Join(s.dir, generatedLock(target)+"-gates-"+digest(featuresMain)[:8])
	text, err := os.ReadFile(kept)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = s.askFeatures(ctx, target); err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), writeFile(kept, text))
		}
	}
	if err != nil {
		return nil, err
	}
	return release.ParseGates(string(text))
}

func (s store) askFeatures(ctx context.Context, t Target) ([]byte, error) {
	l, err := lockFor(ctx, s, t)
	if err != nil {
		return nil, err
	}
	return s.printFeatures(ctx, l)
}

// Know makes known what the Pair's releases have and skewrig was not compiled with: the feature gates of a minor
// version without a table, and the fields of a newer API. It compiles a program that prints the gates, which takes a
// minute, once.
func (b *Builder) Know(ctx context.Context) error {
	newest, previous := b.Pair.Pair()
	for _, v := range []release.Version{newest, previous} {
		_, known, err := release.Table(release.Effective{Version: v})
		if err == nil && !known {
			err = b.learnGates(ctx, v)
		}
		if err == nil && v.Minor() > release.Newest.Minor() {
			err = b.learnFields(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("asking %s for its feature gates and fields: %w", v, err)
		}
	}
	return nil
}

func (b *Builder) learnGates(ctx context.Context, v release.Version) error {
	gates, err := b.Features(ctx, v)
	if errors.Is(err, exec.ErrNotFound) { // no Go: a component refuses an unknown gate itself, when it starts
		return nil
	}
	if err == nil {
		release.Learn(v, gates)
	}
	return err
}

func (b *Builder) learnFields(ctx context.Context, v release.Version) error {
	api, err := b.API(ctx, v)
	if err == nil {
		release.LearnFields(v, api.FieldNames())
	}
	return err
}

// printFeatures runs the program with a lock.
func (s store) printFeatures(ctx context.Context, l lock, flags ...string) ([]byte, error) {
	dir, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	err = errors.Join(l.write(dir, "go"), writeFile(filepath.Join(dir, "main.go"), featuresMain))
	if err != nil {
		return nil, err
	}
	args := append([]string{"run", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w"}, flags...)
	out, err := gotool.Run(ctx, dir, append(args, "."))
	return []byte(out), err
}
