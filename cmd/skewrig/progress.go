package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/engine"
)

// progress tells what is going on: a line for each thing that is done, which is
// what CI keeps, and on a terminal, below these, what is at work and for how
// long.
type progress struct {
	out  io.Writer
	bars *mpb.Progress // nil if out is not a terminal

	mu   sync.Mutex
	work map[string]*mpb.Bar
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, work: make(map[string]*mpb.Bar)}
	if f, isFile := out.(*os.File); isFile && term.IsTerminal(int(f.Fd())) {
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
	p.work[what] = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarFillerTrim(), mpb.BarWidth(2),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}), decor.Name("  "+label)))
}

// end says that it no longer is.
func (p *progress) end(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bar := p.work[what]; bar != nil {
		bar.Abort(true)
		bar.Wait()
		delete(p.work, what)
	}
}

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
func buildProgress(out io.Writer) (tell func(build.Progress), done func()) {
	p := newProgress(out)
	return func(b build.Progress) {
		target := b.Target.String()
		switch b.State {
		case build.Waiting, build.Compiling:
			p.begin(target, fmt.Sprintf("%s %s", target, b.State))
			if p.bars == nil {
				p.line("%-40s %s", target, b.State)
			}
		default:
			p.end(target)
			p.line("%-40s %-9s %6.1fs", target, b.State, b.Elapsed.Seconds())
		}
	}, p.close
}

// cellProgress tells about cells that are run, with what is known to fail marked
// as such. Done must be called at the end.
func cellProgress(out io.Writer, total int, list deviationList) (tell func(engine.Progress), done func()) {
	p := newProgress(out)
	finished, width := 0, len(fmt.Sprint(total))
	return func(news engine.Progress) {
		if news.Result == nil {
			p.begin(news.Cell.ID, news.Cell.ID)
			return
		}
		finished++
		p.end(news.Cell.ID)
		result := list.excuse(*news.Result)
		p.line("[%*d/%d] %-16s %5.1fs  %s", width, finished, total, result.Outcome, result.DurationSeconds, result.ID)
	}, p.close
}
