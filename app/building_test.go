package app

import (
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/build"
)

func TestHowFarABuildIs(t *testing.T) {
	t.Parallel()
	target := build.Target{Component: build.Kubelet, Version: "v1.90.1"}
	for want, p := range map[string]build.Progress{
		"kubelet@v1.90.1 waiting":                                              {State: build.Waiting},
		"kubelet@v1.90.1 downloading: 7 modules so far":                        {State: build.Downloading, Done: 7},
		"kubelet@v1.90.1 compiling":                                            {State: build.Compiling, Compiled: time.Minute},
		"kubelet@v1.90.1 compiling: 20 of 1800 packages":                       {State: build.Compiling, Compiled: 9 * time.Second, Done: 20, Of: 1800},
		"kubelet@v1.90.1 compiling: 450 of 1800 packages, about 3m left":       {State: build.Compiling, Compiled: time.Minute, Done: 450, Of: 1800},
		"kubelet@v1.90.1 compiling: 1800 of 1800 packages, a few seconds left": {State: build.Compiling, Compiled: time.Minute, Done: 1800, Of: 1800},
	} {
		p.Target = target
		if got := BuildLine(p.Target.String(), p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
