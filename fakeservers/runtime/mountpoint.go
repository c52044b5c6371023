package runtime

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mountpoint returns the directory at which the file system of dir is mounted.
func mountpoint(dir string) (string, error) {
	device, err := deviceOf(dir)
	if err != nil {
		return "", err
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		other, err := deviceOf(parent)
		if err != nil {
			return "", err
		}
		if other != device {
			return dir, nil
		}
	}
	return dir, nil
}

func deviceOf(dir string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return 0, fmt.Errorf("finding the file system of %s: %w", dir, err)
	}
	return stat.Dev, nil
}
