package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// root is where the hierarchies are mounted: the only one of version 2, or below it one for each
// controller of version 1.
const cgroupRoot = "/sys/fs/cgroup"

// hierarchies are the directories at which they are mounted, and whether the only one is of
// version 2.
func hierarchies() (dirs []string, unified bool, _ error) {
	if isOf(cgroupRoot, unix.CGROUP2_SUPER_MAGIC) {
		return []string{cgroupRoot}, true, nil
	}
	entries, err := os.ReadDir(cgroupRoot)
	for _, e := range entries { // a link is another name of a controller
		dir := filepath.Join(cgroupRoot, e.Name())
		if e.IsDir() && (isOf(dir, unix.CGROUP_SUPER_MAGIC) || isOf(dir, unix.CGROUP2_SUPER_MAGIC)) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		err = errors.Join(err, fmt.Errorf("no cgroups are mounted at %s", cgroupRoot))
	}
	return dirs, false, err
}

// isOf reports whether a directory is of a file system.
func isOf(dir string, magic int64) bool {
	var of unix.Statfs_t
	return unix.Statfs(dir, &of) == nil && of.Type == magic
}

// CheckCgroups returns why no cgroup can be made here, if none can.
func CheckCgroups() error {
	_, _, err := hierarchies()
	return err
}

// MakeCgroup makes a group, given by its path in each hierarchy, with the groups above it. Processes in
// it may use what those above it may.
func MakeCgroup(path string) error {
	dirs, unified, err := hierarchies()
	failures := []error{err}
	for _, dir := range dirs {
		for element := range strings.SplitSeq(path, "/") {
			above := dir
			dir = filepath.Join(dir, element)
			if unified {
				failures = append(failures, delegate(above))
			}
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				failures = append(failures, err)
			}
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				if !unified {
					failures = append(failures, inherit(above, dir, file))
				}
			}
		}
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("making cgroup %s: %w", path, err)
	}
	return nil
}

// delegate has the groups in a group have the controllers that it has.
func delegate(dir string) error {
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	for controller := range strings.FieldsSeq(string(controllers)) {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644))
	}
	return err
}

// inherit gives a group what the one above has: a new one has no processors, and can have no
// processes.
func inherit(above, dir, file string) error {
	value, err := os.ReadFile(filepath.Join(above, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(filepath.Join(dir, file), value, 0o644))
}

// RemoveCgroup removes a group in each hierarchy, with those in it. None may have a process. That it is
// not there is no error.
func RemoveCgroup(path string) error {
	dirs, _, err := hierarchies()
	if err != nil {
		return nil //nolint:nilerr // where there are no cgroups, there is not this one
	}
	var failures []error
	for _, dir := range dirs {
		failures = append(failures, removeGroup(filepath.Join(dir, path)))
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("removing cgroup %s: %w", path, err)
	}
	return nil
}

// removeGroup removes a directory of a hierarchy. The files in it go with it.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failures := []error{err}
	for _, e := range entries {
		if e.IsDir() {
			failures = append(failures, removeGroup(filepath.Join(dir, e.Name())))
		}
	}
	if err := syscall.Rmdir(dir); err != nil {
		failures = append(failures, fmt.Errorf("%s: %w", dir, err))
	}
	return errors.Join(failures...)
}
