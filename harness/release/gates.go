package release

import (
	"bufio"
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/spelling"
)

// Stage is the maturity of a feature gate in a release.
type Stage string

// The stages as components report them in their kubernetes_feature_enabled
// metric. A generally available gate has the empty stage there; it is written
// GA here.
const (
	Alpha      Stage = "ALPHA"
	Beta       Stage = "BETA"
	GA         Stage = "GA"
	Deprecated Stage = "DEPRECATED"
)

// Gate is a feature gate of a release.
type Gate struct {
	Name    string
	Stage   Stage
	Default bool
	// Locked is true if it can't be set to anything but its default.
	Locked bool
	// Needs are the gates that must be on if it is, sorted by name.
	Needs []string
	// Versions are what it was in the minor versions that its release can emulate, oldest
	// first. If unset, it is the same in all of them.
	Versions []GateVersion
}

// gateTables holds one table per minor version, as the release's own API
// server reported it, and its own package of features (a suite compares them with the
// release).
//
//go:embed gates
var gateTables embed.FS

var loadGates = sync.OnceValues(func() (Tables, error) {
	files, err := gateTables.ReadDir("gates")
	if err != nil {
		return nil, err
	}
	tables := make(Tables, len(files))
	for _, f := range files {
		text, err := gateTables.ReadFile("gates/" + f.Name())
		if err != nil {
			return nil, err
		}
		gates, err := ParseGates(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading gates/%s: %w", f.Name(), err)
		}
		tables[strings.TrimSuffix(f.Name(), ".txt")] = gates
	}
	return tables, nil
})

// Table returns the feature gates of a release, sorted by name, and whether
// they are known. For a release without a table they are not: its components
// then refuse an unknown gate themselves when they start.
func Table(e Effective) (gates []Gate, known bool, err error) {
	if gates, known = learnedGates(e.Version); !known && !e.Version.IsSource() {
		var tables Tables
		if tables, err = loadGates(); err != nil {
			return nil, false, err
		}
		gates, known = tables[e.Version.Released().MajorMinor()]
	}
	if !e.emulates() {
		return gates, known, nil
	}
	var there []Gate
	for _, g := range gates {
		if g, is := g.in(e); is {
			there = append(there, g)
		}
	}
	return there, known, nil
}

// Tables are the feature gates of releases, sorted by name, by minor version.
type Tables map[string][]Gate

// KnownTables are those of the releases that are known.
func KnownTables() (Tables, error) { return loadGates() }

// Gate returns a feature gate of a release, and whether the release knows what the
// gate guards. A release without a table has that of the last release before it. A
// gate that is gone since it was generally available is on for good. A source has its own
// table. What a release guards it knows also while it emulates one without the gate.
func (t Tables) Gate(e Effective, name string) (Gate, bool) {
	g, known := t.own(e.Version, name)
	g, _ = g.in(e)
	return g, known
}

// own is Gate of a release as itself.
func (t Tables) own(v Version, name string) (Gate, bool) {
	if gates, known := learnedGates(v); known {
		if i, found := find(gates, name); found {
			return gates[i], true
		}
	}
	minors := slices.Collect(maps.Keys(t))
	slices.SortFunc(minors, func(a, b string) int { return Version(b).Compare(Version(a)) })
	own := true // the table that is looked at is the release's own
	for _, minor := range minors {
		if Version(minor).Compare(Version(v.MajorMinor())) > 0 {
			continue
		}
		if i, found := find(t[minor], name); found {
			g := t[minor][i]
			return g, own || g.Stage == GA && g.Default
		}
		own = false
	}
	return Gate{}, false
}

// CheckGate returns an error if a release is known not to have a gate. The
// error says which releases do have it, or what may have been meant.
func CheckGate(e Effective, name string) error {
	gates, known, err := Table(e)
	if err != nil || !known || has(gates, name) {
		return err
	}
	if own, _, _ := Table(Effective{Version: e.Version}); has(own, name) {
		return fmt.Errorf("%s has feature gate %s, but not while it emulates %s", e.Version, name, cmp.Or(e.Emulated, Version(e.Version.MajorMinor())))
	}
	elsewhere, err := WithGate(name)
	if err != nil {
		return err
	}
	var names []string
	for _, g := range gates {
		names = append(names, g.Name)
	}
	hint := ""
	if near := spelling.Closest(name, names); len(near) > 0 {
		hint = "; did you mean " + near[0] + "?"
	}
	if len(elsewhere) == 0 {
		return fmt.Errorf("no known release has a feature gate %s%s", name, hint)
	}
	return fmt.Errorf("%s has no feature gate %s; known releases that have it: %s", e.Version, name, strings.Join(elsewhere, ", "))
}

// WithGate returns the minor versions that are known to have a feature gate, such as v1.36, the oldest first.
func WithGate(name string) (minors []string, err error) {
	tables, err := loadGates()
	if err != nil {
		return nil, err
	}
	for minor, gates := range tables {
		if has(gates, name) {
			minors = append(minors, minor)
		}
	}
	slices.SortFunc(minors, func(a, b string) int { return Version(a).Compare(Version(b)) })
	return minors, nil
}

func has(gates []Gate, name string) bool {
	_, found := find(gates, name)
	return found
}

func find(gates []Gate, name string) (place int, found bool) {
	return slices.BinarySearchFunc(gates, name, func(g Gate, name string) int {
		return strings.Compare(g.Name, name)
	})
}

// ParseGates reads a table of gates: a line per gate with name, stage, default and, where
// it is so, locked, needs=A,B and versions=1.89:ALPHA:false,1.90:BETA:true, sorted by name.
func ParseGates(text string) ([]Gate, error) {
	var gates []Gate
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		g, ok := parseGate(strings.Fields(lines.Text()))
		if !ok {
			return nil, fmt.Errorf("line %d: want name, stage and true or false, then locked, needs=A,B and versions=1.90:BETA:true if it is so, have %q", n, lines.Text())
		}
		gates = append(gates, g)
	}
	if !slices.IsSortedFunc(gates, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) }) {
		return nil, fmt.Errorf("gates are not sorted by name")
	}
	return gates, lines.Err()
}

func parseGate(fields []string) (g Gate, ok bool) {
	if len(fields) < 3 || (fields[2] != "true" && fields[2] != "false") {
		return g, false
	}
	g = Gate{Name: fields[0], Stage: Stage(fields[1]), Default: fields[2] == "true"}
	for _, field := range fields[3:] {
		key, list, _ := strings.Cut(field, "=")
		switch values := strings.Split(list, ","); key {
		case locked:
			g.Locked = true
		case "needs":
			g.Needs = values
		case "versions":
			for _, value := range values {
				v, is := parseGateVersion(value)
				if !is {
					return g, false
				}
				g.Versions = append(g.Versions, v)
			}
		default:
			return g, false
		}
	}
	return g, true
}

// FormatGates writes a table that ParseGates reads.
func FormatGates(gates []Gate) string {
	var b strings.Builder
	for _, g := range gates {
		fmt.Fprintf(&b, "%s %s %t", g.Name, g.Stage, g.Default)
		if g.Locked {
			b.WriteString(" " + locked)
		}
		if len(g.Needs) > 0 {
			b.WriteString(" needs=" + strings.Join(g.Needs, ","))
		}
		if len(g.Versions) > 0 {
			b.WriteString(" versions=" + strings.Join(texts(g.Versions), ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func texts(versions []GateVersion) (all []string) {
	for _, v := range versions {
		all = append(all, v.String())
	}
	return all
}
