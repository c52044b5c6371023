package saved

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/reports/narrate"
)

// This file reads runs of format 1, whose plans were stored as text only. Newer runs
// have the plan as data, and nothing here is for them.

var (
	ofNodes  = regexp.MustCompile(`(?m)^  \d+ simulated nodes.*: leases of (\S+), renewed every \S+?(?:, clocks (.*))?$`)
	ofGrace  = regexp.MustCompile(`(?m)^  kube-controller-manager lets nodes be silent for (\S+)$`)
	ofProber = regexp.MustCompile(`(?m)^  prober (\{.*\})$`)
	ofServer = regexp.MustCompile(`(?m)^  kube-apiserver (v\S+)`)
	// changed is a line of a plan that says what a step changes. Those of its checks
	// begin with the check's id and a colon.
	changed  = regexp.MustCompile(`^ +[^ :]+ .* -> `)
	numbered = regexp.MustCompile(`^ {0,3}[0-9]+\. `)
)

// leasePlan is what a printed plan says of leases.
func leasePlan(plan string) (p narrate.LeasePlan) {
	rig, _, _ := strings.Cut(plan, "\nsteps\n")
	if found := ofNodes.FindStringSubmatch(rig); found != nil {
		p.Duration, p.Clocks = duration(found[1]), found[2]
	}
	if strings.Contains(rig, "\n  kube-controller-manager v") {
		p.Grace = grace(rig)
	}
	found := ofProber.FindStringSubmatch(rig)
	if found == nil || !strings.Contains(rig, "\n  dependency-watchdog ") {
		return p
	}
	var prober struct {
		KCMNodeMonitorGraceDuration behavior.Duration
		NodeLeaseFailureFraction    *float64
	}
	_ = json.Unmarshal([]byte(found[1]), &prober) // what can't be read is the default
	p.Expiry = cmp.Or(time.Duration(prober.KCMNodeMonitorGraceDuration), 40*time.Second) * 3 / 4
	p.Threshold = 0.6
	if prober.NodeLeaseFailureFraction != nil {
		p.Threshold = *prober.NodeLeaseFailureFraction
	}
	return p
}

// grace is what the plan says, or the default of --node-monitor-grace-period, which
// grew with v1.32.
func grace(rig string) time.Duration {
	if found := ofGrace.FindStringSubmatch(rig); found != nil {
		return duration(found[1])
	}
	if found := ofServer.FindStringSubmatch(rig); found != nil && semver.Compare(found[1], "v1.32.0-alpha.0") < 0 {
		return 40 * time.Second
	}
	return 50 * time.Second
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

// printedSteps are the steps of a printed plan, with what changes by each.
func printedSteps(plan string) []string {
	var all []string
	_, text, _ := strings.Cut(plan, "\nsteps\n")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if numbered.MatchString(line) || changed.MatchString(line) {
			all = append(all, line)
		}
	}
	return all
}
