package build

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/release"
)

// versionText finds a version in what a component prints about itself:
// "Kubernetes v1.90.1", "Client Version: v1.90.1" or "etcd Version: 3.7.0".
var versionText = regexp.MustCompile(`(?m)^(?:Kubernetes v|Client Version: v|etcd Version: |v)(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)`)

// Describe reads the version of a ready-made binary by running it.
func Describe(ctx context.Context, c Component, path string) (Given, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Given{}, err
	}
	v, err := askVersion(ctx, c, path)
	return Given{Component: c, Version: v.WithoutBuild(), Path: path}, err
}

// Assets returns the ready-made etcd and kube-apiserver of a directory laid out
// as controller-runtime's envtest wants it (KUBEBUILDER_ASSETS). What is not
// there is left out.
func Assets(ctx context.Context, dir string) ([]Given, error) {
	var all []Given
	for _, c := range []Component{Etcd, APIServer} {
		path := filepath.Join(dir, string(c))
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		given, err := Describe(ctx, c, path)
		if err != nil {
			return nil, err
		}
		all = append(all, given)
	}
	return all, nil
}

// provided is the binary that a user gave for a target. The version is what it
// says itself, whatever it stands for: a report tells what ran.
func provided(ctx context.Context, t Target, path string) (Binary, error) {
	given, err := Describe(ctx, t.Component, path)
	if err != nil {
		return Binary{}, err
	}
	digest, size, err := digestFile(given.Path)
	return Binary{Component: t.Component, Version: given.Version, Path: given.Path, Source: ReadyMade, Digest: digest, Bytes: size, Go: compiledWith(given.Path)}, err
}

// askVersion returns the release that an executable is.
func askVersion(ctx context.Context, c Component, path string) (release.Version, error) {
	if c == DependencyWatchdog || c == HealthProbe {
		return builtVersion(c, path)
	}
	args := []string{"--version"}
	switch c {
	case Kubectl:
		args = []string{"version", "--client"}
	case Kubeadm:
		args = []string{"version", "--output", "short"}
	}
	said, err := process.Command{Path: path, Args: args}.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", path, err)
	}
	found := versionText.FindStringSubmatch(said.Text())
	if found == nil {
		return "", fmt.Errorf("%s %s does not name a release: %q", path, strings.Join(args, " "), process.LastLines(said.Text(), 1))
	}
	v := release.Version("v" + found[1])
	_, err = release.Parse(string(v.WithoutBuild()))
	return v, err
}

// builtVersion reads the version of a program that does not tell it from what
// the Go command wrote into the executable.
func builtVersion(c Component, path string) (release.Version, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading what %s was built from: %w", path, err)
	}
	for _, module := range append(info.Deps, &info.Main) {
		if module.Path == c.source().Module {
			v, err := release.Parse(module.Version)
			if err != nil {
				return "", fmt.Errorf("%s was not built from a release of %s: %w", path, module.Path, err)
			}
			return v, nil
		}
	}
	return "", fmt.Errorf("%s is not a %s: it was built from %s", path, c, info.Path)
}
