package saved

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
)

// This file reads the plans of runs of format 1, which stored them as text only.
// Newer runs have the plan as data, and nothing here is for them.

var (
	ofNodes    = regexp.MustCompile(`(?m)^  \d+ simulated nodes.*: leases of (\S+), renewed every \S+?(?:, clocks (\S+) (ahead|behind))?$`)
	ofGrace    = regexp.MustCompile(`(?m)^  kube-controller-manager lets nodes be silent for (\S+)$`)
	ofProber   = regexp.MustCompile(`(?m)^  prober (\{.*\})$`)
	ofServer   = regexp.MustCompile(`(?m)^  kube-apiserver (v\S+)`)
	ofWatchdog = regexp.MustCompile(`(?m)^  dependency-watchdog (v\S+)`)
	numbered   = regexp.MustCompile(`^ {0,3}([0-9]+)\. (.*)`)
	// changed is a line that says what a step changes. Those of its checks begin with
	// the check's id and a colon.
	changed = regexp.MustCompile(`^ +([^ :]+ .* -> .*)`)
)

// printedPlan is a printed plan, as far as it explains a run: what has to do with
// leases, and the steps with what they change.
func printedPlan(text string) (p record.Plan) {
	rig, steps, _ := strings.Cut(text, "\nsteps\n")
	if found := ofServer.FindStringSubmatch(rig); found != nil {
		p.Topology.Version = release.Version(found[1])
	}
	p.Topology.ControllerManager = strings.Contains(rig, "\n  kube-controller-manager v")
	if found := ofGrace.FindStringSubmatch(rig); found != nil {
		p.Topology.NodeMonitor.Grace = duration(found[1])
	}
	if found := ofNodes.FindStringSubmatch(rig); found != nil {
		p.Topology.LeaseNodes = &record.LeaseNodes{Duration: duration(found[1]), Offset: duration(found[2])}
		if found[3] == "behind" {
			p.Topology.LeaseNodes.Offset *= -1
		}
	}
	if found := ofWatchdog.FindStringSubmatch(rig); found != nil {
		p.Topology.Garden = &record.Garden{Watchdog: release.Version(found[1])}
		if found := ofProber.FindStringSubmatch(rig); found != nil {
			_ = json.Unmarshal([]byte(found[1]), &p.Topology.Garden.Prober) // what can't be read is the default
		}
	}
	for line := range strings.Lines(steps) {
		line = strings.TrimRight(line, "\n")
		if found := numbered.FindStringSubmatch(line); found != nil {
			number, _ := strconv.Atoi(found[1])
			p.Steps = append(p.Steps, record.Step{Number: number, Name: found[1], Description: found[2]})
		} else if found := changed.FindStringSubmatch(line); found != nil && len(p.Steps) > 0 {
			last := &p.Steps[len(p.Steps)-1]
			last.Changes = append(last.Changes, found[1])
		}
	}
	return p
}

func duration(text string) behavior.Duration {
	d, _ := time.ParseDuration(text)
	return behavior.Duration(d)
}
