package spec

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/strict"
)

// Options are what scenarios don't say themselves.
type Options struct {
	// Axes are those that the scenarios share: one that refers to an axis which it doesn't
	// have itself has the shared axis of that name. If unset, there are none.
	Axes map[string][]string
	// Releases are those that words such as newest stand for. If unset, the default ones.
	Releases release.Releases
	// MarkUnfit marks a combination that the releases can't run, rather than refuse its file.
	MarkUnfit bool
}

// File is a scenario file.
type File struct {
	// Path is the path of the file, as it was given.
	Path string
	// Text is what the file holds.
	Text string
	// Combinations are what the axes expand the scenario to: axes in the order
	// of their names, values in the order of the file. A scenario without axes
	// has one.
	Combinations []Combination
	// Releases are those that words of the file stand for.
	Releases release.Releases

	document  *strict.Document
	manifests *manifests
	kinds     []ActionKind
}

// Combination is a scenario with one value for each of its axes.
type Combination struct {
	// Axes are the values by the names of the axes. What stands for a release is
	// resolved.
	Axes map[string]string
	// Scenario has every reference to an axis replaced, and the manifests of
	// its file steps loaded.
	Scenario Scenario
	// Unfit says why the releases can't run it, if they can't, see Options.
	Unfit []string
}

// Load reads scenario files, each with the manifests beside it. Everything that
// is wrong with any of them is reported at once, as *strict.Errors. Then the files have
// what of them could be decoded.
func Load(fsys fs.FS, paths []string, options Options, kinds ...ActionKind) ([]*File, error) {
	var (
		files    []*File
		problems []strict.Problem
	)
	for _, name := range paths {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			problems = append(problems, strict.Problem{Position: strict.Position{File: name, Line: 1, Column: 1}, Message: reason(err)})
			continue
		}
		document := strict.ParseDocument(name, text)
		r := &reader{
			Document: document, kinds: kinds, manifests: newManifests(fsys, path.Dir(name), document.Source.Problems),
			options: options, refs: references{used: make(map[string]bool)}, literals: make(map[*yaml.Node]bool),
		}
		if f := r.read(string(text)); f != nil {
			files = append(files, f)
		}
		problems = append(problems, r.Source.Problems.Sorted()...)
	}
	return files, strict.AsError(problems)
}

// reason leaves out of an error the path that a problem names anyway.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Op + ": " + pathError.Err.Error()
	}
	return err.Error()
}

// Position returns where a field of the scenario stands: that of its value. A path
// is written as for strict.Document. A file that wasn't read from a text has no
// positions.
func (f *File) Position(path string) strict.Position {
	if f.document == nil {
		return strict.Position{}
	}
	return f.document.Position(path)
}

// Decoded reports whether fields of the scenario have all that the file gives them. They may lack something if a part
// of them, or the name of a field, is wrong.
func (f *File) Decoded(fields ...string) bool {
	if f.document == nil {
		return true
	}
	root := f.document.Root
	for i := 0; i+1 < len(root.Content); i += 2 {
		if !slices.Contains(scenarioFields, root.Content[i].Value) {
			return false
		}
	}
	return !slices.ContainsFunc(fields, func(field string) bool { return f.document.Has(field) && !f.document.Clean(field) })
}

// scenarioFields are the names of the fields of a scenario.
var scenarioFields = func() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Scenario]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// reader reads one scenario file.
type reader struct {
	*strict.Document
	kinds     []ActionKind
	manifests *manifests
	options   Options
	refs      references
	// combinations are the values of the axes in each cell.
	combinations []map[string]string
	// decoded is how much of manifests was taken into combinations, and filled how much of sequences into steps, in bytes.
	decoded, filledIn int
	// literals are the scalars in which references are not replaced.
	literals map[*yaml.Node]bool
}

// read decodes and validates the scenario. What it returns is worth something only
// if no problems were found.
func (r *reader) read(text string) *File {
	if r.Root.Kind == 0 {
		return nil
	}
	f := &File{Path: r.Source.File, Text: text, Releases: r.options.Releases, document: r.Document, manifests: r.manifests, kinds: r.kinds}
	r.useSequences()
	r.limit()
	axes := r.axes()
	r.markLiterals()
	r.combinations = r.limited(r.where(combine(r.options.Releases, axes)), text)
	for i, values := range r.combinations {
		c := r.combination(values)
		c.Scenario.Axes = axes
		r.validate(&c, i == 0)
		f.Combinations = append(f.Combinations, c)
	}
	r.checkUsed(axes)
	return f
}

