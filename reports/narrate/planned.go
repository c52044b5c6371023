package narrate

import (
	"slices"
	"strconv"
	"strings"
)

// PlanLine is a line of a printed plan that stands for a part of the plan.
type PlanLine struct {
	// Line is its place in the plan, from 0.
	Line int `json:"line"`
	// Step is the number of the step that the line is of, and Check the check of that step, if the line is
	// of one.
	Step  int    `json:"step,omitempty"`
	Check string `json:"check,omitempty"`
	// Control is the scenario of the negative control, in the line that names it.
	Control string `json:"control,omitempty"`
}

// printed is what a printed plan says. Nothing else reads the text that plan.Print writes.
type printed struct {
	rig   []string // the lines of the rig: releases, gates, times, the configuration of a prober
	setUp []string // those lines, and what the fake servers answer
	lines []PlanLine
}

// readPrinted reads a printed plan of which the checks are known.
func readPrinted(plan string, checks []string) (p printed) {
	section, step := "", 0
	for i, line := range strings.Split(plan, "\n") {
		control, isControl := strings.CutPrefix(line, "control: ")
		switch {
		case line == "rig" || line == "images" || line == "steps":
			section = line
		case line == "" && section == "rig":
			section = "servers"
		case section == "" && isControl:
			p.lines = append(p.lines, PlanLine{Line: i, Control: firstWord(control)})
		}
		switch section {
		case "rig":
			p.setUp = append(p.setUp, line)
			if line != "rig" {
				p.rig = append(p.rig, strings.TrimSpace(line))
			}
		case "servers", "images":
			p.setUp = append(p.setUp, line)
		case "steps":
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if number := stepNumber(line); number > 0 {
				step = number
				p.lines = append(p.lines, PlanLine{Line: i, Step: step})
			} else if slices.Contains(checks, name) {
				p.lines = append(p.lines, PlanLine{Line: i, Step: step, Check: name})
			}
		}
	}
	for n := len(p.setUp); n > 0 && p.setUp[n-1] == ""; n-- {
		p.setUp = p.setUp[:n-1]
	}
	return p
}

// stepNumber is the number of the step that a line begins: "  3. create Pod web". It is 0 if it begins none.
func stepNumber(line string) int {
	number, _, is := strings.Cut(strings.TrimLeft(line, " "), ". ")
	if !is || len(line)-len(strings.TrimLeft(line, " ")) > len("  ") {
		return 0
	}
	n, _ := strconv.Atoi(number)
	return n
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
