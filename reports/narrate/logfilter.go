package narrate

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/skewrig/skewrig/reports"
)

// logLine is a line of a log, with what there is to choose by.
type logLine struct {
	Line
	whole    string  // what it says
	from     string  // where in the source it comes from, or what it says
	gist     string  // what it has in common with lines that say the same
	distance float64 // from the next moment at which something went wrong
	place    int
	rank     rank
}

// rank is how much a line has to say about what went wrong: the least comes
// first.
type rank int

const (
	telling  rank = iota // it names what the checks that failed are about, and says that something is wrong
	about                // it names that
	grave                // an error or a warning
	ordinary             // anything else
)

// The reasons why lines are left out, in the order in which they are said.
var (
	distant  = fmt.Sprintf("from more than %d s before what went wrong, or %d s after it", before, after)
	constant = "of errors and warnings that come all the time"
	starting = "from its start"
	usual    = "of a kind that also comes when nothing is wrong"
	beyond   = "with less to say than those that are here"
	reasons  = []string{distant, constant, starting, usual, beyond}
)

// often is how many lines of a log come from the same place in the source if that
// is what the component says all the time.
const often = 8

// around is what a log says around some moments. Lines that say the same are one.
// If there are too many, those come first that name what the checks that failed are about,
// then errors and warnings, and then what is nearest. What is left out is
// counted: no line is missing without a word. What comes of how the rig is made is apart.
func (b *builder) around(l LogFile, s subject, limit int) Log {
	left := make(map[string]int) // by why
	var found, own []logLine
	all := b.stamped(l)
	noise := b.noiseOf(l.Component, all, s.in(l.Component, all))
	decisions, goodBefore := b.decisions(), noise.goodBefore(all, b.failures)
	for i, line := range all {
		line.place, line.distance = i, b.distance(line.Line)
		if line.Named = noise.isNamed(line); line.Named {
			for _, d := range decisions {
				line.distance = min(line.distance, d.near(line.At, noise.serves))
			}
		}
		if goodBefore[i] {
			line.distance, line.What = 0, lastGood
		}
		if math.IsInf(line.distance, 1) {
			left[distant]++
			continue
		}
		line.rank = noise.rank(line)
		switch why := noise.why(line); {
		case ofTheRig(line.whole) != "":
			own = append(own, noise.spelled(line))
		case why != "":
			left[why]++
		default:
			found = append(found, noise.spelled(line))
		}
	}
	found = b.once(found)
	slices.SortStableFunc(found, func(a, b logLine) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), cmp.Compare(b.place, a.place))
	})
	kept := fitting(found, limit)
	for _, line := range found[kept:] {
		left[beyond] += 1 + line.More
	}
	found = found[:kept]
	slices.SortFunc(found, func(a, b logLine) int { return cmp.Compare(a.place, b.place) })
	log := Log{Component: l.Component, Path: l.Path}
	rig, more := b.rigLines(own)
	if log.Rig = rig; more > 0 {
		log.Omitted = append(log.Omitted, beyondRig(more))
	}
	for _, why := range reasons {
		if n := left[why]; n > 0 {
			log.Omitted = append(log.Omitted, reports.Counted(n, "line")+" "+why)
		}
	}
	for _, line := range found {
		log.Lines = append(log.Lines, line.Line)
	}
	return log
}

// spelled is a line with what is shown of it, and its gist.
func (n noise) spelled(line logLine) logLine {
	line.gist = gist(line.whole, line.Tone)
	if !line.Named {
		line.Text = excerpt(line.whole, line.Tone, maxText)
		return line
	}
	if line.Text = n.shortened(line.whole, line.Tone); line.Text != line.whole {
		line.Whole = shortened(line.whole, maxMessage)
	}
	return line
}

