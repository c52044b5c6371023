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
	dir, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	err = errors.Join(l.write(dir, "go"), writeFile(filepath.Join(dir, "main.go"), featuresMain))
	if err != nil {
		return nil, err
	}
	out, err := goCommand(ctx, dir, []string{"run", "-mod=mod", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "."})
	return []byte(out), err
}
