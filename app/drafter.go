package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// drafter writes the report of a run into its directory: a draft when there is news, and the whole report at the end.
type drafter struct {
	dir string
	// assembled returns the report of what has run so far. If that is not everything, it is partial, and says why.
	assembled func(why ...string) (reports.Report, error)
	// complete adds to the whole report what no draft has. If unset, drafts have everything.
	complete func(*reports.Report)
	news     chan struct{} // has room for one
}

func newDrafter(dir string, assembled func(why ...string) (reports.Report, error)) *drafter {
	return &drafter{dir: dir, assembled: assembled, news: make(chan struct{}, 1)}
}

// execute does the work of a run, and writes drafts while it lasts and the report after it. Work returns why it did not
// do everything, if it did not. If it has an error and doesn't say why, there is no report.
func (d *drafter) execute(ctx context.Context, work func() (why []string, err error)) (reports.Report, error) {
	if err := d.draft(); err != nil {
		return reports.Report{}, Failed(fmt.Errorf("writing the report: %w", err))
	}
	stop := keep(d.news, d.draft)
	why, err := work()
	stop()
	if err != nil && len(why) == 0 {
		return reports.Report{}, err
	}
	report, failure := d.assembled(why...)
	if failure == nil {
		if d.complete != nil {
			d.complete(&report)
		}
		report, failure = finish(ctx, d.dir, report)
	}
	return report, errors.Join(err, failure)
}

// wake has a draft written soon.
func (d *drafter) wake() {
	select {
	case d.news <- struct{}{}:
	default: // there is news already
	}
}

// draft writes a report of what has run so far. Other formats than JSON are for whole reports.
func (d *drafter) draft() error {
	report, err := d.assembled("the run was not over when this was written")
	if err != nil {
		return err
	}
	return render.WriteFile(d.dir, render.JSONFile, func(w io.Writer) error { return render.JSON(w, report) })
}

// draftPause is how long there is between two drafts. It is as much longer as it
// takes for them to be a twentieth of the time.
const draftPause = time.Second

// keep writes a draft when there is news, but not all the time, until it is
// stopped. A draft that can't be written is left to the next one, and to the whole
// report at the end, which returns the error.
func keep(news <-chan struct{}, draft func() error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var keeping sync.WaitGroup
	keeping.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-news:
			}
			began := time.Now()
			_ = draft()
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(draftPause, 20*time.Since(began))):
			}
		}
	})
	return func() {
		cancel()
		keeping.Wait()
	}
}
