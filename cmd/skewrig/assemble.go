package main

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/ledger"
)

// assemble makes the report of results: the ledgers' statements joined to the
// checks that serve them, and what it takes to run the same again.
func assemble(results []reports.Cell, built []build.Binary) (reports.Report, error) {
	requirements, err := ledger.Requirements()
	if err != nil {
		return reports.Report{}, err
	}
	return reports.Assemble(results, requirements, reports.Reproduce{
		Command:    commandLine(os.Args),
		Skewrig:    version(),
		Go:         runtime.Version(),
		Components: components(built),
		Host:       host(),
	})
}

// commandLine quotes arguments so that they can be pasted into a shell.
func commandLine(args []string) string {
	quoted := []string{"skewrig"}
	for _, arg := range args[1:] {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]{}~#`!") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		quoted = append(quoted, arg)
	}
	return strings.Join(quoted, " ")
}

func host() reports.Host {
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
