package upstream

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Report is what Ginkgo reports of specs.
type Report []Ran

// Ran is what Ginkgo reports of one spec.
type Ran struct {
	// Name is what Ginkgo calls it, and Container the first part of that: the text of the
	// outermost container.
	Name, Container string
	Labels          []string
	// State is how it ended, in Ginkgo's words.
	State State
	// Message says why it did not pass, and Place is the line that says so, as
	// container_probe.go:137. Both are empty if it passed.
	Message, Place string
	Started        time.Time
	Took           time.Duration
}

// State is how a spec ended.
type State string

// The states of Ginkgo (types.SpecState). Every other one is that of a run that did not come
// to its end.
const (
	Passed   State = "passed"
	Skipped  State = "skipped"
	Pending  State = "pending"
	Failed   State = "failed"
	TimedOut State = "timedout"
	Panicked State = "panicked"
)

// suite and its parts are the fields of Ginkgo's JSON report that count here (types.Report).
type suite struct {
	SpecReports []specReport
}

type specReport struct {
	ContainerHierarchyTexts  []string
	ContainerHierarchyLabels [][]string
	LeafNodeType             string
	LeafNodeText             string
	LeafNodeLabels           []string
	State                    State
	StartTime                time.Time
	RunTime                  time.Duration
	Failure                  failure
}

type failure struct {
	Message  string
	Location location
}

type location struct {
	FileName   string
	LineNumber int
}

// specType is the type of a node that is a spec, and not what is set up for all of them.
const specType = "It"

// ReadReport reads what Ginkgo writes with --json-report.
func ReadReport(text []byte) (Report, error) {
	var suites []suite
	if err := json.Unmarshal(text, &suites); err != nil {
		return nil, fmt.Errorf("it is no JSON report of Ginkgo: %w", err)
	}
	var all Report
	for _, s := range suites {
		for _, r := range s.SpecReports {
			if r.LeafNodeType == specType {
				all = append(all, r.ran())
			}
		}
	}
	return all, nil
}

func (r specReport) ran() Ran {
	ran := Ran{
		State: r.State, Message: r.Failure.Message, Started: r.StartTime, Took: r.RunTime,
	}
	var texts []string
	for _, text := range append(slices.Clone(r.ContainerHierarchyTexts), r.LeafNodeText) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	ran.Name, ran.Container = strings.Join(texts, " "), r.LeafNodeText
	if len(r.ContainerHierarchyTexts) > 0 {
		ran.Container = r.ContainerHierarchyTexts[0]
	}
	for _, labels := range append(slices.Clone(r.ContainerHierarchyLabels), r.LeafNodeLabels) {
		ran.Labels = append(ran.Labels, labels...)
	}
	if at := r.Failure.Location; at.FileName != "" {
		ran.Place = fmt.Sprintf("%s:%d", path.Base(at.FileName), at.LineNumber)
	}
	return ran
}
