package narrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skewrig/skewrig/record"
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

// Failures is when something went wrong: a check that does not hold was closed, a
// step could not be done, a component ended by itself. Times are in order.
func Failures(result reports.Cell, t *timeline.Timeline) (times []time.Time) {
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
	moments := Failures(b.in.Result, b.Timeline)
	if b.in.Result.Outcome == reports.ExpectedFail {
		limit = min(limit, maxKnownLines)
	}
	for _, l := range b.in.Logs {
		if log := b.around(l, moments, limit); len(log.Lines) > 0 {
			all = append(all, log)
		}
	}
	return all
}

// distance is how far a time is from the next moment that has it around, and
// without end if there is none.
func distance(at float64, moments []time.Time, in func(time.Time) float64) float64 {
	nearest := math.Inf(1)
	for _, m := range moments {
		if d := at - in(m); -before <= d && d <= after {
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
	settings := clocks(b.in.Events, l.Component)
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
			line.At = math.Round(right(settings, when).Sub(b.began).Seconds()*1e3) / 1e3
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
	switch {
	case len(line) > len("I1122 08:09:27.840019") && strings.IndexByte("IWEF", line[0]) >= 0 && line[5] == ' ':
		when, err := time.Parse(klog, fmt.Sprintf("%04d", year)+line[1:len("I1122 08:09:27.840019")])
		return when, true, severities[line[0]], err == nil
	case strings.HasPrefix(line, "{"):
		_, rest, _ := strings.Cut(line, `"ts":"`)
		text, _, _ := strings.Cut(rest, `"`)
		when, err := time.Parse(time.RFC3339Nano, text)
		return when, false, graveness(line, `"level":"error"`, `"level":"warn"`), err == nil
	default:
		text, _, _ := strings.Cut(line, "\t")
		when, err := time.Parse(time.RFC3339Nano, text)
		return when, false, graveness(line, "\tERROR\t", "\tWARN\t"), err == nil
	}
}

// severities are the first letters of klog's lines.
var severities = map[byte]Tone{'E': Bad, 'F': Bad, 'W': Changed}

func graveness(line, isError, isWarning string) Tone {
	switch {
	case strings.Contains(line, isError):
		return Bad
	case strings.Contains(line, isWarning):
		return Changed
	default:
		return ""
	}
}

// zoneOf is what is to be added to the times of a log that begins at a local
// time, at about which the narration began: that of a zone, which is whole half
// hours.
func zoneOf(first, began time.Time) time.Duration {
	return began.Sub(first).Round(30 * time.Minute)
}

// setting is a clock that was set at a time.
type setting struct {
	at     time.Time
	offset time.Duration
}

// clocks are the settings of a component's clock, in order.
func clocks(events []record.Event, component string) (all []setting) {
	for e, set := range record.All[record.ClockSet](events) {
		if e.Subject == component {
			all = append(all, setting{e.At, set.Clock.Offset})
		}
	}
	return all
}

// right is the time at which a clock showed another one. If it did so twice, it
// is the later time.
func right(settings []setting, shown time.Time) time.Time {
	for _, s := range slices.Backward(settings) {
		if when := shown.Add(-s.offset); !when.Before(s.at) {
			return when
		}
	}
	return shown
}
