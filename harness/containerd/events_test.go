package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

// followed is a node whose ctr is a shell script, which it follows until a context is done, with its record.
func followed(t *testing.T, ctx context.Context, script string) (*Node, *record.History) {
	t.Helper()
	ctr := filepath.Join(t.TempDir(), "ctr")
	if err := os.WriteFile(ctr, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is to run
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short, that of t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	history := record.NewHistory(nil)
	n := &Node{config: Config{Name: "node-a", Socket: filepath.Join(dir, "socket"), Cgroup: "skewrig-none", Recorder: history, Found: Found{Programs: map[string]string{"ctr": ctr}}}}
	if n.relay, err = newRelay(n.relayed()); err != nil {
		t.Fatal(err)
	}
	if err := n.follow(ctx, nil); err != nil {
		t.Fatal(errors.Join(err, n.relay.end()))
	}
	return n, history
}

// lossesIn are the losses in a history, each with whose it is and whether it lasts.
func lossesIn(history *record.History) (all []string) {
	for e, l := range record.All[record.ObservationLost](history.Events()) {
		all = append(all, fmt.Sprintf("%s of %q over: %t: %s", strings.Join(l.Kinds, ","), e.Subject, l.Resumed, l.Reason))
	}
	return all
}

// TestTheEndOfEvents before that of containerd is a loss, whoever ends them.
func TestTheEndOfEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"it can't subscribe":    {"echo no such service >&2; exit 1", "exit status 1: no such service"},
		"it has no more to say": {"exit 0", "EOF"},
		"it is killed":          {"kill -KILL $$", "signal: killed"},
		"a line is too long":    {"while printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; do :; done 2>/dev/null", "bufio.Scanner: token too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, history := followed(t, t.Context(), c.script)
			n.following.Wait()
			n.heard() // as it is when containerd runs again
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			lost := lossesIn(history)
			for i, over := range []string{"false", "true"} {
				want := `container.exited of "" over: ` + over + ": the events of node node-a have ended: ctr: " + c.want
				if len(lost) != 2 || !strings.HasPrefix(lost[i], want) {
					t.Errorf("lost %q, want %s", lost, want)
				}
			}
		})
	}
}

// TestEventsEndWithContainerd: that is no loss.
func TestEventsEndWithContainerd(t *testing.T) {
	t.Parallel()
	ctx, unfollow := context.WithCancel(t.Context())
	n, history := followed(t, ctx, "exec sleep 600")
	unfollow()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if lost := lossesIn(history); len(lost) > 0 {
		t.Errorf("lost %q", lost)
	}
}

// silent is a container runtime that says of a container that it runs, or nothing.
type silent struct {
	cri.RuntimeServiceClient
	err error
}

func (s silent) ContainerStatus(context.Context, *cri.ContainerStatusRequest, ...grpc.CallOption) (*cri.ContainerStatusResponse, error) {
	return &cri.ContainerStatusResponse{Status: &cri.ContainerStatus{Id: "abc", State: cri.ContainerState_CONTAINER_RUNNING}}, s.err
}

// oneContainer is what records the end of a container that runs.
func oneContainer(runtime cri.RuntimeServiceClient, history *record.History) *ledger {
	l := newLedger("a", "", history, runtime, nil)
	c := &container{path: "default/web/app", started: true}
	c.lives, c.end = context.WithCancel(context.Background())
	l.containers["abc"] = c
	return l
}

const exitOfABC = `now k8s.io /tasks/exit {"container_id":"abc","id":"abc"}` + "\n"

// TestAnEndThatIsNotKnown: what does not say in time how a container has ended is a loss, until that is known.
func TestAnEndThatIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"it has no answer": {errors.New("no answer"), "no answer"},
		"it is late":       {nil, "it says that it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				history := record.NewHistory(nil)
				l := oneContainer(silent{err: c.err}, history)
				if err := l.readExits(strings.NewReader(exitOfABC)); err != nil {
					t.Fatal(err)
				}
				l.looking.Wait()
				l.seen(t.Context(), &cri.ContainerStatusResponse{Status: &cri.ContainerStatus{Id: "abc", State: cri.ContainerState_CONTAINER_EXITED}})
				const loss = `container.exited of "default/web/app" over: %t: asking the container runtime how container default/web/app has ended: %s`
				if diff := cmp.Diff([]string{fmt.Sprintf(loss, false, c.want), fmt.Sprintf(loss, true, c.want)}, lossesIn(history)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if events := history.Events(); len(events) != 3 || events[1].Kind != "container.exited" {
					t.Errorf("recorded %+v", events)
				}
			})
		})
	}
}

// TestNothingIsRecordedOnceARelayIsClosed: the end of a container that was being looked for is not, nor is it lost.
func TestNothingIsRecordedOnceARelayIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		history := record.NewHistory(nil)
		l := oneContainer(silent{err: errors.New("no answer")}, history)
		if err := l.readExits(strings.NewReader(exitOfABC)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		l.shut()
		l.looking.Wait()
		time.Sleep(2 * lookLimit)
		if events := history.Events(); len(events) > 0 {
			t.Errorf("recorded %+v", events)
		}
	})
}
