package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
	"github.com/skewrig/skewrig/scenarios/plan"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Binaries say where components come from.
type Binaries struct {
	// CacheDir is where built components are kept. If unset, skewrig in the
	// user's cache directory.
	CacheDir string
	// Newest and Previous are the releases that scenarios call so. If unset, the default ones; with a
	// Newest alone, Previous is the newest supported release of the minor version before.
	Newest, Previous string
	// Given are ready-made binaries: COMPONENT=PATH for the release that it says
	// it is, or COMPONENT@RELEASE=PATH.
	Given []string
	// Assets is a directory of ready-made binaries, as KUBEBUILDER_ASSETS names
	// one. If unset, there is none.
	Assets string
	// Overlays are files that are compiled instead of those of a release: PATH=FILE, or
	// COMPONENT@RELEASE:PATH=FILE.
	Overlays []string
	// Toolchain says which Go compiles releases. If unset, it is build.LocalToolchain.
	Toolchain build.Toolchain
	// StandIns are compiled instead of modules that releases of Kubernetes ask for and that can't be had:
	// MODULE=VERSION, MODULE=OTHER@VERSION or MODULE=./DIR.
	StandIns []string
	// Sources are checkouts of Kubernetes that stand in for releases: DIR for the newest,
	// COMPONENT@RELEASE=DIR, and with @REF at the end for a commit.
	Sources []string
}

