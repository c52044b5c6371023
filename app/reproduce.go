package app

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// Reproduce is what it takes to run the same again: a command line, a version of
// skewrig, the binaries that take part, and this machine. What the command line names
// are patterns and scenario files.
func Reproduce(args, named []string, version string, built []build.Binary) reports.Reproduce {
	return reports.Reproduce{
		Command: CommandLine(args), Files: reports.Only(named, IsFile), Skewrig: version, Go: runtime.Version(),
		Components: components(built), Host: Host(),
	}
}

// CommandLine quotes the arguments of skewrig so that they can be pasted into a
// shell. The first of args is its name.
func CommandLine(args []string) string {
	quoted := []string{"skewrig"}
	for _, arg := range args[1:] {
		quoted = append(quoted, reports.Quoted(arg))
	}
	return strings.Join(quoted, " ")
}

// components are the binaries that took part, for the report.
func components(built []build.Binary) []reports.Component {
	var all []reports.Component
	for _, b := range built {
		c := reports.Component{Name: string(b.Component), Version: string(b.Version), Source: b.Source, Digest: b.Digest, Go: b.Go}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// markStandIns marks the results of cells in which components took part that have stand-ins.
func markStandIns(results []reports.Cell, cells []plan.Cell, built []build.Binary) {
	with := make(map[string]string) // by target
	for _, b := range built {
		if len(b.StandIns) > 0 {
			with[fmt.Sprint(b.Component, "@", b.Version)] = fmt.Sprintf("%s %s with %s", b.Component, b.Version, strings.Join(b.StandIns, ", "))
		}
	}
	if len(with) == 0 {
		return
	}
	marks := make(map[string][]string)
	for _, c := range cells {
		for _, t := range plan.Targets([]plan.Cell{c}) {
			if mark := with[fmt.Sprint(t.Component, "@", t.Version)]; mark != "" && !slices.Contains(marks[c.ID], mark) {
				marks[c.ID] = append(marks[c.ID], mark)
			}
		}
	}
	for i, r := range results {
		results[i].StandIns = marks[r.ID]
	}
}

// Host is this machine.
func Host() reports.Host {
	h := reports.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		h.MemoryBytes = int64(info.Totalram) * int64(info.Unit)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return h
}
