package record

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

type started struct {
	Name string `json:"name"`
}

func (started) EventKind() string { return "test.started" }

type stopped struct {
	Code int `json:"code"`
}

func (stopped) EventKind() string { return "test.stopped" }

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

func TestReadRefusesAHistoryWithAGap(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"missing line": {
			in:   `{"seq":1,"kind":"a","data":{}}` + "\n" + `{"seq":3,"kind":"a","data":{}}` + "\n",
			want: "line 2: event 3 where 2 was expected",
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
