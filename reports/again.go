package reports

import (
	"fmt"
	"hash/fnv"
	"path"
	"regexp"
	"slices"
	"strings"
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
				return strings.Replace(w, unquoted(w), to, 1)
			}
			return w
		})
	}
	return strings.Join(lines, "\n")
}

// unquoted is a word without the quotes around it. Those in it stay as they are.
func unquoted(word string) string { return strings.Trim(word, "'") }

// word is a word of a command, as app.CommandLine quotes it, and written finds that of
// the report directory.
var (
	word    = regexp.MustCompile(`'(?:[^']|'\\'')*'|[^\s'=]+`)
	written = regexp.MustCompile(`--report-dir[ =](` + word.String() + `)`)
	reruns  = regexp.MustCompile(`--rerun-failed[ =](` + word.String() + `)`)
	merge   = regexp.MustCompile(`^skewrig report merge `)
)

// defaultDir is where a run writes its report if its command does not say so.
func defaultDir(command string) string {
	m := reruns.FindStringSubmatch(command)
	if m == nil {
		return "report"
	}
	dir := unquoted(m[1])
	return strings.Replace(m[1], dir, dir+"-rerun", 1)
}
