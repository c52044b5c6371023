package collect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/fakeservers/container"
	"github.com/skewrig/skewrig/record"
)

// patience is how long a test waits for what must come. It only runs out when
// something is broken.
const patience = 20 * time.Second

// process is one end of a connection to a collector.
type process struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

// listen begins to collect from processes that are all of one container, and says where.
func listen(t *testing.T, history *record.History) (_ *Collector, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "d")
	c, err := Listen(Config{
		Dir: dir, Recorder: history,
		Path: func(context.Context, string) (string, error) { return "default/web/app", nil },
		peer: func(*net.UnixConn) (string, error) { return "abc", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, dir
}

func connect(t *testing.T, dir string) *process {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(dir, container.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &process{t: t, conn: conn, from: bufio.NewReader(conn)}
}

// read returns what the collector says next, without the end of the line.
func (p *process) read() string {
	p.t.Helper()
	line, err := p.from.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *process) write(text string) {
	p.t.Helper()
	if _, err := p.conn.Write([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func TestAnEventIsRecordedBeforeItIsAnswered(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	c, dir := listen(t, history)
	p := connect(t, dir)
	var greeting container.Greeting
	if err := json.Unmarshal([]byte(p.read()), &greeting); err != nil || greeting.Container != "default/web/app" {
		t.Fatalf("it is greeted as %+v: %v", greeting, err)
	}
	for n, line := range []string{
		`{"kind":"wire.listening","data":{"address":"192.0.2.1:80","port":80}}`,
		`{"kind":"wire.connection","data":{"id":1}}`,
	} {
		p.write(line + "\n")
		if said := p.read(); said != "" {
			t.Errorf("the answer is %q", said)
		}
		if got := len(history.Events()); got != n+1 {
			t.Fatalf("there are %d events after the answer to number %d", got, n+1)
		}
	}
	first := history.Events()[0]
	if first.Source != "server/default/web/app" || first.Subject != "default/web/app" || first.Kind != "wire.listening" {
		t.Errorf("the event is %+v", first)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// lossesIn are the losses in a history, each with whose it is and whether it lasts.
func lossesIn(history *record.History) (all []string) {
	for e, l := range record.All[record.ObservationLost](history.Events()) {
		all = append(all, fmt.Sprintf("%s %q over: %t: %s", e.Source, e.Subject, l.Resumed, l.Reason))
	}
	return all
}

// TestWhatIsNotRecordedIsLost: who ends in the middle of an event, or sends what no server sees, leaves a record that is not
// complete.
func TestWhatIsNotRecordedIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sent, want string }{
		"another kind": {`{"kind":"container.exited","data":{"exitCode":0}}` + "\n", "over: false: .*no event of a server"},
		"no payload":   {`{"kind":"wire.listening"}` + "\n", "over: false: .*no payload"},
		"a draft":      {`{"draft":true,"kind":"wire.listening","data":{}}` + "\n", "over: false: .*no event of a server"},
		"no JSON":      {"x\n", "over: false: .*invalid character"},
		"half of it":   {`{"kind":"wire.lis`, "over: true: it ended while it recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := record.NewHistory(nil)
			collector, dir := listen(t, history)
			p := connect(t, dir)
			p.read()
			p.write(c.sent)
			if err := p.conn.(*net.UnixConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if _, err := p.from.ReadByte(); err == nil {
				t.Error("it is answered")
			}
			if err := collector.Close(); err != nil {
				t.Error(err)
			}
			lost := lossesIn(history)
			if want := regexp.MustCompile(`^server/default/web/app "default/web/app" ` + c.want); len(lost) != 1 || !want.MatchString(lost[0]) {
				t.Errorf("lost %q, want one like %s", lost, want)
			}
			if events := history.Events(); len(events) > 1 {
				t.Errorf("%+v was recorded", events)
			}
		})
	}
}

// TestHalfAnEvent: the connections that were open are recorded all the same.
func TestHalfAnEvent(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	c, dir := listen(t, history)
	p := connect(t, dir)
	p.read()
	p.write(`{"draft":true,"kind":"wire.connection","data":{"id":1,"port":80}}` + "\n" + `{"kind":`)
	if err := errors.Join(p.conn.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range history.Events() {
		kinds = append(kinds, e.Kind)
	}
	if diff := cmp.Diff([]string{"wire.connection", "observation.lost"}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// exhausted is a listener of a process that has too many files open for a while.
type exhausted struct {
	net.Listener

	fails int
}

func (e *exhausted) Accept() (net.Conn, error) {
	if e.fails--; e.fails >= 0 {
		return nil, syscall.EMFILE
	}
	conn, _ := net.Pipe()
	return conn, nil
}

// TestTooManyFilesAreOpen: the collector goes on when it can accept connections again, and what came late is a loss.
func TestTooManyFilesAreOpen(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	c := &Collector{config: Config{Recorder: history}, listener: &exhausted{fails: 2}}
	c.ctx, c.cancel = context.WithCancel(t.Context())
	defer c.cancel()
	c.accept() // which is closed: the first connection ends it
	want := []string{
		`server "" over: false: collecting what containers record: too many open files`,
		`server "" over: true: collecting what containers record: too many open files`,
	}
	if diff := cmp.Diff(want, lossesIn(history)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAProgramThatHasComeUp: a program may report twice that it is ready, before or after a caller waits for it.
func TestAProgramThatHasComeUp(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	c, dir := listen(t, history)
	p := connect(t, dir)
	p.read()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.Up(ended, "abc"); !errors.Is(err, context.Canceled) {
		t.Errorf("before it says so, waiting ends with %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p.write(`{"up":true}` + "\n" + `{"up":true}` + "\n")
	for range 2 {
		if err := c.Up(ctx, "abc"); err != nil {
			t.Error(err)
		}
	}
	if err := c.Up(ended, "another"); err == nil {
		t.Error("another program has come up, too")
	}
	if err := errors.Join(p.conn.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if events := history.Events(); len(events) > 0 {
		t.Errorf("%+v was recorded", events)
	}
}

func TestCloseEndsAllConnections(t *testing.T) {
	t.Parallel()
	c, dir := listen(t, record.NewHistory(nil))
	p := connect(t, dir)
	p.read()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.from.ReadByte(); err == nil {
		t.Error("the connection is open")
	}
	if _, err := os.Stat(filepath.Join(dir, container.SocketName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is there: %v", err)
	}
}

// TestAnybodyInTheDirectoryMayConnect, as a container that runs as any user.
func TestAnybodyInTheDirectoryMayConnect(t *testing.T) {
	t.Parallel()
	_, dir := listen(t, record.NewHistory(nil))
	for path, want := range map[string]os.FileMode{dir: 0o755, filepath.Join(dir, container.SocketName): 0o666} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %s, error %v, want %s", path, info.Mode(), err, want)
		}
	}
}

// TestAProcessThatIsNoContainersIsRefused: this one is in no container of the node.
func TestAProcessThatIsNoContainersIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	refused := errors.New("no such container")
	history := record.NewHistory(nil)
	c, err := Listen(Config{Dir: dir, Recorder: history, Path: func(context.Context, string) (string, error) { return "", refused }})
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, dir)
	if _, err := p.from.ReadByte(); err == nil {
		t.Error("it is greeted")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if lost := lossesIn(history); len(lost) != 1 || !strings.HasPrefix(lost[0], `server "" over: false: a process that wants to record: `) {
		t.Errorf("lost %q", lost)
	}
}

func TestContainerID(t *testing.T) {
	t.Parallel()
	for cgroups, want := range map[string]string{
		"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/cri-containerd-abc.scope\n": "abc",
		"12:pids:/kubepods/besteffort/pod1/abc\n11:rdma:/\n1:name=systemd:/kubepods/besteffort/pod1/abc\n0::/\n": "abc",
		"0::/default/app\n": "app",
		"0::/\n":            "",
		"":                  "",
	} {
		if got := containerID(cgroups); got != want {
			t.Errorf("%q: %q, want %q", cgroups, got, want)
		}
	}
}

// TestOpenConnectionsEndWithTheirProcess: it was killed, and can't say so.
func TestOpenConnectionsEndWithTheirProcess(t *testing.T) {
	t.Parallel()
	history := record.NewHistory(nil)
	c, dir := listen(t, history)
	p := connect(t, dir)
	p.read()
	for _, line := range []string{
		`{"draft":true,"kind":"wire.connection","data":{"id":1,"port":80,"opened":"2026-01-01T00:00:02Z"}}`,
		`{"draft":true,"kind":"wire.connection","data":{"id":2,"port":80,"opened":"2026-01-01T00:00:03Z"}}`,
		`{"draft":true,"kind":"wire.connection","data":{"id":1,"port":443,"opened":"2026-01-01T00:00:01Z"}}`,
		`{"draft":true,"kind":"wire.connection","data":{"id":2,"port":80,"opened":"2026-01-01T00:00:03Z","bytesIn":7}}`,
		`{"kind":"wire.connection","data":{"id":1,"port":80,"closeReason":"client-closed"}}`,
	} {
		p.write(line + "\n")
	}
	if err := p.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, c := range record.All[record.Connection](history.Events()) {
		got = append(got, fmt.Sprintln(c.Port, c.ID, c.CloseReason, c.BytesIn, c.Closed.IsZero()))
	}
	if diff := cmp.Diff([]string{"80 1 client-closed 0 true\n", "443 1 shutdown 0 false\n", "80 2 shutdown 7 false\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
