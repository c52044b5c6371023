// Command newest makes another release the newest one: it edits the table in
// harness/release, makes the lock and the table of gates, and prints what
// changed. It is run in the root of the repository, by make newest.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/known"
	"github.com/skewrig/skewrig/scenarios/catalog"
)

var (
	tablePath = filepath.FromSlash("harness/release/release.go")
	locksPath = filepath.FromSlash("harness/build/locks")
	gatesPath = filepath.FromSlash("harness/release/gates")
)

func main() {
	var m mover
	flag.StringVar(&m.previous, "previous", "", "the release to make previous (default: as it is, or what was newest for another minor version)")
	flag.BoolVar(&m.skipGates, "skip-gates", false, "leave out the table of gates, which takes building the release's API server")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: newest [--previous v1.90.3] [--skip-gates] v1.91.1")
		os.Exit(2)
	}
	m.newest, m.out = flag.Arg(0), os.Stdout
	if err := m.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "newest:", err)
		os.Exit(1)
	}
}

// mover moves the default pair.
type mover struct {
	newest, previous string
	skipGates        bool
	out              io.Writer
}

func (m *mover) run(ctx context.Context) error {
	before := current()
	after, err := m.table(before)
	if err != nil {
		return err
	}
	cellsBefore, err := listCells(ctx)
	if err != nil {
		return err
	}
	if err := m.write(ctx, after); err != nil {
		return err
	}
	fmt.Fprintf(m.out, "newest:   %s, was %s\nprevious: %s, was %s\n", after.newest, before.newest, after.previous, before.previous)
	return m.printChanges(ctx, before, after, cellsBefore)
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

// write makes the files: locks first, so that a release that does not exist
// changes nothing.
func (m *mover) write(ctx context.Context, t table) error {
	builder := new(build.Builder)
	for _, v := range []release.Version{t.newest, t.previous} {
		if err := builder.WriteLock(ctx, build.Target{Component: build.APIServer, Version: v}, locksPath); err != nil {
			return err
		}
	}
	source, err := os.ReadFile(tablePath)
	if err != nil {
		return err
	}
	edited, err := t.edit(string(source))
	if err != nil {
		return fmt.Errorf("editing %s: %w", tablePath, err)
	}
	if err := os.WriteFile(tablePath, []byte(edited), 0o644); err != nil {
		return err
	}
	if m.skipGates {
		return nil
	}
	_, err = goCommand(ctx, "test", "./suites/gates", "-count=1", "-timeout=60m", "-update", "-releases="+string(t.newest))
	return err
}

// printChanges compares what this program was compiled with and what is there
// now.
func (m *mover) printChanges(ctx context.Context, before, after table, cellsBefore []string) error {
	gatesBefore, _, err := release.Table(release.Effective{Version: before.newest})
	if err != nil {
		return err
	}
	gatesAfter, err := readGates(after.newest)
	if err != nil {
		return err
	}
	cellsAfter, err := listCells(ctx)
	if err != nil {
		return err
	}
	list, err := known.Parse(catalog.KnownDeviationsFile, catalog.KnownDeviations)
	if err != nil {
		return err
	}
	sections := append(gateChanges(gatesBefore, gatesAfter), cellChanges(cellsBefore, cellsAfter)...)
	for _, s := range append(sections, deviationChanges(list, cellsAfter)...) {
		s.write(m.out)
	}
	return nil
}

// listCells are the ids of the cells of a skewrig that is compiled with the table
// as it is on disk.
func listCells(ctx context.Context) (ids []string, err error) {
	listed, err := goCommand(ctx, "run", "./cmd/skewrig", "list", "-o", "json")
	if err != nil {
		return nil, err
	}
	var cells []struct {
		ID string `json:"id"`
	}
	err = json.Unmarshal(listed, &cells)
	for _, c := range cells {
		ids = append(ids, c.ID)
	}
	return ids, err
}

// readGates reads the table as it is on disk.
func readGates(v release.Version) ([]release.Gate, error) {
	text, err := os.ReadFile(filepath.Join(gatesPath, v.MajorMinor()+".txt"))
	if err != nil {
		return nil, err
	}
	return release.ParseGates(string(text))
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	ended, err := process.Command{Name: fmt.Sprint("go ", args), Path: "go", Args: args, Env: process.UserEnv(), Stderr: os.Stderr}.Run(ctx)
	return ended.Stdout, err
}
