package container

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skewrig/skewrig/record"
)

// separator begins the mark of a line that is one of the record.
const separator = "\x1e"

// Line is a line of the record in the output of a container. Several may be one message: runtimes
// keep lines whole that are short.
type Line struct {
	// Number counts the lines from 1. One that is missing was lost.
	Number int
	// At is when it was written, by the clock of the node.
	At time.Time
	// Sender is 0 for the main process, and otherwise counts the commands that ran beside it.
	Sender int
	// More says that the message goes on in the next line of the sender.
	More bool
	// Text is the message, a Message as JSON, or a part of it.
	Text string
}

// maxText is how long the text of a line is, so that it is written at once (PIPE_BUF), and that a runtime does
// not break it.
const maxText = 3 << 10

// encode is the line as it stands in the output.
func (l Line) encode(mark string) string {
	more := "."
	if l.More {
		more = "+"
	}
	return fmt.Sprintf("%s%s %d %d %d %s%s\n", separator, mark, l.Number, l.At.UnixNano(), l.Sender, more, l.Text)
}

// ParseLine reads a line of a container's output. It is no line of the record if is is false. What
// the program itself wrote may stand before it.
func ParseLine(text, mark string) (l Line, is bool, _ error) {
	_, own, is := strings.Cut(text, separator+mark+" ")
	if !is {
		return l, false, nil
	}
	own = strings.TrimRight(own, "\r\n")
	parts := strings.SplitN(own, " ", 4)
	if len(parts) != 4 || parts[3] == "" {
		return l, true, fmt.Errorf("%.200q is no line of a record", own)
	}
	var numbers [3]int64
	for i := range numbers {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return l, true, fmt.Errorf("%.200q is no line of a record: %w", own, err)
		}
		numbers[i] = n
	}
	return Line{
		Number: int(numbers[0]), At: time.Unix(0, numbers[1]), Sender: int(numbers[2]), More: parts[3][0] == '+', Text: parts[3][1:],
	}, true, nil
}

// output writes a record into the output of a container. It is safe for concurrent use.
type output struct {
	mark string
	up   chan struct{} // is closed when the program has come up

	mu      sync.Mutex
	to      io.Writer
	lines   int
	senders int
}

var _ record.Drafter = (*output)(nil)

// Beat is how often a main process says that it is there: what has happened before is in its output
// then.
const Beat = 250 * time.Millisecond

// begin says which run of the container it is, and from then on that it goes on.
func (o *output) begin(run string) {
	o.tell(0, Message{Run: run})
	go func() {
		for range time.Tick(Beat) {
			o.tell(0, Message{})
		}
	}()
}

// Append implements record.Recorder. Source and subject are for the reader to say.
func (o *output) Append(_, _ string, payload record.Payload) { o.tell(0, message(payload, false)) }

// Draft implements record.Drafter.
func (o *output) Draft(open record.Connection) { o.tell(0, message(open, true)) }

// tell writes the message of a sender.
func (o *output) tell(sender int, m Message) {
	text, err := json.Marshal(m)
	if err != nil {
		text = []byte("?") // the reader says that something is missing
	}
	o.write(sender, string(text))
}

func (o *output) write(sender int, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for more := true; more; {
		part := text
		if more = len(text) > maxText; more {
			part = text[:maxText]
		}
		text = text[len(part):]
		o.lines++
		// What can't be written is missing, and the numbers tell.
		_, _ = io.WriteString(o.to, Line{o.lines, time.Now(), sender, more, part}.encode(o.mark))
	}
}

// join is the number of a new sender.
func (o *output) join() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.senders++
	return o.senders
}
