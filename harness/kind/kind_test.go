package kind

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/record"
)

// readLine reads a line, and then no more.
func readLine(from io.Reader) error {
	_, err := bufio.NewReader(from).ReadString('\n')
	return err
}

// readAll reads to the end.
func readAll(from io.Reader) error {
	_, err := io.Copy(io.Discard, from)
	return err
}

// TestWhatIsFollowedEnds: that it ends before the cluster is a loss, whoever ends it.
func TestWhatIsFollowedEnds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		read         func(io.Reader) error
		want         string
	}{
		{"the session breaks", "echo no such session >&2; exit 1", readAll, "the events of node node-a have ended: journalctl: exit status 1: no such session"},
		{"it has no more to say", "exit 0", readAll, "the events of node node-a have ended: journalctl: EOF"},
		{"reading ends early", "while echo a; do :; done", readLine, "the events of node node-a have ended: journalctl: "},
	} {
		inPlaceOfDocker(t, c.script)
		history := record.NewHistory(nil)
		k := &Cluster{config: Config{Recorder: history}}
		k.lasting, k.end = context.WithCancel(t.Context())
		if err := k.follow(&node{name: "node-a", container: "a"}, []string{"journalctl", "--follow"}, c.read, func(err error) { k.loseComponents(err, "kubelet/node-a") }); err != nil {
			t.Fatal(err)
		}
		k.following.Wait()
		want := `component.stopped of "kubelet/node-a" over: false: ` + c.want
		if lost := lossesIn(history); len(lost) != 1 || !strings.HasPrefix(lost[0], want) {
			t.Errorf("%s: lost %q, want %s at its beginning", c.name, lost, want)
		}
		k.end()
	}
}

// lossesIn are the losses in a history, each with whose it is and whether it lasts.
func lossesIn(history *record.History) (all []string) {
	for e, l := range record.All[record.ObservationLost](history.Events()) {
		all = append(all, fmt.Sprintf("%s of %q over: %t: %s", strings.Join(l.Kinds, ","), e.Subject, l.Resumed, l.Reason))
	}
	return all
}

// TestWhatIsFollowedUntilClose is no loss.
func TestWhatIsFollowedUntilClose(t *testing.T) {
	inPlaceOfDocker(t, "echo ready; exec sleep 600")
	k := new(Cluster)
	k.lasting, k.end = context.WithCancel(t.Context())
	reads := make(chan struct{})
	err := k.follow(&node{name: "node-a", container: "a"}, []string{"journalctl", "--follow"}, func(from io.Reader) error {
		err := readLine(from)
		close(reads)
		return errors.Join(err, readAll(from))
	}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	<-reads
	k.end()
	k.following.Wait()
}
