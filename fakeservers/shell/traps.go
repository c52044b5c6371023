package shell

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// traps are what a shell does on signals, which the interpreter doesn't know: it runs
// the actions before its next command, and "wait" ends for them. It is safe for
// concurrent use.
type traps struct {
	signals *signals
	arrived chan struct{} // a trap is due, or a job has ended

	mu      sync.Mutex
	due     []string     // actions, in order
	last    int          // the number of the last job in the background
	running map[int]bool // jobs
}

func newTraps(of *signals) *traps {
	return &traps{signals: of, arrived: make(chan struct{}, 1), running: map[int]bool{}}
}

// call returns what the interpreter is to run instead of a command.
func (t *traps) call(ctx context.Context, env expand.Environ, args []string) ([]string, error) {
	if t == nil {
		t = newTraps(&signals{}) // no signal reaches this shell
	}
	inSubshell := env.Get(subshellVariable).IsSet()
	if actions := t.takeDue(inSubshell); actions != "" {
		return after(actions, args)
	}
	switch args[0] {
	case "trap":
		return t.trap(args, inSubshell)
	case "wait":
		if !inSubshell {
			return t.wait(ctx, args)
		}
	case beginJob:
		return []string{"eval", fmt.Sprintf("%s=%d", jobVariable, t.begin(inSubshell))}, nil
	case endJob:
		if len(args) == 3 { // or the script has a command of this name
			t.end(args[1])
			return []string{"exit", args[2]}, nil
		}
	}
	return args, nil
}

// after has actions run, and then a command.
func after(actions string, args []string) ([]string, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		quoted, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return nil, err
		}
		words[i] = quoted
	}
	return []string{"eval", actions + "\n" + strings.Join(words, " ")}, nil
}

// trap plays trap [ACTION] SIGNAL... What the interpreter knows is left to it.
func (t *traps) trap(args []string, inSubshell bool) ([]string, error) {
	operands := args[1:]
	if len(operands) > 0 && operands[0] == "--" {
		operands = operands[1:]
	}
	if len(operands) < 2 && (len(operands) == 0 || len(operands[0]) > 1 && operands[0][0] == '-') {
		return args, nil // a list of traps
	}
	action, names := "-", operands
	if len(operands) > 1 {
		action, names = operands[0], operands[1:]
	}
	action, err := bounded(action, "trap")
	if err != nil {
		return nil, err
	}
	own := []string{"trap", "--", action}
	for _, name := range names {
		signal := signalNumber(name)
		switch {
		case name == "EXIT" || name == "0":
			own = append(own, "EXIT")
		case name == "ERR":
			own = append(own, name)
		case signal == 0:
			return nil, fmt.Errorf("trap: there is no signal %s", name)
		case !inSubshell:
			t.set(signal, action)
		}
	}
	if len(own) == 3 {
		return []string{":"}, nil
	}
	return own, nil
}

// signalNumber returns the signal of a name or number, 0 if there is none.
func signalNumber(name string) syscall.Signal {
	if number, err := strconv.ParseUint(name, 10, 6); err == nil {
		return syscall.Signal(number)
	}
	return unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
}

// set sets what is done on a signal: "-" is the default, "" nothing.
func (t *traps) set(signal syscall.Signal, action string) {
	switch action {
	case "-":
		t.signals.handle(signal, nil)
	case "":
		t.signals.handle(signal, func() {})
	default:
		t.signals.handle(signal, func() { t.change(func() { t.due = append(t.due, action) }) })
	}
}

// change changes what mu guards, and wakes wait.
func (t *traps) change(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
	select {
	case t.arrived <- struct{}{}:
	default:
	}
}

// takeDue returns the actions that are to be run now: none in a subshell, because
// signals are sent to the shell.
func (t *traps) takeDue(inSubshell bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if inSubshell {
		return ""
	}
	actions := strings.Join(t.due, "\n")
	t.due = nil
	return actions
}

// wait plays wait [JOB...] until the jobs have ended, or a trap is due.
func (t *traps) wait(ctx context.Context, args []string) ([]string, error) {
	for t.anyRuns(args[1:]) {
		select {
		case <-t.arrived:
			if actions := t.takeDue(false); actions != "" {
				return []string{"eval", actions}, nil
			}
		case <-ctx.Done():
			return args, ctx.Err()
		}
	}
	return args, nil
}

// anyRuns reports whether one of the jobs still runs, which the interpreter calls "g1",
// "g2" and so on. If none is named, all count.
func (t *traps) anyRuns(jobs []string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for job := range t.running {
		if len(jobs) == 0 || slices.Contains(jobs, "g"+strconv.Itoa(job)) {
			return true
		}
	}
	return false
}

func (t *traps) begin(inSubshell bool) (job int) {
	if inSubshell {
		return 0 // nothing waits for it here
	}
	t.change(func() {
		t.last++
		job = t.last
		t.running[job] = true
	})
	return job
}

func (t *traps) end(job string) {
	number, _ := strconv.Atoi(job) // which begin has set
	t.change(func() { delete(t.running, number) })
}
