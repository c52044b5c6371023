package main

import (
	"slices"
	"testing"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/release"
)

// Each stage of a release is a command that takes its flags: those of the build, too.
func TestTheStagesOfAReleaseAreCommands(t *testing.T) {
	f := releaseFlags{binaries: binaries{Binaries: app.Binaries{CacheDir: "cache", StandIns: []string{"example.com/a=v1.0.0"}}}, dir: "release"}
	newest, previous := release.Releases{}.Pair()
	stages, err := f.stages(release.Releases{Newest: newest, Previous: previous})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		cmd, rest, err := newRoot().Find(s.args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("stage %s: %s: %v", s.name, s.command(), err)
		}
		if !s.informs && !slices.Contains(s.args, "example.com/a=v1.0.0") {
			t.Errorf("stage %s does not pass on the stand-in: %s", s.name, s.command())
		}
	}
}
