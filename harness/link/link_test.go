package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/skewrig/skewrig/harness/await"
	"github.com/skewrig/skewrig/record"
)

// patience bounds every wait for what is sure to come.
const patience = 30 * time.Second

// rig is a link between a client and a server that both are ours.
type rig struct {
	*Link
	t        *testing.T
	listener net.Listener
	history  *record.History
}

func newRig(t *testing.T) *rig {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	history := record.NewHistory(nil)
	l, err := New(Config{Name: "client->server", Listen: "127.0.0.1:0", Targets: []string{listener.Addr().String()}, Recorder: history})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{Link: l, t: t, listener: listener, history: history}
}

func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.Address())
	if err != nil {
		r.t.Fatal(err)
	}
	return r.bounded(c)
}

func (r *rig) bounded(c net.Conn) net.Conn {
	r.t.Helper()
	r.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// refused returns what a client learns that connects: at once, or as it listens.
func (r *rig) refused() error {
	c, err := net.Dial("tcp", r.Address())
	if err != nil {
		return err
	}
	defer c.Close()
	return heard(c)
}

func heard(c net.Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

// pair returns both ends of a connection through the link.
func (r *rig) pair() (client, server net.Conn) {
	r.t.Helper()
	client = r.dial()
	return client, r.served()
}

func (r *rig) served() net.Conn {
	r.t.Helper()
	c, err := r.listener.Accept()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.bounded(c)
}

func (r *rig) set(f record.LinkFault) {
	r.t.Helper()
	if err := r.Set(f); err != nil {
		r.t.Fatal(err)
	}
}

// await returns when the link's fault has had an effect.
func (r *rig) await(is func(record.Effect) bool) {
	r.t.Helper()
	if !await.Until(r.t.Context(), patience, func() bool { return is(r.phase.Load().effect()) }) {
		r.t.Fatalf("the effect is %+v", r.phase.Load().effect())
	}
}

func say(t *testing.T, to io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, from io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
		t.Fatalf("heard %q, want %q: %v", got, want, err)
	}
}

func TestALinkPassesEverything(t *testing.T) {
	t.Parallel()
	client, server := newRig(t).pair()
	much := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = client.Write(much)
		_ = client.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(server)
	if err != nil || !bytes.Equal(got, much) {
		t.Fatalf("%d bytes of %d arrived: %v", len(got), len(much), err)
	}
	// The other direction is still open.
	say(t, server, "well received")
	_ = server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "well received" {
		t.Fatalf("heard %q: %v", got, err)
	}
}

func TestAReset(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	r.set(record.LinkFault{Cut: record.CutReset})
	for name, err := range map[string]error{"client": heard(client), "server": heard(server), "new client": r.refused()} {
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.await(func(e record.Effect) bool { return e.Reset == 2 })
	r.set(record.LinkFault{})
	client, server = r.pair()
	say(t, client, "healed")
	hear(t, server, "healed")
}

func TestADropIsNoLossForWhoIsPatient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	r.set(record.LinkFault{Cut: record.CutDrop})
	say(t, client, "ping")
	say(t, server, "pong")
	late := r.dial()
	say(t, late, "hello")
	r.await(func(e record.Effect) bool { return e.Withheld == int64(len("ping"+"pong"+"hello")) && e.Held == 2 })
	r.set(record.LinkFault{})
	hear(t, server, "ping")
	hear(t, client, "pong")
	hear(t, r.served(), "hello")

	want := []record.Payload{record.FaultBegan{Fault: record.LinkFault{Cut: record.CutDrop}}, record.FaultEnded{Fault: record.LinkFault{Cut: record.CutDrop}, Effect: record.Effect{Held: 2, Withheld: 13}}}
	for i, e := range r.history.Events() {
		if e.Kind != want[i].EventKind() || e.Subject != "client->server" {
			t.Errorf("event %d is %s of %s", i, e.Kind, e.Subject)
		}
		if ended, ok := record.As[record.FaultEnded](e); ok && ended != want[i] {
			t.Errorf("%+v, want %+v", ended, want[i])
		}
	}
}

// TestAFaultWithoutARequest has no effect: that there is a connection is none.
func TestAFaultWithoutARequest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	say(t, client, "before")
	hear(t, server, "before")
	r.set(record.LinkFault{Cut: record.CutDrop})
	r.set(record.LinkFault{})
	say(t, client, "after")
	hear(t, server, "after")
	for _, e := range r.history.Events() {
		if ended, ok := record.As[record.FaultEnded](e); ok && ended.Effect.Any() {
			t.Errorf("it had an effect: %+v", ended)
		}
	}
}