// fitting is how many of some lines are shown, which are in the order of their ranks.
// Ordinary ones have no more room than it takes to see what was going on.
func fitting(lines []logLine, limit int) int {
	ranked := slices.IndexFunc(lines, func(l logLine) bool { return l.rank == ordinary })
	if ranked < 0 {
		return min(len(lines), limit)
	}
	return min(len(lines), limit, max(ranked, maxKnownLines))
}

// once makes one of lines that say the same: the first, which says how many more
// there are. One that was written while a failed check was open stands for
// none that was not.
func (b *builder) once(lines []logLine) (firsts []logLine) {
	at, decisions := make(map[string]int), b.decisions()
	for _, line := range lines {
		isFailing := slices.ContainsFunc(decisions, func(d decision) bool { return d.isOpen(line.At) })
		key := fmt.Sprint(isFailing, line.What, line.gist)
		i, again := at[key]
		if !again {
			at[key] = len(firsts)
			firsts = append(firsts, line)
			continue
		}
		firsts[i].More++
		firsts[i].distance = min(firsts[i].distance, line.distance)
	}
	return firsts
}

// noise knows the lines of a log that say nothing about what went wrong.
type noise struct {
	subjectIn

	times  map[string]int  // how many lines come from a place in the source
	calm   map[string]bool // the places that have spoken when nothing was wrong
	starts [][2]float64    // when the component started, until it was ready
}

func (b *builder) noiseOf(component string, lines []logLine, s subjectIn) noise {
	n := noise{subjectIn: s, times: make(map[string]int), calm: make(map[string]bool)}
	for _, line := range lines {
		n.times[line.from]++
		if math.IsInf(b.distance(line.Line), 1) {
			n.calm[line.from] = true
		}
	}
	for _, life := range b.Lives(component) {
		ready := b.at(life.Ready.Time)
		n.starts = append(n.starts, [2]float64{ready - life.ReadySeconds, ready})
	}
	return n
}

// trouble is how a line says that something is wrong, however grave its writer takes it.
var trouble = regexp.MustCompile(`(?i)fail|error|\berr=|refused|rejected|unhealthy|"Warning"|timed out|deadline|expired`)

// Troubled reports whether a line says that something is wrong.
func (l Line) Troubled() bool { return l.Tone != "" || trouble.MatchString(l.Text) }

func (n noise) rank(line logLine) rank {
	switch {
	case line.Named && (line.Tone != "" || trouble.MatchString(line.whole)):
		return telling
	case line.Named:
		return about
	case line.Tone != "":
		return grave
	default:
		return ordinary
	}
}

// why is why a line that is near is left out; empty if it stays. One that names the subject
// of a failed check stays. Lines that a component also writes when nothing is wrong are left
// out only where the subject is known.
func (n noise) why(line logLine) string {
	isStart := func(s [2]float64) bool { return s[0] <= line.At && line.At <= s[1] }
	switch {
	case line.rank == grave && n.times[line.from] > often:
		return constant
	case line.rank != ordinary:
		return ""
	case slices.ContainsFunc(n.starts, isStart):
		return starting
	case n.isKnown() && n.calm[line.from]:
		return usual
	default:
		return ""
	}
}

// varying is what differs between lines that say the same: times, how long
// something took, ids, and numbers of five digits and more, which are those of
// clients' ports and of versions of objects. Shorter numbers mean something: HTTP
// 500 is not HTTP 503.
var varying = regexp.MustCompile(strings.Join([]string{
	`^[IWEF]\d{4} \S+ +\d+`,                                          // the head of klog's lines
	`\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?`,                // a date and a time
	`\d\d:\d\d:\d\d(?:\.\d+)?`,                                       // a time
	`\d+\.\d+(?:ns|µs|ms|s)\b`,                                       // how long
	`[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F-]{22}`, `\b[\da-f]{8,}\b`, // ids
	`\b\d{5,}\b`,
}, "|"))

// gist is what a line says, without what varies, and how grave it is.
func gist(line string, tone Tone) string {
	return string(tone) + varying.ReplaceAllString(line, "#")
}
