package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
)

// versions are what this skewrig is made of, and what it runs unless something else is
// asked for.
type versions struct {
	// Skewrig is the version of the module, Commit the one it was built from, with
	// "modified" after it if the checkout was. If unset, the build does not say.
	Skewrig string `json:"skewrig"`
	Commit  string `json:"commit,omitempty"`
	// Go is the toolchain that built it, Platform what for.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Newest and Previous are the default pair of releases.
	Newest   release.Version `json:"newest"`
	Previous release.Version `json:"previous"`
	Etcd     release.Version `json:"etcd"`
	Cache    cacheState      `json:"cache"`
}

// cacheState is what a cache of built components holds.
type cacheState struct {
	Dir      string `json:"dir"`
	Binaries int    `json:"binaries"`
	Bytes    int64  `json:"bytes"`
}

var _ = register(lookUp, newVersion)

func newVersion() *cobra.Command {
	var out output
	var dir string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of skewrig, of Go and of the default releases",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := cacheOf(dir)
			if err != nil {
				return app.Failed(err)
			}
			info, _ := debug.ReadBuildInfo() // without it, the build says nothing
			v := versions{
				Skewrig: version(), Commit: commitOf(info), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
				Newest: release.Newest, Previous: release.Previous, Etcd: release.Etcd, Cache: cache,
			}
			return printResult(cmd, out, v, printVersions)
		},
	}
	out.register(cmd)
	registerCacheDir(cmd, &dir)
	return cmd
}

// commitOf is the commit that a build is from. It is empty if the build does not say.
func commitOf(info *debug.BuildInfo) (commit string) {
	if info == nil {
		return ""
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit = settings["vcs.revision"]
	if commit != "" && settings["vcs.modified"] == "true" {
		commit += ", modified"
	}
	return commit
}

func cacheOf(dir string) (is cacheState, err error) {
	if is.Dir = dir; dir == "" {
		if is.Dir, err = build.DefaultDir(); err != nil {
			return is, err
		}
	}
	entries, err := (&build.Builder{Dir: is.Dir}).List()
	for _, e := range entries {
		is.Binaries++
		is.Bytes += e.Bytes
	}
	return is, err
}

func printVersions(w io.Writer, v versions) {
	commit := ""
	if v.Commit != "" {
		commit = fmt.Sprintf(" (commit %s)", v.Commit)
	}
	for _, line := range [][2]string{
		{"skewrig", v.Skewrig + commit},
		{"go", v.Go + " " + v.Platform},
		{"newest", string(v.Newest)},
		{"previous", string(v.Previous)},
		{"etcd", string(v.Etcd)},
		{"cache", fmt.Sprintf("%s (%d binaries, %s)", v.Cache.Dir, v.Cache.Binaries, megabytes(v.Cache.Bytes))},
	} {
		fmt.Fprintf(w, "%-9s %s\n", line[0], line[1])
	}
}
