package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/upstream"
)

// The files of one spec.
const (
	specOutput = "output.txt"  // what it printed
	specReport = "ginkgo.json" // what Ginkgo reports of it
	specJUnit  = "junit.xml"   // the same for CI
)

// specTimeout is the longest that a spec takes: the slowest of v1.37 takes 27 minutes, by design.
const specTimeout = 45 * time.Minute

// listSpecs has a program of specs report which it has. It runs none.
func listSpecs(ctx context.Context, program string) ([]upstream.Spec, error) {
	dir, err := os.MkdirTemp("", "skewrig-specs-")
	if err != nil {
		return nil, Failed(err)
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, specReport)
	// With any focus, the framework hides none of them.
	list := process.Command{
		Path: program, Dir: dir, Env: process.ToolEnv(),
		Args: []string{"--ginkgo.dry-run", "--ginkgo.focus=.", "--ginkgo.json-report=" + report, "--ginkgo.silence-skips"},
	}
	if _, err := list.Run(ctx); err != nil {
		return nil, Failed(fmt.Errorf("asking %s for its specs: %w", program, err))
	}
	found, err := readGinkgo(report)
	return upstream.Specs(found), Failed(err)
}

// runSpec runs a spec in a process of its own, which leaves its files in a directory. That it
// fails is no error.
func runSpec(ctx context.Context, program, kubeconfig string, s upstream.Spec, dir string) (a upstream.Attempt, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return a, err
	}
	output, err := files.Create(filepath.Join(dir, specOutput), 0o644)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, output.Close()) }()
	report := filepath.Join(dir, specReport)
	_, ended := process.Command{
		Path: program, Dir: dir, Env: process.ToolEnv(), Stdout: output, Stderr: output,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--ginkgo.focus=" + regexp.QuoteMeta(s.Name) + "$",
			"--ginkgo.json-report=" + report, "--ginkgo.junit-report=" + filepath.Join(dir, specJUnit),
			"--ginkgo.timeout=" + specTimeout.String(), "--ginkgo.v", "--ginkgo.no-color", "--ginkgo.silence-skips",
		},
	}.Run(ctx)
	if ctx.Err() != nil {
		a.Ended, a.BrokenOff = context.Cause(ctx).Error(), true
	} else if ended != nil {
		a.Ended = fmt.Sprintf("its process ended without a report of it (%v); what it printed is in %s", ended, specOutput)
	}
	a.Report, err = readGinkgo(report)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	return a, err
}

func readGinkgo(path string) (upstream.Report, error) {
	text, err := files.Read(path, files.MaxReport)
	if err != nil {
		return nil, err
	}
	report, err := upstream.ReadReport(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return report, nil
}
