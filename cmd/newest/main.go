// Command newest makes another release the newest one: it makes the locks and
// the tables of gates, edits the table in harness/release, and prints what
// changed. It is run in the root of the repository, by make newest. It can be run
// again after an interrupt: what it compares with is what was committed last.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/catalog"
	"github.com/skewrig/skewrig/scenarios/plan"
)

const (
	tablePath = "harness/release/release.go"
	locksPath = "harness/build/locks"
	gatesPath = "harness/release/gates"
)

func main() {
	var m mover
	flag.StringVar(&m.previous, "previous", "", "the release to make previous (default: as it is, or what was newest for another minor version)")
	older := flag.Bool("older", false, "write the lock and the gates of a release only, which becomes neither newest nor previous")
	flag.Parse()
	if flag.NArg() != 1 || *older && m.previous != "" {
		fmt.Fprintln(os.Stderr, "usage: newest [--previous v1.90.3 | --older] v1.91.1")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	m.newest, m.out = flag.Arg(0), os.Stdout
	run := m.run
	if *older {
		run = m.addOlder
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "newest:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// mover moves the default pair.
type mover struct {
	newest, previous string
	out              io.Writer

	builder build.Builder
}

func (m *mover) run(ctx context.Context) error {
	before, gatesBefore, err := committed(ctx)
	if err != nil {
		return err
	}
	after, err := m.table(before)
	if err != nil {
		return err
	}
	cellsBefore, err := catalog.CellsOn(before.pair())
	if err != nil {
		return err
	}
	gatesAfter, err := m.write(ctx, after)
	if err != nil {
		return err
	}
	fmt.Fprintf(m.out, "newest:   %s, was %s\nprevious: %s, was %s\n", after.newest, before.newest, after.previous, before.previous)
	cellsAfter, err := catalog.CellsOn(after.pair())
	if err != nil {
		return err
	}
	list, err := known.Parse(catalog.KnownDeviationsFile, catalog.KnownDeviations)
	if err != nil {
		return err
	}
	sections := append(gateChanges(gatesBefore, gatesAfter), cellChanges(cellsBefore, cellsAfter)...)
	for _, s := range append(sections, deviationChanges(list, ids(cellsAfter))...) {
		s.write(m.out)
	}
	return nil
}

// addOlder writes what is known of a release that is neither newest nor previous.
func (m *mover) addOlder(ctx context.Context) error {
	v, err := release.Parse(m.newest)
	if err != nil {
		return err
	}
	if err := m.writeLock(ctx, v); err != nil {
		return err
	}
	_, err = m.writeGates(ctx, v)
	return err
}

func (m *mover) table(before table) (table, error) {
	newest, err := release.Parse(m.newest)
	if err != nil {
		return table{}, err
	}
	var previous release.Version
	if m.previous != "" {
		if previous, err = release.Parse(m.previous); err != nil {
			return table{}, err
		}
	}
	return before.move(newest, previous)
}

// write makes the files, the table last: locks first, so that a release that does not exist
// changes nothing. It returns the gates of the newest release.
func (m *mover) write(ctx context.Context, t table) ([]release.Gate, error) {
	for _, v := range []release.Version{t.newest, t.previous} {
		if err := m.writeLock(ctx, v); err != nil {
			return nil, err
		}
	}
	gates, err := m.writeGates(ctx, t.newest)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(gatesFile(t.previous)); errors.Is(err, fs.ErrNotExist) {
		if _, err := m.writeGates(ctx, t.previous); err != nil {
			return nil, err
		}
	}
	source, err := os.ReadFile(tablePath)
	if err != nil {
		return nil, err
	}
	edited, err := t.edit(string(source))
	if err != nil {
		return nil, fmt.Errorf("editing %s: %w", tablePath, err)
	}
	return gates, os.WriteFile(tablePath, []byte(edited), 0o644)
}

func (m *mover) writeLock(ctx context.Context, v release.Version) error {
	return m.builder.WriteLock(ctx, build.Target{Component: build.APIServer, Version: v}, filepath.FromSlash(locksPath))
}

// writeGates writes the table of a release's minor version, as its packages have them. That its
// API server reports the same is for the suite in suites/gates to show.
func (m *mover) writeGates(ctx context.Context, v release.Version) ([]release.Gate, error) {
	gates, err := m.builder.Features(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("asking %s for its feature gates: %w", v, err)
	}
	release.Learn(v, gates)
	return gates, os.WriteFile(gatesFile(v), []byte(release.FormatGates(gates)), 0o644)
}

func gatesFile(v release.Version) string {
	return filepath.FromSlash(path.Join(gatesPath, v.MajorMinor()+".txt"))
}

// committed is the table as it was committed last, and the gates of its newest release.
func committed(ctx context.Context) (t table, gates []release.Gate, err error) {
	source, err := show(ctx, tablePath)
	if err != nil {
		return t, nil, err
	}
	if t, err = parseTable(source); err != nil {
		return t, nil, fmt.Errorf("%s as it was committed last: %w", tablePath, err)
	}
	text, err := show(ctx, path.Join(gatesPath, t.newest.MajorMinor()+".txt"))
	if err != nil {
		return t, nil, err
	}
	gates, err = release.ParseGates(text)
	return t, gates, err
}

// show is a file as it was committed last.
func show(ctx context.Context, file string) (string, error) {
	ended, err := process.Command{Name: "git show HEAD:" + file, Path: "git", Args: []string{"show", "HEAD:./" + file}, Env: process.UserEnv(), Stderr: os.Stderr}.Run(ctx)
	return string(ended.Stdout), err
}

func ids(cells []plan.Cell) (all []string) {
	for _, c := range cells {
		all = append(all, c.ID)
	}
	return all
}
