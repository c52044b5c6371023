package rigs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Prefix is what the name of a rig's directory begins with.
const Prefix = "skewrig-"

// maxAbout is how much of a name says what the rig is for, in bytes.
const maxAbout = 24

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// name is the name of a rig: what it is for, as a word, and the process that has it.
// It has at most so many bytes, if the process alone has no more. What it is for may
// be the id of a cell, whose last segments without axes say most.
func name(purpose string, pid, limit int) string {
	end := fmt.Sprint(pid)
	about := word(purpose, min(maxAbout, limit-len(end)-len("-")))
	if about == "" {
		return end
	}
	return about + "-" + end
}

// word is as many of the last segments of a path as fit, without those of axes.
func word(path string, limit int) (about string) {
	segments := strings.Split(path, "/")
	for _, segment := range slices.Backward(segments) {
		if strings.Contains(segment, ":") {
			continue
		}
		longer := strings.Trim(notPlain.ReplaceAllString(segment, "-"), "-.")
		if about != "" {
			longer += "-" + about
		}
		if len(longer) > limit && about != "" {
			break
		}
		about = longer[:max(0, min(len(longer), limit))]
	}
	return strings.Trim(about, "-.")
}
