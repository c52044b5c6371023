package build

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/skewrig/skewrig/harness/release"
)

// versionText finds a version in what a component prints about itself:
// "Kubernetes v1.37.1" or "etcd Version: 3.7.0".
var versionText = regexp.MustCompile(`(?m)^(?:Kubernetes v|etcd Version: )(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)`)

// provided describes a ready-made binary. Its version is what it says itself;
// if that is not the one asked for, it is not used.
func provided(ctx context.Context, t Target, path string) (Binary, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Binary{}, err
	}
	v, err := askVersion(ctx, path)
	if err != nil {
		return Binary{}, err
	}
	if v != t.Version && t.Component != Etcd {
		return Binary{}, fmt.Errorf("%s is %s of %s, wanted is %s", path, t.Component, v, t.Version)
	}
	digest, size, err := digestFile(path)
	if err != nil {
		return Binary{}, err
	}
	return Binary{Component: t.Component, Version: v, Path: path, Source: "given", Digest: digest, Bytes: size}, nil
}

func askVersion(ctx context.Context, path string) (release.Version, error) {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w\n%s", path, err, lastLines(string(out), 5))
	}
	found := versionText.FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s --version does not name a release: %q", path, lastLines(string(out), 1))
	}
	return release.Parse("v" + string(found[1]))
}
