package watchdog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Plan is the order in which an operation takes the dependents: level by level,
// the lowest first, and on each level all at the same time.
// Source: internal/prober/scaler/flow.go.
func Plan(op Operation, dependents []Dependent) [][]Dependent {
	byLevel := make(map[int][]Dependent)
	for _, d := range dependents {
		level := d.scaling(op).Level
		byLevel[level] = append(byLevel[level], d)
	}
	var plan [][]Dependent
	for _, level := range slices.Sorted(maps.Keys(byLevel)) {
		plan = append(plan, byLevel[level])
	}
	return plan
}

func (d Dependent) scaling(op Operation) Scaling {
	if op == ScaleDown {
		return d.Down
	}
	return d.Up
}

// How a dependent is scaled (internal/prober/scaler/flow.go, scaleroptions.go).
const (
	attempts   = 3
	afterError = 100 * time.Millisecond // also after the last attempt
	readyWait  = 5 * time.Second
	readyCheck = 1 * time.Second
)

var errNotReady = errors.New("its replicas were not there in time")

// task is one dependent's part in an operation.
type task struct {
	dependent Dependent
	due       time.Time
	until     time.Time // it waits for replicas until then, if it does
	failed    int       // attempts
	err       error     // of the latest attempt
	over      bool
}

func begin(op Operation, d Dependent, now time.Time) task {
	return task{dependent: d, due: now.Add(d.scaling(op).InitialDelay)}
}

// step does what is due. Whether replicas are ready is seen only in the next
// step, which may be due at the same time.
func (t task) step(b Behavior, op Operation, r Resource) (task, []Change) {
	switch {
	case t.failed == attempts:
		t.over = true
		return t, nil
	case t.until.IsZero():
		return t.attempt(b, op, r)
	case !t.due.Before(t.until):
		return t.fail(op, errNotReady), nil
	case r.Exists && (r.Ready > 0) == (op == ScaleUp):
		t.over, t.err = true, nil
		return t, nil
	default:
		t.due = t.due.Add(readyCheck)
		return t, nil
	}
}

func (t task) attempt(b Behavior, op Operation, r Resource) (task, []Change) {
	changes, waits, err := b.Changes(op, t.dependent, r)
	switch {
	case err != nil:
		return t.fail(op, err), nil
	case waits:
		t.until = t.due.Add(readyWait)
	default:
		t.over, t.err = true, nil
	}
	return t, changes
}

// fail ends an attempt. The next one begins with the dependent's initial delay.
func (t task) fail(op Operation, err error) task {
	t.failed, t.err, t.until = t.failed+1, err, time.Time{}
	t.due = t.due.Add(afterError)
	if t.failed < attempts {
		t.due = t.due.Add(t.dependent.scaling(op).InitialDelay)
	}
	return t
}

// flow is an operation underway. When something on a level fails, the rest of
// the level is still done, and no further level.
type flow struct {
	op    Operation
	left  [][]Dependent
	tasks []task // of the present level
}

// Applied is a change, and the dependent that it is for.
type Applied struct {
	Dependent string
	Change    Change
}

func newFlow(op Operation, dependents []Dependent, now time.Time) flow {
	return flow{op: op, left: Plan(op, dependents)}.next(now)
}

// next begins the next level, if there is one.
func (f flow) next(now time.Time) flow {
	f.tasks = nil
	if len(f.left) == 0 {
		return f
	}
	for _, d := range f.left[0] {
		f.tasks = append(f.tasks, begin(f.op, d, now))
	}
	f.left = f.left[1:]
	return f
}

// over reports whether there is nothing left to do.
func (f flow) over() bool { return len(f.tasks) == 0 }

// due is when the flow goes on.
func (f flow) due() time.Time {
	var due time.Time
	for _, t := range f.tasks {
		if !t.over && (due.IsZero() || t.due.Before(due)) {
			due = t.due
		}
	}
	return due
}

// step does what is due. The error is that of what has failed on a level, when
// all of it is over.
func (f flow) step(b Behavior, now time.Time, look func(string) Resource) (flow, []Applied, error) {
	f.tasks = slices.Clone(f.tasks)
	var applied []Applied
	for i, t := range f.tasks {
		if t.over || t.due.After(now) {
			continue
		}
		var changes []Change
		f.tasks[i], changes = t.step(b, f.op, look(t.dependent.Name))
		for _, c := range changes {
			applied = append(applied, Applied{t.dependent.Name, c})
		}
	}
	var errs []error
	for _, t := range f.tasks {
		if !t.over {
			return f, applied, nil
		}
		if t.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.dependent.Name, t.err))
		}
	}
	if len(errs) > 0 {
		return flow{}, applied, fmt.Errorf("%s: %w", f.op, errors.Join(errs...))
	}
	return f.next(now), applied, nil
}
