package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/reports/render"
	"github.com/skewrig/skewrig/scenarios/provider/rig"
)

// watchFiles runs cells again at each change of their files, until the context ends.
func (f *runFlags) watchFiles(cmd *cobra.Command, args []string) (err error) {
	ctx := cmd.Context()
	files := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !app.IsFile(arg) })
	if len(files) == 0 {
		return fmt.Errorf("--watch needs a scenario file, which ends in .yaml or .yml: %s", strings.Join(args, " "))
	}
	releases, err := release.Choose(f.Newest, f.Previous)
	if err != nil {
		return err
	}
	overlays, err := f.Overlaid(releases)
	if err != nil {
		return err
	}
	var compiled []string
	for _, o := range overlays {
		compiled = append(compiled, o.File)
	}
	directories, err := f.Directories()
	if err != nil {
		return err
	}
	changes, err := app.Watch(ctx, files, compiled, directories)
	if err != nil {
		return err
	}
	f.onlyNew = true // a change builds little, and most of it is in the cache
	r := &cellsRun{runFlags: f, cmd: cmd, args: args, warm: rig.NewWarm()}
	defer func() { err = errors.Join(err, r.close()) }()
	for ctx.Err() == nil {
		r.untilChange(ctx, changes)
	}
	return nil
}

// untilChange runs the cells, and waits for a change. One that comes before the end breaks the
// run off.
func (r *cellsRun) untilChange(ctx context.Context, changes <-chan string) {
	running, breakOff := context.WithCancel(ctx)
	defer breakOff()
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := time.Now()
		err := r.once(running)
		if running.Err() != nil {
			return
		}
		for _, failure := range failures(err) { // a red report is printed, and no failure
			fmt.Fprintf(r.cmd.ErrOrStderr(), "skewrig: %s\n", render.VisibleWhole(failure.Error()))
		}
		fmt.Fprintf(news(r.cmd), "\n%.1f s. Waiting for a change; Ctrl-C ends.\n", time.Since(began).Seconds())
	}()
	select {
	case name := <-changes:
		fmt.Fprintf(news(r.cmd), "\n%s changed\n", render.Printable(name))
		breakOff()
		<-done
	case <-ctx.Done():
		<-done
	}
}
