package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resident is the resident memory of a process in MB, 0 if it is gone.
func resident(pid int) float64 { return megabytes(pid, "status", "VmRSS:") }

// proportional is the memory of a process in MB, 0 if it is gone. Of a page that several
// processes share, each has its part: the sum over processes counts it once. That of resident
// counts the text of a program once for each process that runs it.
func proportional(pid int) float64 { return megabytes(pid, "smaps_rollup", "Pss:") }

// megabytes is a field of a process's file, where the kernel counts in units of 1024 bytes.
func megabytes(pid int, file, field string) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), field); ok {
			kibibytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			if err != nil {
				return 0
			}
			return kibibytes * 1024 / 1e6
		}
	}
	return 0
}

// watchMemory samples the memory of this process and of all its children until
// the returned function is called, which returns the peak in MB.
func watchMemory(ctx context.Context) (peak func() float64) {
	ctx, cancel := context.WithCancel(ctx)
	var most float64
	var sampling sync.WaitGroup
	sampling.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			most = max(most, familyMegabytes())
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	return func() float64 {
		cancel()
		sampling.Wait()
		return most
	}
}

func familyMegabytes() float64 {
	self := os.Getpid()
	total := resident(self)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && parent(pid) == self {
			total += resident(pid)
		}
	}
	return total
}

// stat is what /proc/PID/stat says of a process after its name, as proc(5)
// numbers it from the third field on. It is empty if the process is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

func parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return ppid
}

// processorTime is what a process has taken so far.
func processorTime(pid int) time.Duration {
	fields := stat(pid)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// usesInotify reports whether a process watches files by inotify.
func usesInotify(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, _ := os.ReadDir(dir)
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		to, _ := os.Readlink(filepath.Join(dir, f.Name()))
		return to == "anon_inode:inotify"
	})
}
