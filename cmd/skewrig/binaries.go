package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/scenarios/plan"
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

func (b *binaries) builder(ctx context.Context) (*build.Builder, error) {
	builder := &build.Builder{Dir: b.cacheDir}
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

// build builds targets and tells about it.
func (b *binaries) build(cmd *cobra.Command, builder *build.Builder, targets []build.Target) ([]build.Binary, error) {
	tell, done := buildProgress(cmd)
	defer done()
	builder.Progress = tell
	defer func() { builder.Progress = nil }()
	return builder.Build(cmd.Context(), targets)
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
// asked for that can't be had. Where cells ask for it, their files and lines are
// named.
func buildFailed(err error, cells ...plan.Cell) error {
	failures, ok := errors.AsType[build.Errors](err)
	if !ok || !errors.Is(err, build.ErrNoRelease) {
		return app.Failed(err)
	}
	places := make(map[string]string) // by target
	for _, t := range plan.Targets(cells) {
		places[target(t).String()] = t.Place
	}
	var located []error
	for _, failure := range failures {
		if place := places[failure.Target.String()]; place != "" {
			located = append(located, fmt.Errorf("%s: %w", place, failure))
		} else {
			located = append(located, failure)
		}
	}
	return errors.Join(located...)
}
