package provider

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheMachinesClock: what the machine could not do in a sample is not
// counted as time.
func TestTheMachinesClock(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		late  time.Duration
		queue float64
		want  time.Duration
	}{
		"idle":             {queue: 0.5, want: 20 * sampleEvery},
		"busy with rigs":   {queue: ownQueue, want: 20 * sampleEvery},
		"twice too much":   {queue: 2 * ownQueue, want: 10 * sampleEvery},
		"ten times":        {queue: 10 * ownQueue, want: 2 * sampleEvery},
		"far too much":     {queue: 1000, want: 20 * sampleEvery / maxStretch},
		"asleep for a day": {late: 24 * time.Hour, want: 20 * sampleEvery},
		"nothing is known": {queue: 0, want: 20 * sampleEvery},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := new(Machine)
			for range 20 {
				m.sample(tc.late, tc.queue)
			}
			if got := m.Now(); got != tc.want {
				t.Errorf("the clock shows %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTheMachinesDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, cause := new(Machine), errors.New("time is over")
		ctx, cancel := m.WithTimeout(t.Context(), time.Minute, cause)
		defer cancel()
		<-time.After(time.Hour) // in which the machine does nothing
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("the time was over on a machine that did nothing")
		}
		for range time.Minute / sampleEvery {
			m.sample(0, 1)
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), cause) {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
	})
}

func TestTheMachineIsMeasured(t *testing.T) {
	t.Parallel()
	m := WatchMachine(nil)
	ctx, cancel := m.WithTimeout(t.Context(), 2*sampleEvery, nil)
	defer cancel()
	<-ctx.Done()
	measured := m.Stop()
	if measured.Worst < measured.Mean || measured.Mean <= 0 || measured.Queue <= 0 {
		t.Errorf("measured %+v", measured)
	}
}
