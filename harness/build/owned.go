package build

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// owned returns an error if others than this user and root can choose what a cache directory
// contains: its programs run.
func owned(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if known && !trusted(int(owner.Uid), os.Geteuid(), os.Getenv("SUDO_UID")) {
		return fmt.Errorf("the cache directory %s belongs to user %d, who could replace the programs in it, which run as user %d: choose another one (--cache-dir)",
			dir, owner.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("the cache directory %s can be written by others (%s), who could replace the programs in it: run chmod go-w %s, or choose another one (--cache-dir)",
			dir, info.Mode(), dir)
	}
	return nil
}

// trusted reports whether the owner of a directory may choose programs that a user runs: the user
// itself, root, and who uses sudo.
func trusted(owner, user int, sudo string) bool {
	return owner == user || owner == 0 || user == 0 && strconv.Itoa(owner) == sudo
}
