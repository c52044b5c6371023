package narrate

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports"
)

// LogFile is what a component has written.
type LogFile struct {
	Component string
	// Path is the file, below the report's directory.
	Path string
	Text string
}

const (
	// before and after are the time around a moment at which something went wrong of
	// which a log is shown, in seconds.
	before, after = 4, 1
	// maxLogLines is how many lines of a component are shown, and maxKnownLines if
	// what went wrong is known to, or if the lines have nothing to do with it.
	maxLogLines, maxKnownLines = 40, 12
)

// failures is when something went wrong: a check that does not hold was closed, a
// step could not be done, a component ended by itself. Times are in order.
func failures(result reports.Cell, t *timeline.Timeline) (times []time.Time) {
	failed := failedIn(result)
	for id, w := range t.Windows {
		if w.Closed != nil && failed[id] {
			times = append(times, w.To.Time)
		}
	}
	var last time.Time // the end of the last step
	for _, s := range t.Steps {
		if s.Done == nil {
			continue
		}
		if last = s.To.Time; s.Done.Error != "" {
			times = append(times, last)
		}
	}
	for _, name := range t.Components() {
		for _, l := range t.Lives(name) {
			if l.Stopped != nil && !l.Stopped.Asked {
				times = append(times, l.Until.Time)
			}
		}
	}
	wrong := result.Outcome != "" && result.Outcome != reports.Pass && result.Outcome != reports.NotApplicable
	if wrong && len(times) == 0 && len(t.Events) > 0 {
		times = append(times, cmp.Or(last, t.Events[len(t.Events)-1].At)) // what always holds did not
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// failedIn are the checks of a cell that do not hold, by id.
func failedIn(result reports.Cell) map[string]bool {
	ids := make(map[string]bool)
	for _, c := range result.Checks {
		ids[c.ID] = isFailed(c)
	}
	return ids
}

// logs is what the components said around what went wrong.
func (b *builder) logs(limit int) (all []Log) {
	if b.in.Result.Outcome.Recorded() {
		limit = min(limit, maxKnownLines)
	}
	for _, l := range b.logFiles {
		if log := b.around(l, limit); len(log.Lines) > 0 {
			all = append(all, log)
		}
	}
	return all
}

// distance is how far a time is from the next moment at which something went wrong that
// has it around, and without end if there is none.
func (b *builder) distance(at float64) float64 {
	nearest := math.Inf(1)
	for _, m := range b.failures {
		if d := at - m; -before <= d && d <= after {
			nearest = min(nearest, math.Abs(d))
		}
	}
	return nearest
}

// stamped are the lines of a log with their times in the narration. One without a
// time has that of the line before it.
func (b *builder) stamped(l LogFile) (lines []logLine) {
	var zone time.Duration
	known := false
	var line logLine
	for text := range strings.Lines(l.Text) {
		text = strings.TrimRight(text, "\n")
		when, local, tone, ok := stamp(text, b.began.Year())
		if ok {
			if local && !known {
				zone, known = zoneOf(when, b.began), true
			}
			if local {
				when = when.Add(zone)
			}
			line.At = math.Round(b.right(l.Component, when).Sub(b.began).Seconds()*1e3) / 1e3
			line.from, line.Tone = source(text), tone
		}
		line.Text, line.gist = shortened(text, maxText), gist(text, line.Tone)
		lines = append(lines, line)
	}
	return lines
}

// source is where in the source a line comes from, as klog writes it, or what it
// says, as others do.
func source(line string) string {
	if before, _, is := strings.Cut(line, "] "); is {
		return before[strings.LastIndexByte(before, ' ')+1:]
	}
	_, said, _ := strings.Cut(line, `"msg":"`)
	said, _, _ = strings.Cut(said, `"`)
	return said
}

// stamp reads the time at the beginning of a line, and how grave it is: as klog
// writes it, which is by the machine's local clock and without the year; as JSON
// with a field ts; or as a time in the form of RFC 3339.
func stamp(line string, year int) (when time.Time, local bool, grave Tone, ok bool) {
	const klog = "20060102 15:04:05.000000"
	if n := len("I1122 08:09:27.840019"); len(line) > n && strings.IndexByte("IWEF", line[0]) >= 0 && line[5] == ' ' {
		when, err := time.Parse(klog, fmt.Sprintf("%04d", year)+line[1:n])
		return when, true, severities[line[:1]], err == nil
	}
	text, _, _ := strings.Cut(line, "\t")
	if strings.HasPrefix(line, "{") {
		_, text, _ = strings.Cut(line, `"ts":"`)
		text, _, _ = strings.Cut(text, `"`)
	}
	when, err := time.Parse(time.RFC3339Nano, text)
	return when, false, severities[strings.Trim(severity.FindString(line), "\t")], err == nil
}

var (
	severity   = regexp.MustCompile(`\tERROR\t|\tWARN\t|"level":"(?:error|warn)"`)
	severities = map[string]Tone{
		"E": Bad, "F": Bad, "W": Changed, "ERROR": Bad, "WARN": Changed, `"level":"error"`: Bad, `"level":"warn"`: Changed,
	}
)

// zoneOf is what is to be added to the times of a log that begins at a local
// time, at about which the narration began: that of a zone, which is whole half
// hours.
func zoneOf(first, began time.Time) time.Duration {
	return began.Sub(first).Round(30 * time.Minute)
}

// right is the time at which a component's clock showed another one. If it did so
// twice, it is the later time.
func (b *builder) right(component string, shown time.Time) time.Time {
	for _, set := range slices.Backward(b.clocks[component]) {
		if when := shown.Add(-set.offset); !when.Before(set.at) {
			return when
		}
	}
	return shown
}

// clockSet is when a component's clock was set.
type clockSet struct {
	at     time.Time
	offset time.Duration
}
