package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Knowing are the processes that know a directory, by their command line, environment or
// working directory, with the names of their programs. What a test has run there must not be
// among them afterwards.
func Knowing(dir string) (map[int]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := make(map[int]string)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		of := filepath.Join("/proc", e.Name())
		command, _ := os.ReadFile(filepath.Join(of, "cmdline")) // what has ended meanwhile has none
		environ, _ := os.ReadFile(filepath.Join(of, "environ"))
		where, _ := os.Readlink(filepath.Join(of, "cwd"))
		if strings.Contains(fmt.Sprintf("%s %s %s", command, environ, where), dir) {
			name, _, _ := strings.Cut(string(command), "\x00")
			all[pid] = filepath.Base(name)
		}
	}
	return all, nil
}
