package container

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

func TestAVariableNamesThePlay(t *testing.T) {
	t.Parallel()
	plays := Plays{File: File{Reference: agnhostImage}, Mark: "m", Container: "app", Args: []string{"$(POD_IP)", "$$"}}
	value, err := plays.Value()
	if err != nil || strings.Contains(value, "$") {
		t.Fatalf("%s: %v", value, err)
	}
	got, err := ParsePlays(value)
	if diff := cmp.Diff(plays, got); err != nil || diff != "" {
		t.Errorf("%v -want +got:\n%s", err, diff)
	}
	if _, err := ParsePlays("x"); err == nil || !strings.HasPrefix(err.Error(), "reading "+Variable+": ") {
		t.Errorf("the error is %v", err)
	}
}

// variable returns the environment variable of a container, with a mark that only one test has.
func variable(t *testing.T, mark string) string {
	t.Helper()
	value, err := Plays{File: File{Reference: agnhostImage}, Mark: mark, Container: "app"}.Value()
	if err != nil {
		t.Fatal(err)
	}
	return Variable + "=" + value
}

// TestTheOutputHasTheRecord: of the main process, and of a command beside it, which waits for it.
func TestTheOutputHasTheRecord(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("test-%d", os.Getpid())
	c := newContainer(t, File{})
	play := func(first bool, args ...string) (*process, error) { return c.play(first, variable(t, mark), args...) }

	beside, err := play(false, "sh", "-c", "echo beside; exit 3") // it comes first, and waits
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 2*maxText)
	main, err := play(true, Program, "sh", "-c", "echo 'before'; env; trap 'exit 7' TERM; sleep 60 & wait")
	if err != nil {
		t.Fatal(err)
	}
	if code := beside.code(); code != 3 || beside.out.String() != "beside\n" {
		t.Errorf("beside it: exit code %d, %q", code, beside.out.String())
	}
	if hold, err := play(false, Hold...); err != nil || hold.code() != 0 || hold.out.Len() > 0 {
		t.Errorf("until it is up: %v, exit code %d, %q", err, hold.code(), hold.out.String())
	}
	if said, err := play(false, "echo", long); err != nil || said.code() != 0 {
		t.Errorf("a long one: %v, exit code %d", err, said.code())
	}
	if err := main.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := main.code(); code != 7 {
		t.Errorf("exit code %d: %s", code, main.out.String())
	}
	messages, own := parsed(t, mark, main.out.String())
	if strings.Contains(own, Variable) || !strings.HasPrefix(own, "before\n") {
		t.Errorf("it writes itself %q", own)
	}
	if first := messages[0]; first.Run == "" {
		t.Errorf("the first message is %+v", first)
	}
	var said []string
	for _, m := range messages {
		switch {
		case m.Draft:
		case m.Kind != "":
			e, _ := record.Decode(record.Event{Kind: m.Kind, Data: m.Data}).(record.Exec)
			said = append(said, fmt.Sprintf("%s %.7q %d %.8q", m.Kind, e.Args, e.ExitCode, e.Output))
		case m.Signal != "":
			said = append(said, m.Signal)
		case m.Ended:
			said = append(said, "ended")
		}
	}
	want := []string{`exec ["sh" "-c" "echo be"] 3 "beside\n"`, "ended", `exec ["echo" "xxxxxxx"] 0 "xxxxxxxx"`, "ended", "SIGTERM", "ended"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// parsed are the messages in an output, and what is beside them.
func parsed(t *testing.T, mark, output string) (messages []Message, own string) {
	t.Helper()
	parts := make(map[int]string)
	lines := 0
	for from := bufio.NewReader(strings.NewReader(output)); ; {
		text, err := from.ReadString('\n')
		if err != nil {
			return messages, own
		}
		line, is, err := ParseLine(text, mark)
		if err != nil {
			t.Fatal(err)
		}
		if !is {
			own += text
			continue
		}
		if lines++; line.Number != lines || time.Since(line.At) > time.Hour || len(line.Text) > maxText {
			t.Errorf("line %d is %+v", lines, line)
		}
		if parts[line.Sender] += line.Text; line.More {
			continue
		}
		var m Message
		if err := json.Unmarshal([]byte(parts[line.Sender]), &m); err != nil {
			t.Fatal(err)
		}
		messages, parts[line.Sender] = append(messages, m), ""
	}
}
