package reports

import (
	"fmt"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/harness/release"
)

// DirFor returns a name for the report directory of a run of cells, given by ids or
// patterns. Other cells have another name. No directory that is named in from, which
// are commands and directories, has it: what is printed there overwrites none of them.
func DirFor(from []string, cells ...string) string {
	sum := fnv.New32a()
	for _, c := range cells {
		fmt.Fprintln(sum, c) // to memory
	}
	return Fresh(fmt.Sprintf("report-%s-%06x", shared(cells), sum.Sum32()&0xffffff), from...)
}

// Fresh returns the name of a directory beside dir if dir is named in one of the
// texts, which are commands and directories.
func Fresh(dir string, from ...string) string {
	var named []string
	for _, text := range from {
		named = append(named, path.Base(text))
		for _, w := range word.FindAllString(text, -1) {
			named = append(named, path.Base(unquoted(w)))
		}
	}
	for slices.Contains(named, path.Base(dir)) {
		dir = beside(dir)
	}
	return dir
}

// beside is another directory than dir.
func beside(dir string) string {
	switch clean := path.Clean(dir); clean {
	case ".", "..", "/": // which have another name
		return path.Join(clean, "again")
	default:
		return clean + "-again"
	}
}

// shared is the last segment that all ids or patterns begin with, as a word.
func shared(cells []string) string {
	name := "cells"
	for i := 0; ; i++ {
		var segment string
		for n, c := range cells {
			segments := strings.Split(c, "/")
			if i >= len(segments) || strings.ContainsAny(segments[i], ":*") || n > 0 && segments[i] != segment {
				return name
			}
			segment = segments[i]
		}
		if segment == "" {
			return name
		}
		name = notPlain.ReplaceAllString(segment, "-")
	}
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// Again returns commands that made a report, one a line, as they make it again: what
// each of them writes goes to a directory beside, where the others then find it.
func Again(commands string) string {
	lines := strings.Split(commands, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "skewrig run") && !written.MatchString(line) {
			lines[i] += " --report-dir " + defaultDir(line)
		}
	}
	all := strings.Join(lines, "\n")
	moved := make(map[string]string)
	for _, m := range written.FindAllStringSubmatch(all, -1) {
		dir := unquoted(m[1])
		moved[path.Clean(dir)] = Fresh(dir, all)
	}
	for i, line := range lines {
		command := merge.FindString(line)
		lines[i] = command + word.ReplaceAllStringFunc(line[len(command):], func(w string) string {
			if to, is := moved[path.Clean(unquoted(w))]; is {
				return Quoted(to)
			}
			return w
		})
	}
	return strings.Join(lines, "\n")
}

// CellAgain is the command that runs a cell again, into a directory of its own. A cell of
// the catalog is known by its id, one of a user's own by its file as well. Where the report
// does not name that, it is what made the whole report, one command a line.
func (r Reproduce) CellAgain(c Cell, dir string) (command string, whole bool) {
	if c.Again != "" {
		return c.Again + " --report-dir " + Quoted(dir), false
	}
	named := r.Files
	if len(named) == 0 {
		named = filesIn(r.Command)
	}
	id, on := c.ID, r.runtime()+r.PairFlags()
	if r.runtime() == " --runtime both" {
		id = bothRuntimes.ReplaceAllString(id, "")
	}
	own := slices.ContainsFunc(named, func(n string) bool {
		n = path.Clean(n)
		return n == c.File || path.IsAbs(n) && strings.HasSuffix(n, "/"+c.File)
	})
	switch {
	case len(named) > 0 && c.File == "":
		return Again(r.Command), true
	case own:
		return RunCommand(dir, c.File, id) + on, false
	}
	return RunCommand(dir, id) + on, false
}

// runtime is the flag that says which container runtime nodes had, after a space. If the command had none, it is
// empty.
func (r Reproduce) runtime() string {
	if m := runtimes.FindStringSubmatch(r.Command); m != nil {
		return " --runtime " + unquoted(m[1])
	}
	return ""
}

// PairFlags are the flags that choose the releases of the run, after a space. They are empty if it had the pair that this
// skewrig has by default.
func (r Reproduce) PairFlags() string {
	pair := release.Releases{Newest: r.Newest, Previous: r.Previous}
	if !pair.Chosen() {
		return ""
	}
	newest, previous := pair.Pair()
	return fmt.Sprintf(" --newest %s --previous %s", newest, previous)
}

// KnownDeviations is the list of known deviations that the run was given. If it was given
// none, it is empty.
func (r Reproduce) KnownDeviations() string {
	if m := deviations.FindStringSubmatch(r.Command); m != nil {
		return unquoted(m[1])
	}
	return ""
}

// RunCommand is the command that runs cells, given by scenario files and by ids or patterns,
// into a directory. If that is unset, it names none.
func RunCommand(dir string, named ...string) string {
	words := []string{"skewrig run"}
	for _, n := range named {
		if isFile(n) {
			words = append(words, Quoted(n))
		} else {
			words = append(words, "'"+n+"'") // neither ids nor patterns have a quote in them (package cellid)
		}
	}
	if dir != "" {
		words = append(words, "--report-dir", dir)
	}
	return strings.Join(words, " ")
}

// filesIn are the scenarios that a command names, other than by patterns. Reports of
// format 1 have them nowhere else.
func filesIn(command string) (files []string) {
	for _, w := range word.FindAllString(deviations.ReplaceAllString(command, ""), -1) {
		if file := path.Clean(unquoted(w)); isFile(file) {
			files = append(files, file)
		}
	}
	return files
}

func isFile(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }

// Quoted is a word of a command as a shell reads it.
func Quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var plain = regexp.MustCompile(`^[-A-Za-z0-9_./:@%+,=]+$`)

// unquoted is what a shell makes of what Quoted returns.
func unquoted(word string) string {
	if len(word) < 2 || word[0] != '\'' {
		return word
	}
	return strings.ReplaceAll(strings.TrimSuffix(word[1:], "'"), `'\''`, "'")
}

// word is a word of a command, as Quoted quotes it, and written finds that of
// the report directory.
var (
	word       = regexp.MustCompile(`'(?:[^']|'\\'')*'|[^\s'=]+`)
	written    = regexp.MustCompile(`--report-dir[ =](` + word.String() + `)`)
	reruns     = regexp.MustCompile(`--rerun-failed[ =](` + word.String() + `)`)
	merge      = regexp.MustCompile(`^skewrig report merge `)
	deviations = regexp.MustCompile(`--known-deviations[= ](` + word.String() + `)`)
	runtimes   = regexp.MustCompile(`--runtime[= ](` + word.String() + `)`)
)

// bothRuntimes is what ids of cells end with that a run has on two runtimes.
var bothRuntimes = regexp.MustCompile(`/runtime:[a-z]+$`)

// defaultDir is where a run writes its report if its command does not say so.
func defaultDir(command string) string {
	m := reruns.FindStringSubmatch(command)
	if m == nil {
		return "report"
	}
	return Quoted(strings.TrimSuffix(unquoted(m[1]), "/report.json") + "-rerun")
}