// TestTheEndIsWithheldToo: who has sent all is not known to have while the link is
// cut.
func TestTheEndIsWithheldToo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	r.set(record.LinkFault{Cut: record.CutDrop, Direction: record.Forward})
	_ = client.(*net.TCPConn).CloseWrite()
	r.await(func(e record.Effect) bool { return e == record.Effect{Held: 1} })
	say(t, server, "still here")
	hear(t, client, "still here")
	r.set(record.LinkFault{})
	if err := heard(server); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestWhatIsUnderwayDoesNotHoldUpWhatComesAfterTheFault.
func TestWhatIsUnderwayDoesNotHoldUpWhatComesAfterTheFault(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	r.set(record.LinkFault{Delay: time.Hour})
	say(t, client, "late")
	r.await(func(e record.Effect) bool { return e.Slowed == 4 })
	r.set(record.LinkFault{})
	say(t, client, "later")
	hear(t, server, "latelater")
}

func TestWhoGivesUpIsNotConnectedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(record.LinkFault{Cut: record.CutDrop})
	hasty := r.dial()
	r.await(func(e record.Effect) bool { return e.Held == 1 })
	_ = hasty.(*net.TCPConn).SetLinger(0)
	_ = hasty.Close()
	patient := r.dial()
	say(t, patient, "still here")
	r.await(func(e record.Effect) bool { return e.Withheld > 0 })
	r.set(record.LinkFault{})
	hear(t, r.served(), "still here")
}

func TestAHalfOpenConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, server := r.pair()
	r.set(record.LinkFault{Cut: record.CutDrop, Direction: record.Forward})
	say(t, client, "lost")
	say(t, server, "heard")
	hear(t, client, "heard")
	r.await(func(e record.Effect) bool { return e == record.Effect{Held: 1, Withheld: 4} })
}

func TestACutAfterSomeBytes(t *testing.T) {
	t.Parallel()
	for _, cut := range []record.Cut{record.CutReset, record.CutDrop} {
		t.Run(string(cut), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			client, server := r.pair()
			r.set(record.LinkFault{Cut: cut, AfterBytes: 4})
			say(t, client, "12345")
			hear(t, server, "1234")
			if cut == record.CutDrop {
				r.await(func(e record.Effect) bool { return e.Withheld == 1 })
				r.set(record.LinkFault{})
				hear(t, server, "5")
				return
			}
			if err := heard(server); !errors.Is(err, syscall.ECONNRESET) {
				t.Error(err)
			}
		})
	}
}

func TestASlowLink(t *testing.T) {
	t.Parallel()
	const while = 50 * time.Millisecond
	for name, f := range map[string]record.LinkFault{
		"delay":      {Delay: while / 2},
		"one way":    {Delay: while, Direction: record.Backward},
		"jitter":     {Delay: while / 2, Jitter: time.Millisecond},
		"throughput": {BytesPerSecond: int64(len("marco") * int(time.Second/while) * 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			client, server := r.pair()
			r.set(f)
			start := time.Now()
			say(t, client, "marco")
			hear(t, server, "marco")
			say(t, server, "polo!")
			hear(t, client, "polo!")
			if took := time.Since(start); took < while {
				t.Errorf("there and back in %s, want %s at least", took, while)
			}
			if !r.phase.Load().effect().Any() {
				t.Error("no effect")
			}
		})
	}
}

// TestASlowLinkKeepsTheOrder also when what is sent later is faster.
func TestASlowLinkKeepsTheOrder(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	pace := newPace(record.LinkFault{Delay: time.Second, BytesPerSecond: 1000}, nil)
	first, second := pace.next(now, 500), pace.next(now.Add(time.Millisecond), 500)
	if first != now.Add(1500*time.Millisecond) || second != now.Add(2*time.Second) {
		t.Errorf("they arrive at %s and %s", first, second)
	}
}

func TestFaultsThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for _, f := range []record.LinkFault{
		{Cut: "sever"},
		{Direction: "upward"},
		{Cut: record.CutReset, Direction: record.Forward},
		{AfterBytes: 5},
		{Cut: record.CutDrop, AfterBytes: -1},
		{Delay: -time.Second},
		{Cut: record.CutDrop, Delay: time.Second},
		{Path: record.AnyPath},
		{Path: "version", Status: 429},
		{Path: record.AnyPath, Status: 429, Cut: record.CutDrop},
		{Path: record.AnyPath, Status: 200},
		{Path: record.AnyPath, Delay: time.Second, Jitter: time.Second},
		{Path: record.AnyPath, Delay: time.Second, RetryAfter: time.Second},
		{Path: record.AnyPath, Status: 429, RetryAfter: time.Millisecond},
		{Status: 429},
		{Method: record.AnyMethod},
		{Method: "StartContainer", Cut: record.CutDrop},
		{Method: "StartContainer", Delay: time.Second, Jitter: time.Second},
		{Method: "StartContainer", Code: "OK"},
		{Method: "StartContainer", Delay: time.Second, Message: "late"},
		{Code: "Internal"},
	} {
		if f.Validate() == nil {
			t.Errorf("%+v is valid", f)
		}
	}
	r := newRig(t)
	for _, f := range []record.LinkFault{{Cut: "sever"}, {Method: record.AnyMethod, Code: "Internal"}} {
		if r.Set(f) == nil {
			t.Errorf("%s was set all the same", f)
		}
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_ = r.listener.Close()
	if err := r.refused(); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

func TestFaultsInWords(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]record.LinkFault{
		"pass":                  {},
		"drop forward":          {Cut: record.CutDrop, Direction: record.Forward},
		"reset after 10 bytes":  {Cut: record.CutReset, AfterBytes: 10},
		"delay 20ms jitter 5ms": {Delay: 20 * time.Millisecond, Jitter: 5 * time.Millisecond},
		"10 bytes per second":   {BytesPerSecond: 10},

		`answer Internal "no disk" to RunPodSandbox`: {Method: "RunPodSandbox", Code: "Internal", Message: "no disk"},
		"delay 1s to all calls":                      {Method: record.AnyMethod, Delay: time.Second},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// BenchmarkThroughput is how much a link passes on.
func BenchmarkThroughput(b *testing.B) {
	listener, l := benchLink(b)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	data := make([]byte, 1<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := c.Write(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRoundTrip is how long a byte takes there and back, with and without a
// link: the difference is what two ways through it add.
func BenchmarkRoundTrip(b *testing.B) {
	for _, through := range []string{"nothing", "link"} {
		b.Run(through, func(b *testing.B) {
			listener, l := benchLink(b)
			go func() {
				c, err := listener.Accept()
				if err == nil {
					_, _ = io.Copy(c, c)
				}
			}()
			address := l.Address()
			if through == "nothing" {
				address = listener.Addr().String()
			}
			c, err := net.Dial("tcp", address)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			one := []byte{1}
			for b.Loop() {
				if _, err := c.Write(one); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, one); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchLink(b *testing.B) (net.Listener, *Link) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	l, err := New(Config{Name: "bench", Listen: "127.0.0.1:0", Targets: []string{listener.Addr().String()}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = l.Close(), listener.Close() })
	return listener, l
}

// TestConnectionsGoToServersInTurn: also past one that can't be reached, and elsewhere once the
// link leads there, which ends what leads to others.
func TestConnectionsGoToServersInTurn(t *testing.T) {
	t.Parallel()
	var listeners []net.Listener
	var addresses []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners, addresses = append(listeners, l), append(addresses, l.Addr().String())
	}
	l, err := New(Config{Name: "client->servers", Listen: "127.0.0.1:0", Targets: addresses})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &rig{Link: l, t: t}
	connect := func(to int) (client net.Conn) {
		t.Helper()
		client, r.listener = r.dial(), listeners[to]
		r.served()
		return client
	}
	first := connect(0)
	second := connect(1)
	if err := listeners[2].Close(); err != nil {
		t.Fatal(err)
	}
	connect(0) // since the third is away
	l.Route(addresses[1])
	if err := heard(first); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection to another server ends with %v", err)
	}
	connect(1)
	if err := second.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := heard(second); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection to the server ends with %v", err)
	}
}
