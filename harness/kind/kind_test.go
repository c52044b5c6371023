package kind

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
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
		{"nobody reads on", "while echo a; do :; done", readLine, "the events of node node-a have ended: journalctl: "},
	} {
		inPlaceOfDocker(t, c.script)
		lost := make(chan error, 1)
		k := &Cluster{config: Config{Lost: func(err error) { lost <- err }}}
		k.lasting, k.end = context.WithCancel(t.Context())
		if err := k.follow(&node{name: "node-a", container: "a"}, []string{"journalctl", "--follow"}, c.read); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-lost:
			if got := err.Error(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s, want %s at its beginning", c.name, got, c.want)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: nothing is lost", c.name)
		}
		k.end()
		k.following.Wait()
	}
}

// TestWhatIsFollowedUntilClose is no loss.
func TestWhatIsFollowedUntilClose(t *testing.T) {
	inPlaceOfDocker(t, "echo ready; exec sleep 600")
	k := &Cluster{config: Config{Lost: func(err error) { t.Error(err) }}}
	k.lasting, k.end = context.WithCancel(t.Context())
	reads := make(chan struct{})
	err := k.follow(&node{name: "node-a", container: "a"}, []string{"journalctl", "--follow"}, func(from io.Reader) error {
		err := readLine(from)
		close(reads)
		return errors.Join(err, readAll(from))
	})
	if err != nil {
		t.Fatal(err)
	}
	<-reads
	k.end()
	k.following.Wait()
}
