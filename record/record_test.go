package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type started struct {
	Name string `json:"name"`
}

func (started) EventKind() string { return "test.started" }

type stopped struct {
	Code int `json:"code"`
}

func (stopped) EventKind() string { return "test.stopped" }

// endless is a line that does not end, as that of a link to /dev/zero.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	if e.read += len(p); e.read > 2*MaxLine {
		return 0, errors.New("all of it is read")
	}
	return len(p), nil
}

func TestALineHasALimit(t *testing.T) {
	_, err := Read(io.MultiReader(strings.NewReader(`{"seq":1}`+"\n"), new(endless)))
	if err == nil || err.Error() != "line 2: the line is too long: must be at most 64 MiB" {
		t.Errorf("Read = %v", err)
	}
}

func TestARecordOutOfItsReportIsRefused(t *testing.T) {
	outside, dir := filepath.Join(t.TempDir(), "history.jsonl"), t.TempDir()
	err := errors.Join(os.WriteFile(outside, []byte(`{"seq":1}`+"\n"), 0o600), os.Symlink(outside, filepath.Join(dir, "history.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	if events, err := ReadBelow(dir, "history.jsonl"); err == nil {
		t.Errorf("ReadBelow followed a link out of the directory: %v", events)
	}
}

func TestHistoryReadsBackWhatItWrote(t *testing.T) {
	var file bytes.Buffer
	h := NewHistory(&file)
	h.Append("runtime/node-a", "default/web/app", started{Name: "app"})
	h.Append("runtime/node-a", "default/web/app", stopped{Code: 137})
	if err := h.Err(); err != nil {
		t.Fatal(err)
	}

	events, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || events[0].Seq != 1 || events[1].Subject != "default/web/app" {
		t.Fatalf("read back %+v", events)
	}
	var codes []int
	for _, s := range All[stopped](events) {
		codes = append(codes, s.Code)
	}
	if len(codes) != 1 || codes[0] != 137 {
		t.Errorf("stopped payloads: %v, want [137]", codes)
	}
	if _, ok := As[stopped](events[0]); ok {
		t.Error("a started event decoded as stopped")
	}
}

// TestAHistoryLeavesATextOut, in memory and in its file, wherever the text stands.
func TestAHistoryLeavesATextOut(t *testing.T) {
	var file bytes.Buffer
	h := NewHistory(&file)
	h.Without("-skw0001")
	h.Append("runtime/node-a-skw0001", "default-skw0001/web", started{Name: "web-node-a-skw0001 in default-skw0001, not -skw0002"})
	written, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(written, h.Events()...) {
		s, _ := As[started](e)
		if e.Source != "runtime/node-a" || e.Subject != "default/web" || s.Name != "web-node-a in default, not -skw0002" {
			t.Errorf("%+v: %s", e, e.Data)
		}
	}
}

func TestTheFirstLineTellsTheFormat(t *testing.T) {
	var file bytes.Buffer
	h := NewHistory(&file)
	h.Append("test", "", stopped{Code: 1})
	h.Append("test", "", stopped{Code: 2})
	if got := strings.Count(file.String(), `"format"`); got != 1 || !strings.HasPrefix(file.String(), `{"format":1,"seq":1,`) {
		t.Errorf("the format stands there %d times: %s", got, file.String())
	}
	// A history from before there were formats.
	events, err := Read(strings.NewReader(strings.Replace(file.String(), `"format":1,`, "", 1)))
	if diff := cmp.Diff(h.Events(), events); err != nil || diff != "" {
		t.Errorf("format 0: %v\n%s", err, diff)
	}
	_, err = Read(strings.NewReader(strings.Replace(file.String(), `"format":1,`, `"format":2,`, 1)))
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "line 1: unknown format: the history is of format 2") {
		t.Errorf("a newer format: %v", err)
	}
}

func TestReadRefusesAHistoryWithAGap(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"missing line": {
			in:   `{"seq":1,"kind":"a","data":{}}` + "\n" + `{"seq":3,"kind":"a","data":{}}` + "\n",
			want: "line 2: event 3 where 2 was expected",
		},
		"two joined histories": {
			in:   `{"format":1,"seq":1,"kind":"a","data":{}}` + "\n" + `{"format":1,"seq":1,"kind":"a","data":{}}` + "\n",
			want: "line 2: the format stands in the first line only",
		},
		"truncated line": {in: `{"seq":1,"kind":"a"`, want: "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one containing %q", err, tc.want)
			}
		})
	}
}

