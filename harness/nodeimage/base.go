package nodeimage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skewrig/skewrig/harness/docker"
	"github.com/skewrig/skewrig/harness/layer"
	"github.com/skewrig/skewrig/harness/process"
)

// suite is the release of Debian that nodes have: the last one whose systemd also boots where
// cgroups are those of version 1.
const suite = "bookworm"

// packages are what a node needs beside Debian's smallest system: of what kind's own base image
// has (images/base/Dockerfile there), what neither network storage nor rootless nodes need.
var packages = []string{
	"systemd", "systemd-sysv", "conntrack", "iptables", "nftables", "iproute2", "ethtool", "util-linux", "mount", "kmod", "libseccomp2",
	"e2fsprogs", "bash", "ca-certificates", "jq", "procps", "containerd", "runc", "containernetworking-plugins",
}

// base returns the name of an image with Debian, which is made if it is not there.
func (c Config) base(ctx context.Context) (string, error) {
	key := short(strings.Join(append([]string{suite}, packages...), " "))
	name := "skewrig-node-base:" + suite + "-" + key
	if docker.HasImage(ctx, name) {
		return name, nil
	}
	archive := filepath.Join(c.CacheDir, "node-base-"+suite+"-"+key+".tar")
	if _, err := os.Stat(archive); errors.Is(err, fs.ErrNotExist) {
		c.Progress("installing Debian " + suite + " from its packages (minutes; kept in " + archive + ")")
		if err := debian(ctx, archive); err != nil {
			return "", err
		}
	}
	c.Progress("importing Debian " + suite)
	_, err := docker.Run(ctx, "import", archive, name)
	return name, err
}

// debian installs Debian into an archive. debootstrap mounts file systems in what it makes, and unmounts them if it is not
// killed: its mounts are in a namespace of its own, and gone with that.
func debian(ctx context.Context, archive string) (err error) {
	if err := os.MkdirAll(filepath.Dir(archive), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(archive), ".node-base-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	inside, err := process.NewNamespaces("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(inside.Close(), err) }()
	root, written := filepath.Join(temp, "root"), filepath.Join(temp, "root.tar")
	for _, command := range [][]string{
		{"debootstrap", "--variant=minbase", "--include=" + strings.Join(packages, ","), suite, root},
		{"tar", "--directory", root, "--numeric-owner", "--one-file-system", "--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*", "--create", "--file", written, "."},
	} {
		cmd := process.Command{Path: command[0], Args: command[1:], Env: process.UserEnv(), In: inside}
		if _, err := cmd.Run(ctx); err != nil {
			return fmt.Errorf("installing Debian %s: %w", suite, err)
		}
	}
	return os.Rename(written, archive)
}

// kindFiles are the files of kind's own base image. Those in directories for programs can be run.
func kindFiles(module string) (files layer.Layer, err error) {
	from := filepath.Join(module, "images", "base", "files")
	err = filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == from {
			return err
		}
		below, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		name := "/" + filepath.ToSlash(below)
		switch {
		case entry.IsDir():
			files = append(files, layer.Dir(name, 0o755))
		case path.Base(path.Dir(name)) == "bin":
			files = append(files, layer.File(name, file, 0o755))
		default:
			files = append(files, layer.File(name, file, 0o644))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading kind's files: %w", err)
	}
	return files, nil
}
