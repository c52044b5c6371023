// Command corpus rehearses manifests of public charts, and prints a table of the results: what is stored, what comes to rest, and
// what is found. A list names the inputs, each with its repository, its commit, the command that renders it, and the digest of the
// result. The manifests themselves are not part of skewrig: render them into a directory, as NAME.yaml.
//
//	go run ./suites/internal/corpus -inputs ../rendered
//
// Inputs that have no object in common are rehearsed together. An input whose report exists already is not rehearsed again.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/rehearse/show"
)

func main() {
	var c corpus
	list := flag.String("list", "suites/rehearse/corpus.tsv", "the list of inputs")
	known := flag.String("known", "", "a file of findings that were looked into, as --known of skewrig rehearse takes it")
	until := flag.String("until", "", "stop after this stage")
	flag.StringVar(&c.inputs, "inputs", "", "the directory with NAME.yaml")
	flag.StringVar(&c.reports, "report-dir", "bin/corpus", "the directory for the reports")
	flag.IntVar(&c.together, "together", 250, "how many objects are rehearsed together")
	flag.Parse()
	c.until = rehearse.StageName(*until)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := c.run(ctx, *list, *known, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// corpus says where inputs and reports are.
type corpus struct {
	inputs, reports string
	together        int
	until           rehearse.StageName
	known           rehearse.Known
}

// run rehearses the inputs of a list, or those that have one of some names.
func (c corpus) run(ctx context.Context, list, known string, names []string) (err error) {
	if known != "" {
		if c.known, err = app.ReadAccepted(known); err != nil {
			return err
		}
	}
	inputs, err := readList(list)
	if err != nil {
		return err
	}
	var all []input
	for _, in := range inputs {
		if len(names) > 0 && !slices.Contains(names, in.name) {
			continue
		}
		if err := in.load(c.inputs); err != nil {
			return err
		}
		all = append(all, in)
	}
	var rows []row
	for _, group := range grouped(all, c.together) {
		report, err := c.rehearse(ctx, group)
		if err != nil {
			return err
		}
		for _, in := range group {
			rows = append(rows, rowOf(in, report))
		}
	}
	return table(os.Stdout, rows)
}

// group is inputs that are rehearsed together.
type group []input

// dir is the directory of its report.
func (g group) dir() string {
	digest := sha256.New()
	for _, in := range g {
		fmt.Fprintln(digest, in.name, in.digest)
	}
	return g[0].name + "-" + hex.EncodeToString(digest.Sum(nil))[:8]
}

// rehearse rehearses a group, unless that was done before.
func (c corpus) rehearse(ctx context.Context, g group) (report rehearse.Report, err error) {
	dir := filepath.Join(c.reports, g.dir())
	text, err := os.ReadFile(filepath.Join(dir, show.JSONFile))
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = json.Unmarshal(text, &report)
		}
		return report.Without(c.known), err
	}
	builder := new(build.Builder)
	r := app.Rehearsal{From: release.Previous, To: release.Newest, Dir: dir, Until: c.until, Report: func(s rehearse.Stage) { fmt.Fprintln(os.Stderr, g.dir(), s.Name) }}
	for _, in := range g {
		r.Input.Objects = append(r.Input.Objects, in.read.Objects...)
		r.Input.Problems = append(r.Input.Problems, in.read.Problems...)
	}
	if err := os.MkdirAll(c.reports, 0o755); err != nil {
		return report, err
	}
	if _, err := builder.Build(ctx, r.Targets()); err != nil {
		return report, err
	}
	report, err = r.Run(ctx, builder)
	return report.Without(c.known), err
}

// input is a set of manifests.
type input struct {
	name, repository, version, digest string

	read manifest.Input
}

// readList reads the columns of a list: name, repository, commit, version, sha256, and the command that renders it.
func readList(file string) (all []input, _ error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 6 || columns[0] == "name" {
			continue
		}
		all = append(all, input{name: columns[0], repository: columns[1], version: columns[3], digest: columns[4]})
	}
	return all, nil
}

// load reads the manifests of an input, which have to be those of the list.
func (in *input) load(dir string) error {
	file := filepath.Join(dir, in.name+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != in.digest {
		return fmt.Errorf("%s has other manifests than those of the list, of which the sha256 is %s: render it again, at the commit of the list", file, in.digest)
	}
	in.read, err = manifest.Load([]string{file}, nil)
	return err
}

// has reports whether a place is one of the input.
func (in input) has(p manifest.Place) bool {
	return strings.TrimSuffix(filepath.Base(p.File), ".yaml") == in.name
}
