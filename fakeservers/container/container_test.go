package container

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/behavior"
	"github.com/skewrig/skewrig/record"
)

const agnhostImage = "registry.k8s.io/e2e-test-images/agnhost:2.66.1"

// TestCommands are processes that share nothing but files.
func TestCommands(t *testing.T) {
	t.Parallel()
	c := newContainer(t, File{Reference: agnhostImage})
	for _, run := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"sh", "-c", "echo one >/tmp/file; exit 4"}, 4, ""},
		{[]string{"/bin/cat", "/tmp/file"}, 0, "one\n"},
		{[]string{"cat", "/tmp/none"}, 1, "cat: openat /tmp/none: no such file or directory\n"},
		{[]string{"hostname"}, 0, "web\n"},
		{[]string{"id", "-u"}, 0, fmt.Sprintln(os.Getuid())},
		{[]string{"sh", "-c", "kill $$; sleep 60"}, 143, ""},
		{[]string{"bash", "-c", "trap 'exit 6' USR1; kill -USR1 $$; sleep 60 & wait"}, 6, ""},
	} {
		if code, out := c.run(run.args...); code != run.code || out != run.out {
			t.Errorf("%q: exit code %d, %q, want %d, %q", run.args, code, out, run.code, run.out)
		}
	}
	if code, out := c.run("/agnhost", "netexec"); code != exitNotFound {
		t.Errorf("agnhost beside the main process: %d, %s", code, out)
	}
}

func TestAnImageThatCantBePlayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]container{
		"is unknown":  newContainer(t, File{Reference: "registry.test/none"}),
		"has no file": {t: t, dir: t.TempDir()},
	} {
		if code, out := c.run("sh"); code != exitBroken || !strings.HasPrefix(out, "skewrig: ") {
			t.Errorf("one that %s: exit code %d, %q", name, code, out)
		}
	}
	// In a sandbox's image there is nothing but its own program.
	if code, out := newContainer(t, File{Reference: "registry.k8s.io/pause:3.10"}).run("sh"); code != exitNotFound || out != "sh: not found\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// recording is a node that takes what a process sends.
type recording struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

// greet waits for a process that connects.
func greet(t *testing.T, listener net.Listener) recording {
	t.Helper()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(conn).Encode(Greeting{Container: "default/web/app"}); err != nil {
		t.Fatal(err)
	}
	return recording{t, conn, bufio.NewReader(conn)}
}

// message returns what the process says next.
func (r recording) message() (m Message) {
	r.t.Helper()
	line, err := r.from.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &m); err != nil {
		r.t.Fatal(err)
	}
	return m
}

// next returns the next event that the process has, and answers, and how many drafts came
// before it.
func (r recording) next() (event record.Payload, drafts int) {
	r.t.Helper()
	m := r.message()
	for ; m.Draft; m = r.message() {
		drafts++
	}
	if _, err := r.conn.Write([]byte("\n")); err != nil {
		r.t.Fatal(err)
	}
	return record.Decode(record.Event{Kind: m.Kind, Data: m.Data}), drafts
}

// TestTheMainProcessRecords what it sees, and ends on a signal once that is recorded.
func TestTheMainProcessRecords(t *testing.T) {
	t.Parallel()
	const port = 8099
	c := newContainer(t, File{Reference: "registry.test/web:v1", Library: Library{
		Images: []record.Image{{Image: "registry.test/*", Listen: []behavior.Listener{
			{Port: port, Protocol: behavior.TCP, Phases: behavior.Timeline{{TCP: &behavior.Stream{Send: "hello"}}}},
		}}},
	}})
	listener := c.listen()
	cmd, out := c.command(true, "/any/program")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := greet(t, listener)
	first, _ := r.next()
	listening, is := first.(record.Listening)
	if !is || listening.Port != port {
		t.Fatalf("the first event is %+v", listening)
	}
	if diff := cmp.Diff(Message{Up: true}, r.message()); diff != "" {
		t.Fatalf("once it listens (-want +got):\n%s", diff)
	}
	conn, err := net.Dial("tcp", listening.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 5)); err != nil { // then it was accepted
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	second, drafts := r.next()
	seen, is := second.(record.Connection)
	if !is || drafts != 1 || seen.CloseReason != record.Shutdown || seen.Local != listening.Address || seen.Remote != conn.LocalAddr().String() {
		t.Errorf("the second event, after %d drafts, is %+v", drafts, seen)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v: %s", err, out)
	}
}

