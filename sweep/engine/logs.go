package engine

import (
	"bufio"
	"regexp"

	"github.com/skewrig/skewrig/harness/cluster"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/sweep/trial"
)

var (
	// panicking is the line with which Go, net/http and Kubernetes say so (k8s.io/apimachinery,
	// pkg/util/runtime/runtime.go).
	panicking = regexp.MustCompile(`^(panic: .*|fatal error: .*|.*Observed a panic.*|.*http: panic serving.*)$`)
	// frame is a function of Kubernetes in a stack, and handling those that handle a panic.
	frame    = regexp.MustCompile(`^\s*(k8s\.io/[^\s]+)\(`)
	handling = regexp.MustCompile(`apimachinery/pkg/util/runtime|k8s\.io/klog|apiserver/pkg/(server/filters|server/httplog|endpoints)`)
)

// panics are those that components logged.
func panics(dir string, components []string) (all []trial.Panic, _ error) {
	for _, component := range components {
		found, err := panicsIn(dir, component)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func panicsIn(dir, component string) (all []trial.Panic, _ error) {
	file, err := files.OpenBelow(dir, cluster.LogName(component))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := lines.Text()
		if panicking.MatchString(line) {
			all = append(all, trial.Panic{Component: component, Text: line, At: "-"})
			continue
		}
		if n := len(all); n > 0 && all[n-1].At == "-" {
			if found := frame.FindStringSubmatch(line); found != nil && !handling.MatchString(found[1]) {
				all[n-1].At = found[1]
			}
		}
	}
	return all, lines.Err()
}
