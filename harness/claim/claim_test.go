package claim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// contender makes this test binary claim the directory that it names.
const contender = "SKEWRIG_TEST_CONTENDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(contender); dir != "" {
		contend(dir)
	}
	os.Exit(m.Run())
}

// contend claims a directory when it reads a line, prints whether it has it, and holds
// it until its input ends.
func contend(dir string) {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	_, _ = in.ReadString('\n')
	taken := new(TakenError)
	c, err := Take(dir, Me("contend"))
	switch {
	case err == nil:
		fmt.Println("has it")
	case errors.As(err, &taken):
		fmt.Println("taken by", taken.Owner.PID)
	default:
		fmt.Println(err)
	}
	_, _ = io.Copy(io.Discard, in)
	if c != nil {
		_ = c.Release()
	}
	os.Exit(0)
}

// process is a process that contends for a directory.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func contends(t *testing.T, dir string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), self)}
	p.Env = append(os.Environ(), contender+"="+dir)
	in, inErr := p.StdinPipe()
	out, outErr := p.StdoutPipe()
	if err := errors.Join(inErr, outErr, p.Start()); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	p.says(t) // that it is ready
	return p
}

// says is the next line that a process prints.
func (p *process) says(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (p *process) begin() { fmt.Fprintln(p.in) }

// TestOneOfTwoProcessesGetsIt: of two processes that begin at the same moment, one has
// the directory, and the other gets an error with the pid of the first. The claim ends
// with its process.
func TestOneOfTwoProcessesGetsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 10 { // in each but the first one, a killed process has left its file
		both := []*process{contends(t, dir), contends(t, dir)}
		for _, p := range both {
			p.begin()
		}
		first, second := both[0], both[1]
		said, other := first.says(t), second.says(t)
		if said != "has it" {
			first, second, said, other = second, first, other, said
		}
		if want := fmt.Sprint("taken by ", first.Process.Pid); said != "has it" || other != want {
			t.Fatalf("round %d: one said %q, the other %q, want %q", round, said, other, want)
		}
		if o, held, err := Look(dir); err != nil || !held || o.PID != first.Process.Pid || o.Command != "contend" {
			t.Errorf("round %d: %+v, %t, %v", round, o, held, err)
		}
		for _, p := range []*process{second, first} {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait() // it was killed
		}
		if o, held, err := Look(dir); err != nil || held || o.PID != first.Process.Pid {
			t.Errorf("round %d, killed: %+v, %t, %v", round, o, held, err)
		}
	}
}

// TestWhoGivesItBackLeavesNothing: the next one has it at once.
func TestWhoGivesItBackLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 5 {
		p := contends(t, dir)
		p.begin()
		if said := p.says(t); said != "has it" {
			t.Fatal(said)
		}
		if err := errors.Join(p.in.Close(), p.Wait()); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("left is %v, %v", left, err)
		}
	}
}

func TestTakenSaysByWhom(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 23, 10, 9, 12, 0, time.Local)
	here := Me("").Host
	for want, o := range map[string]Owner{
		"report is in use by another process":                                          {},
		"report is in use by pid 7 since 2026-11-23 10:09:12: skewrig run":             {7, here, "skewrig run", since},
		"report is in use by pid 7 on far since 2026-11-23 10:09:12: skewrig run":      {7, "far", "skewrig run", since},
		`report is in use by pid 7 since 2026-11-23 10:09:12: "skewrig run \x1b[2J\n"`: {7, here, "skewrig run \x1b[2J\n", since},
	} {
		if got := (&TakenError{Dir: "report", Owner: o}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestAClaimThatCanNotBeMade: what is in the way is said, and left alone.
func TestAClaimThatCanNotBeMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(dir, File)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, filepath.Join(dir, "nowhere")} {
		if _, err := Take(dir, Me("")); err == nil || !strings.Contains(err.Error(), "claiming "+dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestAReleaseLeavesTheLockOfAnother: the directory was removed, and another process has
// made and claimed it again.
func TestAReleaseLeavesTheLockOfAnother(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	claims := make([]*Claim, 2)
	for i := range claims {
		err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
		if err == nil {
			claims[i], err = Take(dir, Me(fmt.Sprint(i)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := claims[0].Release(); err != nil {
		t.Error(err)
	}
	if o, held, err := Look(dir); err != nil || !held || o.Command != "1" {
		t.Errorf("the other has it: %+v, %t, %v", o, held, err)
	}
	if err := claims[1].Release(); err != nil {
		t.Error(err)
	}
}

// TestALookIsNoClaim: a lock that others only look at is free in a moment, also if the
// process that its file names lives.
func TestALookIsNoClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	looker, err := os.Create(path)
	if err == nil {
		err = errors.Join(write(looker, Me("before")), lock(looker, unix.LOCK_SH))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, has, err := try(path, Me("now")); !errors.Is(err, errUnsettled) {
		t.Errorf("while another looks: %+v, %v", has, err)
	}
	if err := looker.Close(); err != nil {
		t.Fatal(err)
	}
	// Not at once: a child that another test starts has the looker's file until it runs.
	c, err := Take(dir, Me("now"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}

// TestManyTakeAndGiveBack: never do two have the directory, also when one takes the lock
// of a file that the other has just removed.
func TestManyTakeAndGiveBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), File)
	var have, had atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				c, _, err := try(path, Me(""))
				if err != nil {
					continue // another has it
				}
				if had.Add(1); have.Add(1) > 1 {
					t.Error("two have it")
				}
				have.Add(-1)
				if err := c.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if all.Wait(); had.Load() == 0 {
		t.Error("no goroutine ever had it")
	}
}