func TestAHistoryThatEndsWithinALineIsReadUpToThere(t *testing.T) {
	events, err := Read(strings.NewReader(`{"seq":1,"kind":"a","data":{}}` + "\n" + `{"seq":2,"ki`))
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
	if _, err = Read(strings.NewReader(`{"seq":1,"ki` + "\n" + `{"seq":2,"kind":"a","data":{}}` + "\n")); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken line in the middle: %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAFullDiskIsReported(t *testing.T) {
	h := NewHistory(full{})
	h.Append("test", "", started{})
	if err := h.Err(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("Err() = %v, want the write error", err)
	}
}

// flaky fails every second time.
type flaky struct {
	bytes.Buffer
	writes int
}

func (f *flaky) Write(p []byte) (int, error) {
	if f.writes++; f.writes%2 == 0 {
		return 0, errors.New("no space left on device")
	}
	return f.Buffer.Write(p)
}

func TestALostEventLeavesAGap(t *testing.T) {
	var file flaky
	h := NewHistory(&file)
	for code := range 3 {
		h.Append("test", "", stopped{Code: code})
	}
	if _, err := Read(&file.Buffer); err == nil || !strings.Contains(err.Error(), "not complete") {
		t.Errorf("reading a history that lost an event: %v", err)
	}
}

func TestWaitSeesEachAppend(t *testing.T) {
	h := NewHistory(nil)
	go func() {
		for code := range 3 {
			h.Append("test", "", stopped{Code: code})
		}
	}()
	err := h.Wait(t.Context(), func(events []Event) bool { return len(events) == 3 })
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the component died"))
	err = h.Wait(ctx, func([]Event) bool { return false })
	if err == nil || err.Error() != "the component died" {
		t.Errorf("Wait returned %v, want the context's cause", err)
	}
}

func TestNothingComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := NewHistory(&out)
	h.Append("a", "", StepStarted{Number: 1})
	h.End()
	written := out.String()
	h.Append("a", "", StepStarted{Number: 2})
	if n := len(h.Events()); n != 1 || out.String() != written || h.Err() != nil {
		t.Errorf("%d events, error %v, and written:\n%s", n, h.Err(), out.String())
	}
}

// TestRewrite: names in source, subject and payload are the scenario's afterwards.
// TestACopyGoesItsOwnWay: it begins with what there is, and neither history has what the other is given
// later.
func TestACopyGoesItsOwnWay(t *testing.T) {
	var file bytes.Buffer
	h := NewHistory(&file)
	h.Append("engine", "", started{Name: "app"})
	c := h.Copy()
	c.Append("engine", "", stopped{Code: 1})
	h.Append("engine", "", stopped{Code: 2})
	for name, tc := range map[string]struct {
		of   *History
		code int
	}{"copy": {c, 1}, "original": {h, 2}} {
		events := tc.of.Events()
		if len(events) != 2 || events[1].Seq != 2 {
			t.Fatalf("%s: %+v", name, events)
		}
		if got, _ := As[stopped](events[1]); got.Code != tc.code {
			t.Errorf("%s: code %d, want %d", name, got.Code, tc.code)
		}
	}
	if lines := strings.Count(file.String(), "\n"); lines != 2 {
		t.Errorf("%d lines were written, want those of the original", lines)
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	h := NewHistory(nil)
	h.Rewrite(strings.NewReplacer("ip-10", "node-a", "-x1", "").Replace)
	h.Append("runtime/ip-10", "pods/default-x1/web", ObjectObserved{Change: "added", Resource: "pods", Namespace: "default-x1", Name: "web", Object: []byte(`{"spec":{"nodeName":"ip-10"}}`)})
	e := h.Events()[0]
	seen, is := As[ObjectObserved](e)
	if !is || e.Source != "runtime/node-a" || e.Subject != "pods/default/web" || seen.Namespace != "default" || string(seen.Object) != `{"spec":{"nodeName":"node-a"}}` {
		t.Errorf("%+v %s", e, e.Data)
	}
}

// TestAnEventMayHaveHappenedBefore it is appended, but not before the last one.
func TestAnEventMayHaveHappenedBefore(t *testing.T) {
	t.Parallel()
	h := NewHistory(nil)
	first := time.Now().Add(-time.Hour)
	h.AppendAt(first, "server", "a", stopped{})
	h.AppendAt(first.Add(-time.Second), "server", "b", stopped{})
	h.AppendAt(first.Add(time.Second), "server", "c", stopped{})
	h.Append("server", "d", stopped{})
	events := h.Events()
	for i, after := range []time.Duration{0, 0, time.Second} {
		if got := events[i].At.Sub(first); got.Round(time.Millisecond) != after {
			t.Errorf("event %d is %s after the first one, want %s", i+1, got, after)
		}
	}
	if since := time.Since(events[3].At); since > time.Minute {
		t.Errorf("what is appended now was %s ago", since)
	}
}
