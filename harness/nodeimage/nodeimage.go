// Package nodeimage makes node images for kind without a registry: Debian's packages, the files
// that kind's module has for its base image, and the components of a release. There is no CNI
// plugin's pod, no kube-proxy and no CoreDNS in them.
package nodeimage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/containerd"
	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/layer"
	"github.com/skewrig/skewrig/harness/release"
)

// Name is the name of the node image of a release.
func Name(v release.Version) string { return "skewrig-node:" + string(v) }

// Config says what to make an image of.
type Config struct {
	Release release.Version
	// Binary finds the executable of a component. Builder.Binary does.
	Binary func(context.Context, build.Target) (build.Binary, error)
	// Kind is the directory of kind's module.
	Kind string
	// CacheDir is where the Debian system is kept, which all releases share.
	CacheDir string
	// Images are archives of other images that nodes are to have, of pods' sandboxes at least.
	Images []string
	// Progress is called with what is done next.
	Progress func(what string)
}

// Targets are the components that an image has.
func Targets(v release.Version) []build.Target {
	return []build.Target{
		{Component: build.Etcd, Version: release.Etcd},
		{Component: build.APIServer, Version: v}, {Component: build.ControllerManager, Version: v}, {Component: build.Scheduler, Version: v},
		{Component: build.Kubelet, Version: v, Unmodified: true}, {Component: build.Kubectl, Version: v}, {Component: build.Kubeadm, Version: v},
	}
}

// Make makes the image of a release, and returns its name. One of that name that was there before is
// replaced. It takes what Check asks for.
func Make(ctx context.Context, c Config) (name string, err error) {
	binaries := make(map[build.Component]string)
	for _, t := range Targets(c.Release) {
		b, err := c.Binary(ctx, t)
		if err != nil {
			return "", err
		}
		binaries[t.Component] = b.Path
	}
	temp, err := os.MkdirTemp("", "skewrig-node-image-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	base, err := c.base(ctx)
	if err != nil {
		return "", err
	}
	files, err := kindFiles(c.Kind)
	if err != nil {
		return "", err
	}
	for _, component := range []build.Component{build.Kubelet, build.Kubeadm, build.Kubectl} {
		files = append(files, layer.File("/usr/bin/"+string(component), binaries[component], 0o755))
	}
	files = append(files, layer.Text("/kind/version", string(c.Release)))
	c.Progress("making the images of the control plane")
	controlPlane := filepath.Join(temp, "control-plane.tar")
	if err := controlPlaneImages(ctx, c.Release, binaries, controlPlane); err != nil {
		return "", err
	}
	c.Progress("putting the image together")
	files = append(files, layer.Dir(importDir, 0o700))
	for i, archive := range append(c.Images, controlPlane) {
		files = append(files, layer.File(fmt.Sprintf("%s/%d.tar", importDir, i), archive, 0o600))
	}
	return Name(c.Release), assemble(ctx, base, files, Name(c.Release))
}

// short is a short name for what a text says.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// importDir is where a container that is no node yet has archives of images while they are imported.
const importDir = "/kind/import"

// setup makes a node of a container with Debian and kind's files, and importImages has its containerd have images.
//
//go:embed setup.sh
var setup string

//go:embed import.sh
var importImages string

// assemble makes an image of another one with files, those of images for pods imported. Containers that killed processes of
// this machine have left are removed.
func assemble(ctx context.Context, base string, files layer.Layer, name string) (err error) {
	const label = docker.RunLabel + "=node-image"
	left, err := docker.Left(ctx, "container", label)
	if err != nil {
		return err
	}
	if err := remove(ctx, left...); err != nil {
		return err
	}
	owner, err := docker.OwnerLabels()
	if err != nil {
		return err
	}
	container := "skewrig-node-image-" + short(name+rand.Text())
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx), container)) }()
	run := slices.Concat([]string{"run", "--detach", "--name", container, "--label", label}, owner, []string{"--network", "none", "--entrypoint", "sleep", base, "infinity"})
	if _, err := docker.Run(ctx, run...); err != nil {
		return err
	}
	if err := copyTo(ctx, container, files); err != nil {
		return err
	}
	importing := append([]string{"sh"}, containerd.While("sh", "-c", importImages, "sh", importDir)...)
	for _, command := range [][]string{{"sh", "-c", setup}, importing} {
		if _, err := docker.Run(ctx, append([]string{"exec", container}, command...)...); err != nil {
			return fmt.Errorf("setting up the node image: %w", err)
		}
	}
	_, err = docker.Run(ctx, "commit", "--change", `ENTRYPOINT ["/usr/local/bin/entrypoint","/sbin/init"]`, "--change", "CMD []", "--change", "ENV container=docker", container, name)
	return err
}

// remove removes containers, which may be gone.
func remove(ctx context.Context, containers ...string) error {
	if len(containers) == 0 {
		return nil
	}
	_, err := docker.Run(ctx, append([]string{"rm", "--force", "--volumes"}, containers...)...)
	return err
}

// copyTo puts files into a container.
func copyTo(ctx context.Context, container string, files layer.Layer) error {
	read, write := io.Pipe()
	go func() { write.CloseWithError(files.Write(write)) }()
	defer read.Close()
	_, err := docker.Pipe(ctx, read, "cp", "-", container+":/")
	return err
}
