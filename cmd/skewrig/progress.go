package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/engine"
)

// progress tells what is going on: a line for each thing that is done, which is
// what CI keeps, and on a terminal, below these, what is at work and for how
// long.
type progress struct {
	out  io.Writer
	bars *mpb.Progress // nil if out is not a terminal
	work sync.Map      // a *job by the name of what is at work

	closed sync.Once
}

// job is what a terminal shows of something that is at work.
type job struct {
	bar   *mpb.Bar
	label atomic.Value
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if isTerminal(out) {
		p.bars = mpb.New(mpb.WithOutput(out))
		p.out = p.bars // lines go above what is at work
	}
	return p
}

// begin says that something is at work, on a terminal.
func (p *progress) begin(what, label string) {
	if p.bars == nil {
		return
	}
	p.end(what)
	j := new(job)
	j.label.Store(label)
	j.bar = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarFillerTrim(), mpb.BarWidth(2),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}),
			decor.Any(func(decor.Statistics) string { return fmt.Sprint("  ", j.label.Load()) })))
	p.work.Store(what, j)
}

// label changes what is said of something, if it is at work.
func (p *progress) label(what, label string) bool {
	j, ok := p.work.Load(what)
	if ok {
		j.(*job).label.Store(label)
	}
	return ok
}

// end says that it no longer is.
func (p *progress) end(what string) {
	if j, ok := p.work.LoadAndDelete(what); ok {
		j.(*job).bar.Abort(true)
		j.(*job).bar.Wait()
	}
}

// summary keeps a line below all others, on a terminal.
func (p *progress) summary(text func() string) {
	if p.bars != nil {
		p.work.Store("", &job{bar: p.bars.New(0, mpb.NopStyle(), mpb.BarPriority(math.MaxInt),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return text() })))})
	}
}

// line says something that stays.
func (p *progress) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// close ends all bars. No progress may be reported afterwards.
func (p *progress) close() { p.closed.Do(p.endAll) }

func (p *progress) endAll() {
	p.work.Range(func(what, _ any) bool {
		p.end(what.(string))
		return true
	})
	if p.bars != nil {
		p.bars.Wait()
	}
}

// tellBuild returns a function that prints the progress of targets that are built, exported or imported.
func tellBuild(cmd *cobra.Command, p *progress) func(build.Progress) {
	verbose := is(cmd, "verbose")
	var mu sync.Mutex
	printed := make(map[string]time.Duration) // when the last line about a target was printed
	return func(b build.Progress) {
		target := b.Target.String()
		switch {
		case b.State.IsFinal():
			p.end(target)
			p.line("%-40s %-9s %6.1fs", target, b.State, b.Elapsed.Seconds())
			return
		case !p.label(target, app.BuildLine(b.Target.String(), b)):
			p.begin(target, app.BuildLine(b.Target.String(), b))
		}
		if brief := b.State == build.Exporting || b.State == build.Importing; brief && !verbose {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if last, known := printed[target]; (p.bars == nil || verbose) && (!known || b.Elapsed-last >= lineInterval) {
			printed[target] = b.Elapsed
			p.line("%s", app.BuildLine(b.Target.String(), b))
		}
	}
}

// lineInterval is the time between two lines about the progress of a build, where there is no terminal.
const lineInterval = time.Minute

// tellsEachCell reports whether cellProgress writes a line of each cell that has run.
func tellsEachCell(cmd *cobra.Command) bool {
	return !is(cmd, "quiet") && (!isTerminal(news(cmd)) || is(cmd, "verbose"))
}

// tellCells tells about cells that are run.
func tellCells(cmd *cobra.Command, p *progress, f *app.Forecast) func(engine.Progress) {
	verbose, each := is(cmd, "verbose"), tellsEachCell(cmd)
	p.summary(func() string { return f.Line(time.Now()) })
	return func(news engine.Progress) {
		id := news.Cell.ID
		switch r := news.Result; {
		case r != nil:
			done, all := f.End(id, r.Outcome, time.Now())
			p.end(id)
			if !each {
				return // the report lists it below, and the summary counts it
			}
			p.line("[%*d/%d] %-16s %5.1fs  %s", len(fmt.Sprint(all)), done, all, r.Outcome.Word(), r.DurationSeconds, id)
		case news.Step != nil:
			steps := news.Cell.Steps // those of other cells of the scenario are among their numbers
			text := fmt.Sprintf("step %d of %d: %s", news.Step.Number, steps[len(steps)-1].Number, news.Step.Action.Describe())
			p.label(id, id+"  "+text)
			if verbose {
				p.line("%s: %s", id, text)
			}
		default:
			f.Begin(id, time.Now())
			p.begin(id, id)
			if verbose {
				p.line("%s: starting its cluster", id)
			}
		}
	}
}
