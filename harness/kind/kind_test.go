package kind

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// readLine reads a line, and then no more.
func readLine(from io.Reader) { _, _ = bufio.NewReader(from).ReadString('\n') }

// readAll reads to the end.
func readAll(from io.Reader) { _, _ = io.Copy(io.Discard, from) }

// TestWhatIsFollowedEnds: that it ends before the cluster is a loss, whoever ends it.
func TestWhatIsFollowedEnds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		read         func(io.Reader)
		want         string
	}{
		{"the session breaks", "echo no such session >&2; exit 1", readAll, "journalctl on node node-a, which says what ends there, has ended: exit status 1: no such session"},
		{"it has no more to say", "exit 0", readAll, "journalctl on node node-a, which says what ends there, has ended: EOF"},
		{"nobody reads on", "while echo a; do :; done", readLine, "journalctl on node node-a, which says what ends there, has ended: "},
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
	err := k.follow(&node{name: "node-a", container: "a"}, []string{"journalctl", "--follow"}, func(from io.Reader) {
		readLine(from)
		close(reads)
		readAll(from)
	})
	if err != nil {
		t.Fatal(err)
	}
	<-reads
	k.end()
	k.following.Wait()
}
