package build

import (
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// enginePath is the module path under which every lock compiles our mains.
const enginePath = "github.com/skewrig/skewrig/harness/engine"

// kubernetesPath is the module that holds the components of a release.
const kubernetesPath = "k8s.io/kubernetes"

// lockKubernetes turns the go.mod of a Kubernetes release into the go.mod that
// compiles that release's components. A release replaces its staging modules
// by relative paths, which mean nothing to a consumer; each is replaced by the
// module published with the same release (k8s.io/api v0.37.1 for v1.37.1). The
// release's own requirements are kept as they are, so that what is compiled is
// what the release was tested with. The result is tidied later, by the go
// command, which also writes the sums.
func lockKubernetes(goMod []byte, version string) ([]byte, error) {
	release, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		return nil, fmt.Errorf("parsing the go.mod of %s %s: %w", kubernetesPath, version, err)
	}
	staging := "v0." + strings.TrimPrefix(version, "v1.")

	lock := new(modfile.File)
	if err := lock.AddModuleStmt(enginePath); err != nil {
		return nil, err
	}
	if err := lock.AddGoStmt(release.Go.Version); err != nil {
		return nil, err
	}
	for _, g := range release.Godebug {
		if err := lock.AddGodebug(g.Key, g.Value); err != nil {
			return nil, err
		}
	}
	requires := []*modfile.Require{{Mod: module.Version{Path: kubernetesPath, Version: version}}}
	for _, r := range release.Require {
		requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: r.Indirect})
	}
	lock.SetRequireSeparateIndirect(requires)
	for _, r := range release.Replace {
		if !strings.HasPrefix(r.New.Path, "./staging/") {
			return nil, fmt.Errorf("%s %s replaces %s by %s: only staging modules can be resolved", kubernetesPath, version, r.Old.Path, r.New.Path)
		}
		if err := lock.AddReplace(r.Old.Path, "", r.Old.Path, staging); err != nil {
			return nil, err
		}
	}
	for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if err := lock.AddTool(kubernetesPath + "/cmd/" + component); err != nil {
			return nil, err
		}
	}
	lock.Cleanup()
	return lock.Format()
}
