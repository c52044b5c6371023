package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/suites/mutants/mutation"
)

// target is what mutants are made of.
type target struct {
	component build.Component
	version   release.Version
	// helpers is the file that takes the runtime, in a package that all others may
	// import.
	helpers string
	module  string
	files   []string
	// types are those of constants that are not the default ones.
	types map[string]string
	// once are the functions whose mutants have a rig of their own: they run when the
	// component starts, as does what is outside of functions, or leave something behind.
	once []string
	// cells are those that may see a mutant.
	cells []string
	// patience is how long these wait at least for what may not come: what they wait
	// for may come as late.
	patience time.Duration
}

var targets = map[string]target{
	"prober": {
		component: build.Kubelet, version: release.Newest, module: "k8s.io/kubernetes", helpers: "pkg/probe/probe.go",
		files: []string{
			"pkg/probe/grpc/grpc.go", "pkg/probe/http/http.go", "pkg/probe/http/request.go", "pkg/probe/tcp/tcp.go",
			"pkg/kubelet/prober/prober.go", "pkg/kubelet/prober/worker.go",
		},
		types: map[string]string{"maxRespBodyLength": "int64"},
		once:  []string{"", "New", "NewWithTLSConfig", "newProber", "newWorker", "worker.run", "worker.stop"},
		cells: []string{"kep-4939/**", "kep-4939-draft/**", "kep-5999/**", "regressions/**"},
	},
	"podsapi": {
		component: build.Kubelet, version: release.Newest, module: "k8s.io/kubernetes", helpers: "pkg/probe/probe.go",
		files: []string{"pkg/kubelet/apis/pods/server.go"},
		once:  []string{"", "NewBroadcaster", "NewPodsServer"},
		cells: []string{"kep-4188/**"},
	},
	"watchdog": {
		component: build.DependencyWatchdog, version: release.DependencyWatchdog()[1], module: "github.com/gardener/dependency-watchdog",
		helpers: "internal/prober/errors/errors.go",
		files:   []string{"internal/prober/prober.go", "internal/prober/probermgr.go"},
		once:    []string{""},
		cells:   []string{"dwd/**/watchdog:" + string(release.DependencyWatchdog()[1])},
		// Three of its runs take 25 s, and a lease expires after 30 s at the defaults.
		patience: 40 * time.Second,
	},
}

// generate returns the files of a target with all of its mutants.
func (t target) generate(root string) (map[string][]byte, []mutation.Mutant, error) {
	read := func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(root, path)) }
	helpers, err := read(t.helpers)
	if err != nil {
		return nil, nil, err
	}
	if helpers, err = mutation.WithRuntime(helpers); err != nil {
		return nil, nil, err
	}
	files, all := map[string][]byte{t.helpers: helpers}, []mutation.Mutant(nil)
	for _, path := range t.files {
		text, err := read(path)
		if err != nil {
			return nil, nil, err
		}
		mutated, mutants, err := mutation.Generate(mutation.File{Path: path, Text: text, Types: t.types}, t.module+"/"+filepath.Dir(t.helpers), len(all)+1)
		if err != nil {
			return nil, nil, err
		}
		files[path] = mutated
		all = append(all, mutants...)
	}
	return files, all, nil
}

// source is the directory of the component's module.
func (t target) source(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", t.module+"@"+string(t.version)).Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w", t.module, err)
	}
	var answer struct{ Dir string }
	return answer.Dir, json.Unmarshal(out, &answer)
}

// build compiles all mutants of a target into one binary.
func (t target) build(ctx context.Context, builder *build.Builder, dir string) (build.Binary, []mutation.Mutant, error) {
	root, err := t.source(ctx)
	if err != nil {
		return build.Binary{}, nil, err
	}
	files, mutants, err := t.generate(root)
	if err != nil {
		return build.Binary{}, nil, err
	}
	overlay := make(map[string]string)
	for path, text := range files {
		overlay[path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay)))
		if err := os.WriteFile(overlay[path], text, 0o600); err != nil {
			return build.Binary{}, nil, err
		}
	}
	binary, err := builder.Binary(ctx, build.Target{Component: t.component, Version: t.version, Overlay: overlay})
	return binary, mutants, err
}