// Builder returns the builder that has the ready-made binaries. It reads the sources, which
// may take a minute.
func (b Binaries) Builder(ctx context.Context) (*build.Builder, error) {
	builder := &build.Builder{Dir: b.CacheDir, Toolchain: b.Toolchain}
	var err error
	if builder.Pair, err = release.Choose(b.Newest, b.Previous); err != nil {
		return nil, err
	}
	var problems []error
	for _, text := range b.Given {
		given, err := parseGiven(ctx, text, builder.Pair)
		if err != nil {
			problems = append(problems, fmt.Errorf("--binary %s: %w", text, err))
		}
		builder.Given = append(builder.Given, given)
	}
	for _, text := range b.StandIns {
		one, err := build.ParseStandIn(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--stand-in %s: %w", text, err))
		}
		builder.StandIns = append(builder.StandIns, one)
	}
	builder.Overlays, err = b.Overlaid(builder.Pair)
	problems = append(problems, err)
	if b.Assets != "" {
		assets, err := build.Assets(ctx, b.Assets)
		if err != nil {
			problems = append(problems, fmt.Errorf("KUBEBUILDER_ASSETS: %w", err))
		}
		builder.Given = append(builder.Given, assets...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if builder.Pair.Chosen() {
		problems = append(problems, Failed(builder.Know(ctx)))
	}
	problems = append(problems, b.open(ctx, builder))
	return builder, errors.Join(problems...)
}

// open opens the Sources.
func (b Binaries) open(ctx context.Context, builder *build.Builder) error {
	var names []build.SourceName
	var problems []error
	for _, text := range b.Sources {
		name, err := build.ParseSource(text, builder.Pair)
		if err == nil && slices.ContainsFunc(names, func(n build.SourceName) bool { return n.Component == name.Component && n.Instead == name.Instead }) {
			err = fmt.Errorf("another one stands in for %s already", name.Instead)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--source %s: %w", text, err))
		}
		names = append(names, name)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for i, name := range names {
		if _, err := builder.Open(ctx, name); err != nil {
			problems = append(problems, fmt.Errorf("--source %s: %w", b.Sources[i], err))
		}
	}
	return errors.Join(problems...)
}

// Overlaid reads the Overlays, in their order. The error says everything that is wrong.
func (b Binaries) Overlaid(releases release.Releases) (all []build.Overlay, _ error) {
	var problems []error
	for _, text := range b.Overlays {
		overlay, err := build.ParseOverlay(text, releases)
		if err != nil {
			problems = append(problems, fmt.Errorf("--overlay %s: %w", text, err))
		}
		all = append(all, overlay)
	}
	return all, errors.Join(problems...)
}

// CheckUsed is an error if one of Given, Overlays or Sources serves none of the cells: who
// gives a binary, a file or a checkout must not get a report about another.
func (b Binaries) CheckUsed(builder *build.Builder, cells []plan.Cell) error {
	return b.CheckNeeded(builder, Targets(cells))
}

// CheckNeeded is CheckUsed with the targets that are needed.
func (b Binaries) CheckNeeded(builder *build.Builder, needed []build.Target) error {
	var problems []error
	for i, text := range b.Given {
		given := builder.Given[i]
		serves := func(t build.Target) bool {
			return t.Component == given.Component && (t.Version == given.Version || t.Component == build.Etcd)
		}
		if !slices.ContainsFunc(needed, serves) {
			problems = append(problems, fmt.Errorf("--binary %s is %s of %s, which no selected cell needs; the cells need %v", text, given.Component, given.Version, needed))
		}
	}
	for i, text := range b.Overlays {
		if !slices.ContainsFunc(needed, builder.Overlays[i].Applies) {
			problems = append(problems, fmt.Errorf("--overlay %s is compiled into nothing that the selected cells need, which is %v", text, needed))
		}
	}
	for i, text := range b.Sources {
		source := builder.Sources[i]
		if !slices.ContainsFunc(needed, func(t build.Target) bool { return t.Version == source.Version }) {
			problems = append(problems, fmt.Errorf("--source %s stands in for %s, which no selected cell runs; the cells need %v", text, source, needed))
		}
	}
	return errors.Join(problems...)
}

func parseGiven(ctx context.Context, text string, releases release.Releases) (build.Given, error) {
	name, path, ok := strings.Cut(text, "=")
	if !ok {
		return build.Given{}, errors.New("want COMPONENT=PATH or COMPONENT@RELEASE=PATH")
	}
	name, version, versioned := strings.Cut(name, "@")
	if !slices.Contains(build.Components(), build.Component(name)) {
		return build.Given{}, build.NoComponent(name)
	}
	given, err := build.Describe(ctx, build.Component(name), path)
	if err != nil || !versioned {
		return given, err
	}
	given.Version, err = build.Component(name).Resolve(version, releases)
	return given, err
}

// Build builds targets, as many as it can. That one can't be built is not the user's
// fault, unless there is no such release: the error names the file and line of the
// cells, if any, that ask for it.
func Build(ctx context.Context, builder *build.Builder, targets []build.Target, cells []plan.Cell) ([]build.Binary, error) {
	wait, err := StartBuild(ctx, builder, targets, cells)
	if err != nil {
		return nil, err
	}
	return wait()
}

// StartBuild is Build, but returns when it is known what has to be compiled. What it returns
// waits for the rest.
func StartBuild(ctx context.Context, builder *build.Builder, targets []build.Target, cells []plan.Cell) (wait func() ([]build.Binary, error), _ error) {
	built, err := builder.Start(ctx, targets)
	if err != nil {
		return nil, buildError(err, cells)
	}
	return func() ([]build.Binary, error) {
		binaries, err := built()
		return binaries, Failed(err)
	}, nil
}

// buildError is an error of a build, as Build returns it.
func buildError(err error, cells []plan.Cell) error {
	failures, ok := errors.AsType[build.Errors](err)
	if !ok || !errors.Is(err, build.ErrNoRelease) {
		return Failed(err)
	}
	return located(failures, cells)
}

// askLimit is how long a module proxy has to answer before a plan is printed.
const askLimit = 5 * time.Second

// CheckReleases reports the releases that cells ask for and that are known not to be
// there, with the file and line of each, and returns those of which nothing is known by
// the reason, such as that the module proxy can't be reached. Nothing is built or
// downloaded.
func CheckReleases(ctx context.Context, cells []plan.Cell) (unknown map[string][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	unchecked, err := new(build.Builder).CheckReleases(ctx, Targets(cells))
	unknown = make(map[string][]string)
	for _, u := range unchecked {
		if v := string(u.Target.Version); !slices.Contains(unknown[u.Why], v) {
			unknown[u.Why] = append(unknown[u.Why], v)
		}
	}
	if failures, ok := errors.AsType[build.Errors](err); ok {
		return unknown, located(failures, cells)
	}
	return unknown, Failed(err)
}

// SaidOfReleases is what the Go command said of the releases that an error is about and
// that do not exist.
func SaidOfReleases(err error) []string {
	var all []string
	switch err := err.(type) { //nolint:errorlint // it goes through all that is wrapped
	case *build.NoRelease:
		return []string{err.Said}
	case *gotool.Unreachable:
		return []string{err.Said}
	case interface{ Unwrap() error }:
		return SaidOfReleases(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			all = append(all, SaidOfReleases(one)...)
		}
	}
	return all
}

// located are failures with the places at which cells ask for the releases. What components
// of one release have in common is said once.
func located(failures build.Errors, cells []plan.Cell) error {
	places := make(map[string]string) // by target
	for _, t := range plan.Targets(cells) {
		places[provider.Target(t).String()] = t.Place
	}
	var located []error
	said := make(map[string]bool)
	for _, failure := range failures {
		var err error = failure
		if place := places[failure.Target.String()]; place != "" {
			err = strict.At(place, failure)
		}
		if !said[err.Error()] {
			said[err.Error()] = true
			located = append(located, err)
		}
	}
	return errors.Join(located...)
}

// Targets are the binaries that cells need, the one that most of them need first: these can
// begin when it is built.
func Targets(cells []plan.Cell) []build.Target {
	var all []build.Target
	for _, t := range plan.Targets(cells) {
		all = append(all, provider.Target(t))
	}
	if slices.ContainsFunc(cells, plan.HasContainers) {
		all = append(all, build.ContainerTarget())
	}
	need := make(map[string]int)
	for _, c := range cells {
		for _, t := range plan.Targets([]plan.Cell{c}) {
			need[provider.Target(t).String()]++
		}
	}
	slices.SortStableFunc(all, func(a, b build.Target) int { return cmp.Compare(need[b.String()], need[a.String()]) })
	return all
}

// onceEach leaves out targets that were there before.
func onceEach(targets []build.Target) (all []build.Target) {
	for _, t := range targets {
		if !slices.ContainsFunc(all, func(had build.Target) bool { return had.String() == t.String() }) {
			all = append(all, t)
		}
	}
	return all
}

// Lacking are the cells that need one of the targets that could not be built, as an
// error of Build says. There are none if it is another error.
func Lacking(cells []plan.Cell, err error) []plan.Cell {
	failures, _ := errors.AsType[build.Errors](err)
	unbuilt := make(map[string]bool)
	for _, f := range failures {
		unbuilt[f.Target.String()] = true
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c plan.Cell) bool {
		return !slices.ContainsFunc(Targets([]plan.Cell{c}), func(t build.Target) bool { return unbuilt[t.String()] })
	})
}
