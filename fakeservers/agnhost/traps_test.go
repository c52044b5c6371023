package agnhost_test

import (
	"syscall"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// sent is a signal that a container gets when its log has a line.
type sent struct {
	after  string
	signal syscall.Signal
}

func TestTraps(t *testing.T) {
	t.Parallel()
	asked := sent{"up", syscall.SIGTERM}
	for name, tc := range map[string]struct {
		script string
		sent   []sent
		code   int
		log    string
	}{
		"before the next command": {
			script: "trap 'echo asked; exit 3' TERM; echo up; while true; do sleep 0.01; done",
			sent:   []sent{asked}, code: 3, log: "asked",
		},
		"a function": {
			script: "stop() { rm /tmp/ready; echo gone; exit 4; }\ntrap stop SIGTERM\ntouch /tmp/ready; echo up\nwhile test -e /tmp/ready; do sleep 0.01; done",
			sent:   []sent{asked}, code: 4, log: "gone",
		},
		"in a wait": {
			script: "trap 'echo asked; exit 5' term; sleep infinity & echo up; wait",
			sent:   []sent{asked}, code: 5, log: "asked",
		},
		"in a wait for one job": {
			script: "trap 'echo asked' 15; sleep infinity & echo up; wait $!; exit 6",
			sent:   []sent{asked}, code: 6, log: "asked",
		},
		"twice, and the script goes on": {
			script: "n=0; trap 'n=$((n+1)); echo n=$n' HUP TERM; echo up; until [ $n = 2 ]; do sleep 0.01; done; exit 7",
			sent:   []sent{{"up", syscall.SIGHUP}, {"n=1", syscall.SIGTERM}}, code: 7, log: "n=2",
		},
		"not in a subshell": {
			script: "trap 'echo asked; exit 8' TERM; (while true; do sleep 0.01; done) | cat & echo up; while true; do a=$(sleep 0.01; sleep 0.01); (sleep 0.01; sleep 0.01); done",
			sent:   []sent{asked}, code: 8, log: "asked",
		},
		"not of a subshell": {
			script: "trap 'exit 9' TERM; (trap 'exit 1' TERM); echo up; while true; do sleep 0.01; done",
			sent:   []sent{asked}, code: 9,
		},
		"ignored": {
			script: "trap '' TERM; trap 'exit 10' INT; echo up; while true; do sleep 0.01; done",
			sent:   []sent{asked, {"up", syscall.SIGINT}}, code: 10,
		},
		"no longer": {
			script: "trap 'exit 1' HUP TERM; trap - TERM; trap HUP; trap 'exit 11' INT; echo up; while true; do sleep 0.01; done",
			sent:   []sent{asked, {"up", syscall.SIGHUP}, {"up", syscall.SIGINT}}, code: 11,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := run(t, spec{image: "busybox", command: []string{"sh", "-c", tc.script}})
			for _, next := range tc.sent {
				c.waitLogs(next.after)
				c.signals <- next.signal
			}
			c.expectExit(tc.code)
			c.expectLogs(tc.log)
		})
	}
}

func TestATrapOfTheLastCommand(t *testing.T) {
	t.Parallel()
	stdin := newPipe(t)
	c := run(t, spec{image: "busybox", command: []string{"sh", "-c", "trap 'exit 3' TERM; echo up; cat"}, streams: image.Streams{Stdin: stdin}})
	c.waitLogs("up")
	for range 3 { // The third is taken when the first has been acted on.
		c.signals <- syscall.SIGTERM
	}
	if err := stdin.CloseWrite(); err != nil {
		t.Error(err)
	}
	c.expectExit(3)
}

func newPipe(t *testing.T) *image.Pipe {
	t.Helper()
	pipe, err := image.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return pipe
}
