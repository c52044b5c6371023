package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/harness/spelling"
	"github.com/skewrig/skewrig/sweep/gated"
)

var _ = register(lookFurther, newGates)

func newGates() *cobra.Command {
	var out output
	var b binaries
	var short bool
	cmd := &cobra.Command{
		Use:   "gates [RELEASE | FROM..TO] [GATE ...]",
		Short: "Show a release's feature gates and the fields that they guard",
		Long: `Show the feature gates of a release with the fields of the API that each guards, and where
objects can have them, or what differs between two releases. It is read from the sources of
the releases, which are downloaded once, and no component is started. Of a checkout, or a
release that skewrig does not know, a program is compiled that prints the gates: a minute. If
unset, the release is the newest one.

A gate without fields changes behavior only, or guards something of which the types don't
tell. Where only the comment of a field names the gate, it may guard one value of the field,
or one use: such fields are marked.`,
		Example: `  skewrig gates
  skewrig gates newest GRPCContainerProbeTLS
  skewrig gates previous..newest
  skewrig gates previous..newest --short
  skewrig gates newest --source ../kubernetes -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			builder, _, err := b.open(cmd)
			if err != nil {
				return err
			}
			newest, _ := builder.Pair.Pair()
			word, names := newest.MajorMinor(), args
			if len(args) > 0 && isReleases(args[0]) {
				word, names = args[0], args[1:]
			}
			if from, to, two := strings.Cut(word, ".."); two {
				return compareGates(cmd, out, builder, from, to, names, short)
			}
			r, _, err := app.Gates(cmd.Context(), builder, word)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				return printResult(cmd, out, r, printGates)
			}
			if r, err = only(r, names); err != nil {
				return err
			}
			return printResult(cmd, out, r, printGuarded)
		},
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&short, "short", false, "of two releases, print only what an upgrade has to look at: defaults that change, gates that are gone or locked, new fields")
	b.registerReleases(cmd)
	return cmd
}

func compareGates(cmd *cobra.Command, out output, builder *build.Builder, from, to string, names []string, short bool) error {
	if len(names) > 0 {
		return fmt.Errorf("two releases are compared with all of their gates: leave out %s", strings.Join(names, ", "))
	}
	was, wasAPI, err := app.Gates(cmd.Context(), builder, from)
	if err != nil {
		return err
	}
	is, isAPI, err := app.Gates(cmd.Context(), builder, to)
	if err != nil {
		return err
	}
	d := gated.Compare(was, is, wasAPI, isAPI)
	if short {
		d = d.Short()
	}
	return printResult(cmd, out, d, printDifference)
}

// isReleases reports whether an argument is about releases: gates begin with a capital letter.
func isReleases(arg string) bool { return arg != "" && (arg[0] < 'A' || arg[0] > 'Z') }

// only is a release with the gates of some names.
func only(r gated.Release, names []string) (gated.Release, error) {
	var known []string
	for _, g := range r.Gates {
		known = append(known, g.Name)
	}
	if err := allKnown(names, known, string(r.Version)+" has no feature gate"); err != nil {
		return r, errors.Join(err, elsewhere(names, known))
	}
	r.Gates = slices.DeleteFunc(r.Gates, func(g gated.Gate) bool { return !slices.Contains(names, g.Name) })
	return r, nil
}

// elsewhere names the releases that have gates that a release does not have.
func elsewhere(names, known []string) error {
	var there []error
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		minors, err := release.WithGate(name)
		if len(minors) > 0 {
			err = fmt.Errorf("known releases that have %s: %s", name, strings.Join(minors, ", "))
		}
		there = append(there, err)
	}
	return errors.Join(there...)
}

// allKnown is an error that names all that is not known, and what may have been meant.
func allKnown(names, known []string, what string) error {
	var unknown []error
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		hint := ""
		if near := spelling.Closest(name, known); len(near) > 0 {
			hint = ": did you mean " + near[0] + "?"
		}
		unknown = append(unknown, fmt.Errorf("%s %s%s", what, name, hint))
	}
	return errors.Join(unknown...)
}

func printGates(w io.Writer, r gated.Release) {
	table(w, "GATE\tSTAGE\tDEFAULT\tGUARDS\tNEEDS", r.Gates, func(g gated.Gate) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", g.Name, maturity(g), setting(g), guards(g), strings.Join(g.Needs, ", "))
	})
	fields := 0
	for _, g := range r.Gates {
		if len(g.Fields) > 0 {
			fields++
		}
	}
	fmt.Fprintf(w, "\n%s has %d gates; %d of them guard fields\n", r.Version, len(r.Gates), fields)
	for _, f := range r.Unknown {
		fmt.Fprintf(w, "%s:%d: %s is said to be guarded by %s, and there is no such gate\n", f.File, f.Line, f.Name, strings.Join(f.Gates, ", "))
	}
}

func maturity(g gated.Gate) string {
	s := strings.ToLower(string(g.Stage))
	if g.Stage == release.GA {
		s = "GA"
	}
	if g.Since != "" {
		s += " since " + string(g.Since)
	}
	return s
}

// setting is what the gate is unless it is set.
func setting(g gated.Gate) string {
	s := map[bool]string{true: "on", false: "off"}[g.Default]
	if g.Locked {
		return s + ", locked"
	}
	return s
}

// guards are the fields in few words.
func guards(g gated.Gate) string {
	switch len(g.Fields) {
	case 0:
		return "-"
	case 1:
		return g.Fields[0].Name
	default:
		return fmt.Sprintf("%s and %d more", g.Fields[0].Name, len(g.Fields)-1)
	}
}

func printGuarded(w io.Writer, r gated.Release) {
	for i, g := range r.Gates {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s; %s\n", g.Name, maturity(g), setting(g))
		if len(g.Needs) > 0 {
			fmt.Fprintf(w, "needs %s\n", strings.Join(g.Needs, ", "))
		}
		if len(g.Fields) == 0 {
			fmt.Fprintln(w, "guards no field that the types tell of")
		}
		for _, f := range g.Fields {
			printField(w, g, f)
		}
	}
}

func printField(w io.Writer, of gated.Gate, f gated.Field) {
	fmt.Fprintf(w, "\n%s, a %s", f.Name, f.Type)
	if len(f.Values) > 0 {
		fmt.Fprintf(w, " (%s)", strings.Join(f.Values, ", "))
	}
	if f.Default != "" {
		fmt.Fprintf(w, ", %s by default", f.Default)
	}
	fmt.Fprintf(w, "\n  %s:%d\n", f.File, f.Line)
	if f.ByComment {
		fmt.Fprintln(w, "  its comment names the gate, no marker: it may guard a value, or a use")
	}
	if others := slices.DeleteFunc(slices.Clone(f.Gates), func(name string) bool { return name == of.Name }); len(others) > 0 {
		fmt.Fprintf(w, "  with %s\n", strings.Join(others, ", "))
	}
	if len(f.Places) == 0 {
		fmt.Fprintln(w, "  no object that is stored has it")
	}
	for i := 0; i < len(f.Places); {
		p, n := f.Places[i], 1
		for i+n < len(f.Places) && f.Places[i+n].APIVersion == p.APIVersion && f.Places[i+n].Kind == p.Kind {
			n++
		}
		fmt.Fprintf(w, "  %s %s %s", p.APIVersion, p.Kind, p.Path)
		if n > 1 {
			fmt.Fprintf(w, " and %d more", n-1)
		}
		if len(p.Under) > 0 {
			fmt.Fprintf(w, ", with %s", strings.Join(p.Under, ", "))
		}
		fmt.Fprintln(w)
		i += n
	}
}

func printDifference(w io.Writer, d gated.Difference) {
	for _, part := range []struct {
		header  string
		changes []gated.Change
	}{{"GATE", d.Gates}, {"KIND", d.Kinds}, {"FIELD", d.Fields}} {
		if len(part.changes) == 0 {
			continue
		}
		table(w, fmt.Sprintf("%s\tWHAT\t%s -> %s", part.header, d.From, d.To), part.changes, func(c gated.Change) string {
			return fmt.Sprintf("%s\t%s\t%s", c.Name, c.What, fromTo(c))
		})
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, d.Counts())
}

func fromTo(c gated.Change) string {
	switch c.What {
	case gated.Added:
		return c.To
	case gated.Removed:
		return c.From
	default:
		return cmp.Or(c.From, "-") + " -> " + cmp.Or(c.To, "-")
	}
}
