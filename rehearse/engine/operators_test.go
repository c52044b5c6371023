package engine

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/harness/process"
)

func TestAnOperatorIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := &operators{exits: make(map[string][]string)}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	command := process.Command{Path: "/bin/sh", Args: []string{"-c", "echo 'panic: no such field' >&2; exit 2"}, Stdout: io.Discard, Stderr: io.Discard}
	o.running.Go(func() { o.keep(ctx, "shop", command) })
	var all []string
	if !await.Until(ctx, 20*time.Second, func() bool {
		all = append(all, o.take()["shop"]...)
		return len(all) >= 2
	}) {
		t.Fatal("not started again")
	}
	if !strings.Contains(all[0], "no such field") {
		t.Errorf("%q", all)
	}
	if err := o.stop(); err != nil {
		t.Error(err)
	}
	if again := o.take(); len(again["shop"]) > 1 {
		t.Errorf("it runs on: %v", again)
	}
}