// TestAProgramThatListensNowhereIsUpInAMoment, and so is none that is run beside it.
func TestAProgramThatListensNowhereIsUpInAMoment(t *testing.T) {
	t.Parallel()
	c := newContainer(t, File{Reference: agnhostImage})
	listener := c.listen()
	for _, run := range []struct {
		first bool
		want  error
	}{{true, nil}, {false, io.EOF}} {
		cmd, _ := c.command(run.first, "sh", "-c", "sleep 2")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := greet(t, listener)
		line, err := r.from.ReadBytes('\n')
		var m Message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if !errors.Is(err, run.want) || m.Up != run.first {
			t.Errorf("first: %t: it says %q: %v", run.first, line, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestWithoutANodeNothingIsRecorded, and all else is as with one.
func TestWithoutANodeNothingIsRecorded(t *testing.T) {
	t.Parallel()
	c := newContainer(t, File{Reference: agnhostImage})
	cmd, out := c.command(true, "/agnhost", "entrypoint-tester", "one", "two")
	if err := cmd.Run(); err != nil || out.String() != "[/agnhost entrypoint-tester one two]\n" {
		t.Errorf("it writes %q: %v", out, err)
	}
}

// TestANodeThatDoesNotAnswer: a program does not start if no node records what it does.
func TestANodeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newContainer(t, File{Reference: agnhostImage})
	listener := c.listen()
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if code, out := c.run("true"); code != exitBroken || !strings.HasPrefix(out, "skewrig: recording what happens: ") {
		t.Errorf("exit code %d, %q", code, out)
	}
}

func TestIsFirst(t *testing.T) {
	t.Parallel()
	stat := func(start string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("7 (a) b) S 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + start + " 0")}
	}
	own, other := &fstest.MapFile{Data: []byte("0::/pod/app\n")}, &fstest.MapFile{Data: []byte("0::/pod/sidecar\n")}
	proc := fstest.MapFS{
		"1/cgroup": {Data: []byte("0::/pod/pause\n")}, "1/stat": stat("100"),
		"7/cgroup": other, "7/stat": stat("200"),
		"8/cgroup": own, "8/stat": stat("300"),
		"12/cgroup": own, "12/stat": stat("300"),
		"9/cgroup": own, "9/stat": stat("400"),
		"self/cgroup": own, "10/status": {},
	}
	for pid, want := range map[int]bool{1: true, 7: true, 8: true, 9: false, 12: false, 99: false} {
		if got := isFirst(proc, pid); got != want {
			t.Errorf("process %d: %t, want %t", pid, got, want)
		}
	}
	delete(proc, "8/stat") // it has just ended
	if !isFirst(proc, 12) {
		t.Error("a process that has ended is older")
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	host := func() (string, error) { return "node", nil }
	for _, c := range []struct{ env, want []string }{
		{[]string{"A=1"}, []string{"A=1", "HOSTNAME=node"}},
		{[]string{"HOSTNAME=web", "A=1"}, []string{"HOSTNAME=web", "A=1"}},
	} {
		if diff := cmp.Diff(c.want, environment(slices.Clone(c.env), host)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := environment(nil, func() (string, error) { return "", errors.New("none") }); len(got) > 0 {
		t.Errorf("without a host name: %q", got)
	}
}

// TestAddress: it is one of this machine's, and no other loopback address than the first.
func TestAddress(t *testing.T) {
	t.Parallel()
	got := address()
	if !got.Is4() || got.IsLoopback() && got != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("it is %s", got)
	}
}
