package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
)

// binaries are the flags that say where components come from.
type binaries struct {
	cacheDir string
	given    []string
}

func (b *binaries) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.cacheDir, "cache-dir", "", "where built components are kept (default: skewrig in the user's cache directory)")
	cmd.Flags().StringArrayVar(&b.given, "binary", nil,
		"use a ready-made binary, COMPONENT=PATH for the release that it says it is, or COMPONENT@RELEASE=PATH (repeatable; KUBEBUILDER_ASSETS is understood too)")
}

func (b *binaries) builder(ctx context.Context, progress func(build.Progress)) (*build.Builder, error) {
	builder := &build.Builder{Dir: b.cacheDir, Progress: progress}
	var problems []error
	for _, text := range b.given {
		given, err := parseGiven(ctx, text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--binary %s: %w", text, err))
		}
		builder.Given = append(builder.Given, given)
	}
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		assets, err := build.Assets(ctx, dir)
		if err != nil {
			problems = append(problems, fmt.Errorf("KUBEBUILDER_ASSETS: %w", err))
		}
		builder.Given = append(builder.Given, assets...)
	}
	return builder, errors.Join(problems...)
}

func parseGiven(ctx context.Context, text string) (build.Given, error) {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		return build.Given{}, errors.New("want COMPONENT=PATH or COMPONENT@RELEASE=PATH")
	}
	name, version, versioned := strings.Cut(name, "@")
	if !slices.Contains(build.Components(), build.Component(name)) {
		return build.Given{}, fmt.Errorf("%q is not a component; components are %v", name, build.Components())
	}
	given, err := build.Describe(ctx, build.Component(name), path)
	if err != nil || !versioned {
		return given, err
	}
	given.Version, err = release.Parse(version)
	return given, err
}

// unused returns an error if a ready-made binary serves none of the targets:
// who gives one must not get a report about another.
func (b *binaries) unused(ctx context.Context, targets []build.Target) error {
	var problems []error
	for _, text := range b.given {
		given, err := parseGiven(ctx, text)
		if err != nil {
			return err
		}
		serves := func(t build.Target) bool {
			return t.Component == given.Component && (t.Version == given.Version || t.Component == build.Etcd)
		}
		if !slices.ContainsFunc(targets, serves) {
			problems = append(problems, fmt.Errorf("--binary %s is %s of %s, which nothing here needs; needed are %v", text, given.Component, given.Version, targets))
		}
	}
	return errors.Join(problems...)
}

// buildFailed marks a failed build as not the user's fault, unless a release was
// asked for that can't be had.
func buildFailed(err error) error {
	if errors.Is(err, build.ErrNoRelease) {
		return err
	}
	return failed(err)
}

// buildProgress prints what happens to each target: a line when it is done,
// and on a terminal also what is at work.
func buildProgress(w io.Writer) func(build.Progress) {
	f, isFile := w.(*os.File)
	live := isFile && term.IsTerminal(int(f.Fd()))
	return func(p build.Progress) {
		switch p.State {
		case build.Compiling, build.Waiting:
			if live {
				fmt.Fprintf(w, "\r\x1b[K%-40s %s…", p.Target, p.State)
			} else {
				fmt.Fprintf(w, "%-40s %s\n", p.Target, p.State)
			}
		default:
			if live {
				fmt.Fprint(w, "\r\x1b[K")
			}
			fmt.Fprintf(w, "%-40s %-9s %6.1fs\n", p.Target, p.State, p.Elapsed.Round(time.Second/10).Seconds())
		}
	}
}
