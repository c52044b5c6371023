package build

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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

// Features asks the packages of a release for its feature gates. They are sorted by name.
func (b *Builder) Features(ctx context.Context, v release.Version) ([]release.Gate, error) {
	s, err := b.store()
	if err != nil {
		return nil, err
	}
	l, err := lockFor(ctx, s, Target{Component: APIServer, Version: v})
	if err != nil {
		return nil, err
	}
	text, err := s.printFeatures(ctx, l)
	if err != nil {
		return nil, err
	}
	return release.ParseGates(string(text))
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
	out, err := goCommand(ctx, dir, append(args, "."))
	return []byte(out), err
}
