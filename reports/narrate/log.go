package narrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
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

// failures is when something went wrong: a check that does not hold was decided, a
// step could not be done, a component ended by itself. What had to come true in time went
// wrong when its window began, or in the step before. Times are in order.
func failures(result reports.Cell, t *timeline.Timeline) (times []time.Time) {
	for _, c := range deciding(result) {
		w, is := t.Windows[c.ID]
		switch {
		case !is || w.Closed == nil:
		case !isWithin(c):
			times = append(times, w.To.Time)
		default:
			times = append(times, w.From.Time)
			if w.Step > 1 && w.Step <= len(t.Steps) {
				times = append(times, t.Steps[w.Step-2].From.Time)
			}
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

// deciding are the checks of a cell that do not hold. If any of them is new, those that
// are recorded are not among them: they are not what the cell is red for.
func deciding(result reports.Cell) []reports.Check {
	failed := reports.Only(result.Checks, isFailed)
	isNew := func(c reports.Check) bool { return !c.Outcome.Expected() }
	if slices.ContainsFunc(failed, isNew) {
		failed = slices.DeleteFunc(failed, func(c reports.Check) bool { return !isNew(c) })
	}
	return failed
}

// isWithin reports whether a check had to come true in time.
func isWithin(c reports.Check) bool {
	e, _ := c.Expectation()
	return e.Mode.Awaits()
}

// logs is what the components said around what went wrong. Those that name what it is
// about come first.
func (b *builder) logs(limit int) (all []Log) {
	if b.in.Result.Outcome.Recorded() {
		limit = min(limit, maxKnownLines)
	}
	s := b.subject()
	for _, l := range b.logFiles {
		if log := b.around(l, s, limit); len(log.Lines) > 0 {
			all = append(all, log)
		}
	}
	all = b.withNodes(all)
	slices.SortStableFunc(all, func(x, y Log) int { return cmp.Compare(x.named(), y.named()) })
	return all
}

// named is 0 for a log with lines that name what went wrong, and 1 for one without.
func (l Log) named() int {
	if slices.ContainsFunc(l.Lines, func(line Line) bool { return line.Named }) {
		return 0
	}
	return 1
}

// distance is how far a line is from the next moment at which something went wrong that
// has it around, and without end if there is none. A time that is known to the second is
// all of it.
func (b *builder) distance(line Line) float64 {
	nearest := math.Inf(1)
	for _, m := range b.failures {
		d := line.At - m
		if d < 0 {
			d = min(0, d+line.Within)
		}
		if -before <= d && d <= after {
			nearest = min(nearest, math.Abs(d))
		}
	}
	return nearest
}

// decision is a check that decided the outcome, with its window.
type decision struct {
	Check
	waits   bool // whether it had to come true in time
	ofField bool // whether it compares a field of an object
}

// decisions are all.
func (b *builder) decisions() (all []decision) {
	failed := deciding(b.in.Result)
	for _, w := range b.checks {
		if i := slices.IndexFunc(failed, func(c reports.Check) bool { return c.ID == w.ID }); i >= 0 {
			isField := func(of Compared) bool { key, _ := b.object(of); return key != "" }
			all = append(all, decision{w, isWithin(failed[i]), slices.ContainsFunc(b.in.Compared[w.ID], isField)})
		}
	}
	return all
}

func (d decision) isOpen(at float64) bool { return d.From <= at && at <= d.To }

// near is how far a line that names the subject is from what it may have led to, and without end if that is
// nothing: from the beginning of a window in which something did not come true, or in the log of the server of a field,
// from when the field was lost, or found wrong, until the check was decided.
func (d decision) near(at float64, serves bool) float64 {
	nearest := math.Inf(1)
	if d.waits && d.isOpen(at) {
		nearest = at - d.From
	}
	if serves && d.ofField && at <= d.To {
		nearest = min(nearest, math.Abs(at-cmp.Or(d.Bad, d.To)))
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
			line.from, line.Tone, line.Within = source(text), tone, 0
			if !local && when.Nanosecond() == 0 {
				line.Within = 1
			}
		}
		line.whole = textOfJSON(text)
		lines = append(lines, line)
	}
	return lines
}

// maxCause is how much of a line that is too long is the end of the cause that it says, in
// runes.
const maxCause = 140

// saidCause is how a line says a cause before it ends.
var saidCause = regexp.MustCompile(`\b(?:err|error)="(?:[^"\\]|\\.)*"`)

// excerpt is a line of a log of a bounded length. Of one that says that something is wrong, it
// has the end of the cause, which is that of the line if it has no error.
func excerpt(line string, tone Tone, limit int) string {
	end := len(line)
	if causes := saidCause.FindAllStringIndex(line, -1); len(causes) > 0 {
		end = causes[len(causes)-1][1]
	}
	start := []rune(line[:end])
	if len(start) <= limit || tone == "" && !trouble.MatchString(line) {
		return shortened(line, limit)
	}
	said := string(start[:limit-maxCause]) + " … " + string(start[len(start)-maxCause:])
	if end < len(line) {
		said += "…"
	}
	return said
}

// envelope are the fields of a line in JSON that say what the page says beside it.
var envelope = []string{"level", "ts", "logger", "msg", "caller"}

// textOfJSON is a line in JSON as its message and fields, without its envelope, of which are the
// fields from the controller to the id of its run. Any other line stays as it is.
func textOfJSON(line string) string {
	if !strings.HasPrefix(line, "{") {
		return line
	}
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		return line
	}
	var message string
	var fields []string
	within := false
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return line
		}
		name, text := fmt.Sprint(key), string(value)
		if decoded := ""; json.Unmarshal(value, &decoded) == nil {
			if name == "msg" {
				message = decoded
			}
			if !strings.ContainsAny(decoded, " \"=") {
				text = decoded
			}
		}
		within = within || name == "controller"
		if !within && !slices.Contains(envelope, name) && text != "" {
			fields = append(fields, name+"="+text)
		}
		within = within && name != "reconcileID"
	}
	if message == "" {
		return line
	}
	return strings.Join(append([]string{message}, fields...), " ")
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

// right converts a time that a component's clock showed to that of the machine. If it showed it twice, it is the later one.
func (b *builder) right(component string, shown time.Time) time.Time {
	for _, set := range slices.Backward(b.clocks[component]) {
		if set.to.Clock.Frozen {
			if shown.Sub(set.to.Clock.Read(set.at)).Abs() < time.Second { // logs have whole milliseconds
				return set.at
			}
			continue
		}
		if when := set.to.Clock.When(shown); !when.Before(set.at) {
			return when
		}
	}
	return shown
}

// clockSet is when a component's clock was set, and to what.
type clockSet struct {
	at time.Time
	to record.ClockSet
}