// axes decodes the axes alone, and adds the shared ones that the scenario refers to:
// the rest can't be decoded before they are known.
func (r *reader) axes() map[string][]string {
	n, found := r.Find("axes")
	axes := make(map[string][]string)
	if found {
		d := strict.Decoder{Source: r.Source}
		d.Decode(n, reflect.ValueOf(&axes).Elem())
		for i := 0; i+1 < len(n.Content); i += 2 {
			if _, decoded := axes[n.Content[i].Value]; !decoded && n.Kind == yaml.MappingNode {
				axes[n.Content[i].Value] = nil
			}
		}
	}
	for name, values := range r.options.Axes {
		if _, own := axes[name]; !own && refersTo(r.Root, name) {
			axes[name] = values
		}
	}
	return axes
}

// where leaves out the combinations for which the scenario's condition does not
// hold. All of them stay if it is not known.
func (r *reader) where(combinations []map[string]string) []map[string]string {
	n, found := r.Find("where")
	if !found || n.Kind != yaml.ScalarNode {
		return combinations
	}
	condition, err := ParseCondition(n.Value)
	var kept []map[string]string
	for _, axes := range combinations {
		values := axes
		if condition.names(supported) {
			values = maps.Clone(axes)
			values[supported] = strconv.FormatBool(r.supported(axes))
		}
		holds, mistake := condition.Holds(values)
		if err = cmp.Or(err, mistake); err != nil {
			r.Source.Fail(n, "%v", err)
			return combinations
		}
		if holds {
			kept = append(kept, axes)
		}
	}
	if len(kept) == 0 {
		r.Source.Fail(n, "this holds for none of the axes' values, so that there is nothing to run")
		return combinations
	}
	return kept
}

// supported reports whether the version skew policy allows the rig at the beginning, for some
// values of the axes.
func (r *reader) supported(axes map[string]string) bool {
	c := r.combination(axes)
	rig, _ := NewRig(c.Scenario.Topology, axes, r.options.Releases)
	rig.unsupported, rig.skews = nil, make(map[string]bool)
	rig.CheckRules("")
	return len(rig.take()) == 0
}

// combination decodes the scenario as it is for some values of the axes.
func (r *reader) combination(axes map[string]string) Combination {
	r.refs.values = axes
	c := Combination{Axes: axes}
	d := strict.Decoder{Source: r.Source, Replace: r.replace}
	d.More = func(out any) ([]string, func(string, *yaml.Node) bool) { return r.stepKinds(&d, out) }
	d.Decode(r.Root, reflect.ValueOf(&c.Scenario).Elem())
	r.loadManifests(&c.Scenario)
	return c
}

// stepKinds has the kinds of actions as further fields of a step. Of several, the step
// has the first.
func (r *reader) stepKinds(d *strict.Decoder, out any) ([]string, func(string, *yaml.Node) bool) {
	step, is := out.(*Step)
	if !is {
		return nil, nil
	}
	return kindNames(r.kinds, nil), func(name string, n *yaml.Node) bool {
		kind := slices.IndexFunc(r.kinds, func(k ActionKind) bool { return k.Name == name })
		value := reflect.New(r.kinds[kind].Type).Elem()
		ok := d.Decode(n, value)
		written := value.Interface()
		if short, is := written.(Shorthand); is {
			written = short.Action()
		}
		if act, is := written.(Action); is && step.Action == nil {
			step.Kind, step.Action = name, act
		}
		return ok
	}
}

func (r *reader) loadManifests(s *Scenario) {
	for i := range s.Steps {
		step := &s.Steps[i]
		loader, loads := step.Action.(Loader)
		at, found := r.Find(stepPath(i) + "." + step.Kind)
		if !loads || !found {
			continue
		}
		if r.decoded > maxDecoded {
			r.Source.Fail(at, "too many manifests: those of all steps and cells must be at most %d bytes; use fewer values on the axes, or "+several, maxDecoded)
			return
		}
		loaded, err := loader.Load(func(name string) (Objects, error) {
			objects, err := r.manifests.load(name)
			r.decoded += r.manifests.sizes[path.Join(r.manifests.dir, name)]
			return objects, err
		})
		if err != nil {
			r.Source.Fail(at, "loading %s: %s", strict.Quote(at.Value), reason(err))
		}
		step.Action = loaded
	}
}

// checkUsed reports axes that make cells which don't differ.
func (r *reader) checkUsed(axes map[string][]string) {
	r.useConditions(r.Root)
	for name := range axes {
		if n, found := r.Find(axisPath(name)); found && !r.refs.used[name] && axisName.MatchString(name) {
			r.Source.Note(n, "nothing in topology, images or steps refers to ${%s}", name)
		}
	}
}

// useConditions marks the names as used that a step's or a check's condition compares.
func (r *reader) useConditions(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "when" {
			condition, _ := ParseCondition(child.Value)
			for _, c := range condition {
				r.refs.used[c.name] = true
			}
		}
		r.useConditions(child)
	}
}
