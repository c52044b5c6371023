package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/scenarios/engine"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// progress tells what is going on: a line for each thing that is done, which is
// what CI keeps, and on a terminal, below these, what is at work and for how
// long.
type progress struct {
	out  io.Writer
	bars *mpb.Progress // nil if out is not a terminal

	mu     sync.Mutex
	work   map[string]*mpb.Bar
	labels map[string]string
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, work: make(map[string]*mpb.Bar), labels: make(map[string]string)}
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels[what] = label
	p.work[what] = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarFillerTrim(), mpb.BarWidth(2),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}),
			decor.Any(func(decor.Statistics) string { return "  " + p.labelOf(what) })))
}

// label changes what is said of something that is at work.
func (p *progress) label(what, label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels[what] = label
}

func (p *progress) labelOf(what string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.labels[what]
}

// end says that it no longer is.
func (p *progress) end(what string) {
	p.mu.Lock()
	bar := p.work[what]
	delete(p.work, what)
	p.mu.Unlock()
	if bar != nil { // not under the lock: a bar that ends asks for its label once more
		bar.Abort(true)
		bar.Wait()
	}
}

// summary keeps a line below all others, on a terminal.
func (p *progress) summary(text func() string) {
	if p.bars == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work[summary] = p.bars.New(0, mpb.NopStyle(), mpb.BarPriority(math.MaxInt),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return text() })))
}

// summary is the name of the line below all others. No work has an empty name.
const summary = ""

// line says something that stays.
func (p *progress) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// close ends everything. Nothing may be told afterwards.
func (p *progress) close() {
	for _, what := range slices.Collect(maps.Keys(p.work)) {
		p.end(what)
	}
	if p.bars != nil {
		p.bars.Wait()
	}
}

// buildProgress tells about targets that are built. Done must be called at the
// end.
func buildProgress(cmd *cobra.Command) (tell func(build.Progress), done func()) {
	p, verbose := newProgress(news(cmd)), is(cmd, "verbose")
	return func(b build.Progress) {
		target := b.Target.String()
		switch b.State {
		case build.Waiting, build.Compiling:
			p.begin(target, fmt.Sprintf("%s %s", target, b.State))
			if p.bars == nil || verbose {
				p.line("%-40s %s", target, b.State)
			}
		default:
			p.end(target)
			p.line("%-40s %-9s %6.1fs", target, b.State, b.Elapsed.Seconds())
		}
	}, p.close
}

// cellProgress tells about cells that are run. Done must be called at the end.
func cellProgress(cmd *cobra.Command, f *app.Forecast) (tell func(engine.Progress), done func()) {
	c := &cellNews{progress: newProgress(news(cmd)), forecast: f, verbose: is(cmd, "verbose")}
	c.summary(c.soFar)
	return c.tell, c.close
}

// cellNews is the progress of a run of cells.
type cellNews struct {
	*progress
	verbose bool

	counting sync.Mutex
	forecast *app.Forecast
}

func (c *cellNews) tell(news engine.Progress) {
	id := news.Cell.ID
	switch {
	case news.Result != nil:
		c.ended(*news.Result)
	case news.Step != nil:
		text := describeStep(news.Cell, *news.Step)
		c.label(id, id+"  "+text)
		if c.verbose {
			c.line("%s: %s", id, text)
		}
	default:
		c.count(func() { c.forecast.Begin(id, time.Now()) })
		c.begin(id, id)
		if c.verbose {
			c.line("%s: its rig starts", id)
		}
	}
}

func (c *cellNews) ended(result reports.Cell) {
	var done, all int
	c.count(func() {
		c.forecast.End(result.ID, result.Outcome, time.Now())
		done, all = c.forecast.Count()
	})
	c.end(result.ID)
	c.line("[%*d/%d] %-16s %5.1fs  %s", len(fmt.Sprint(all)), done, all, result.Outcome, result.DurationSeconds, result.ID)
}

// count changes or reads the forecast, which a terminal asks at any time.
func (c *cellNews) count(do func()) {
	c.counting.Lock()
	defer c.counting.Unlock()
	do()
}

func (c *cellNews) soFar() (text string) {
	c.count(func() { text = c.forecast.Line(time.Now()) })
	return text
}

// describeStep says which step of how many a cell takes. Steps of other cells of
// the scenario are among their numbers.
func describeStep(cell plan.Cell, step plan.Step) string {
	last := cell.Steps[len(cell.Steps)-1].Number
	return fmt.Sprintf("step %d of %d: %s", step.Number, last, step.Action.Describe())
}
