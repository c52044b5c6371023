package spec

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// File is a scenario file that has nothing wrong with it.
type File struct {
	// Path is the path of the file, as it was given.
	Path string
	// Text is what the file holds.
	Text string
	// Combinations are what the axes expand the scenario to: axes in the order
	// of their names, values in the order of the file. A scenario without axes
	// has one.
	Combinations []Combination

	root *yaml.Node
}

// Combination is a scenario with one value for each of its axes.
type Combination struct {
	// Axes are sorted by name. What stands for a release is resolved.
	Axes []AxisValue
	// Scenario has every reference to an axis replaced, and the manifests of
	// its file steps loaded.
	Scenario Scenario
}

// Decode reads the text of one scenario file. The file's name is for messages
// only. Everything that is wrong is reported at once, as *Errors. A step that
// names a file beside the scenario is wrong here: Load reads those.
func Decode(file string, text []byte, kinds ...ActionKind) (*File, error) {
	r := newReader(file, manifests{}, kinds)
	f := r.read(text)
	if problems := r.problems.sorted(); len(problems) > 0 {
		return nil, asError(problems)
	}
	return f, nil
}

// Load reads scenario files, each with the manifests beside it. Everything that
// is wrong with any of them is reported at once, as *Errors.
func Load(fsys fs.FS, paths []string, kinds ...ActionKind) ([]*File, error) {
	var (
		files    []*File
		problems []Problem
	)
	for _, name := range paths {
		r := newReader(name, manifests{fsys: fsys, dir: path.Dir(name)}, kinds)
		text, err := readFile(fsys, name)
		if err != nil {
			problems = append(problems, Problem{File: name, Line: 1, Column: 1, Message: reason(err)})
			continue
		}
		f := r.read(text)
		files = append(files, f)
		problems = append(problems, r.problems.sorted()...)
	}
	if err := asError(unique(problems)); err != nil {
		return nil, err
	}
	return files, nil
}

// reason leaves out of an error the path that a problem names anyway.
func reason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Op + ": " + pathError.Err.Error()
	}
	return err.Error()
}

// unique drops the problems of a manifest that several scenarios name.
func unique(problems []Problem) []Problem {
	slices.SortFunc(problems, Problem.compare)
	return slices.Compact(problems)
}

// reader reads one scenario file.
type reader struct {
	*source
	manifests manifests
	refs      references
}

func newReader(file string, m manifests, kinds []ActionKind) *reader {
	problems := new(collector)
	m.problems, m.loaded = problems, make(map[string]Objects)
	return &reader{source: newSource(file, problems, kinds...), manifests: m}
}

// read decodes and validates a text. What it returns is worth something only if
// no problems were found.
func (r *reader) read(text []byte) *File {
	documents := r.parse(text)
	switch {
	case len(r.problems.problems) > 0 && len(documents) == 0:
		return nil
	case len(documents) == 0 || len(documents) == 1 && isNull(documents[0]):
		r.report(&yaml.Node{Line: 1, Column: 1}, "the file is empty")
		return nil
	case len(documents) > 1:
		r.report(documents[1], "a scenario file has one document: put this one into a file of its own")
	}
	f := &File{Path: r.file, Text: string(text), root: documents[0]}
	r.useSequences(f.root)
	axes := r.axes(f.root)
	r.markLiterals(f.root)
	for i, values := range r.where(f.root, combine(axes)) {
		c := r.combination(f, values)
		validate(r.source, f, &c, i == 0)
		f.Combinations = append(f.Combinations, c)
	}
	r.checkUsed(f, axes)
	return f
}

// axes decodes the axes alone: the rest can't be decoded before they are known.
func (r *reader) axes(root *yaml.Node) map[string][]string {
	n, found := find(root, "axes")
	axes := make(map[string][]string)
	if found {
		d := decoder{source: r.source}
		d.decode(n, reflect.ValueOf(&axes).Elem())
	}
	return axes
}

// where leaves out the combinations for which the scenario's condition does not
// hold. All of them stay if it can't be told.
func (r *reader) where(root *yaml.Node, combinations [][]AxisValue) [][]AxisValue {
	n, found := find(root, "where")
	if !found || n.Kind != yaml.ScalarNode {
		return combinations
	}
	condition, err := ParseCondition(n.Value)
	var kept [][]AxisValue
	for _, axes := range combinations {
		values := make(map[string]string)
		for _, axis := range axes {
			values[axis.Name] = axis.Value
		}
		holds, mistake := condition.Holds(values)
		if err = cmp.Or(err, mistake); err != nil {
			r.report(n, "%v", err)
			return combinations
		}
		if holds {
			kept = append(kept, axes)
		}
	}
	if len(kept) == 0 {
		r.report(n, "this holds for none of the axes' values, so that there is nothing to run")
		return combinations
	}
	return kept
}

// combination decodes the scenario as it is for some values of the axes.
func (r *reader) combination(f *File, axes []AxisValue) Combination {
	if r.refs.used == nil {
		r.refs.used = make(map[string]bool)
	}
	r.refs.values = make(map[string]string)
	for _, axis := range axes {
		r.refs.values[axis.Name] = axis.Value
	}
	c := Combination{Axes: axes}
	d := decoder{source: r.source, refs: r.refs}
	d.decode(f.root, reflect.ValueOf(&c.Scenario).Elem())
	r.loadManifests(f, &c.Scenario)
	c.skipSteps()
	return c
}

// skipSteps marks the steps that are not for this combination. Mistakes in
// conditions are for the validator to report.
func (c *Combination) skipSteps() {
	rig, _ := NewRig(c.Scenario.Topology, c.Axes...)
	for i := range c.Scenario.Steps {
		step := &c.Scenario.Steps[i]
		if holds, err := rig.Applies(step.When); err == nil && !holds {
			step.Skipped = true
			continue
		}
		rig.Do(*step)
	}
}

func (r *reader) loadManifests(f *File, s *Scenario) {
	for i := range s.Steps {
		step := &s.Steps[i]
		loader, loads := step.Action.(Loader)
		at, found := find(f.root, stepPath(i)+"."+step.Kind)
		if !loads || !found {
			continue
		}
		loaded, err := loader.Load(r.manifests.load)
		if err != nil {
			r.report(at, "loading %s: %s", Quote(at.Value), reason(err))
		}
		step.Action = loaded
	}
}

// checkUsed reports axes that make cells which don't differ.
func (r *reader) checkUsed(f *File, axes map[string][]string) {
	for name := range axes {
		if n, found := find(f.root, axisPath(name)); found && !r.refs.used[name] && axisName.MatchString(name) {
			r.note(n, "nothing in topology, images or steps refers to ${%s}", name)
		}
	}
}
