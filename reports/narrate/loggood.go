package narrate

import "regexp"

// good is how a watchdog says that a decision was good: that the leases are renewed.
var good = regexp.MustCompile(`(?i)\blease probe succeeded\b`)

// lastGood is what is said of such a line before a failure.
const lastGood = "the last good decision before the failure"

// goodBefore are the places of the last good decisions before each moment at which something
// went wrong, if the log is that of a component whose decisions the checks are about.
func (s subjectIn) goodBefore(lines []logLine, failures []float64) map[int]bool {
	places := make(map[int]bool)
	for _, failed := range failures {
		last := -1
		for i, line := range lines {
			if s.all && line.At <= failed && good.MatchString(line.whole) {
				last = i
			}
		}
		places[last] = true
	}
	return places
}
