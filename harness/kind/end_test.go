package kind

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestUnitExits: a journal says how the processes of a unit have ended, and much else.
func TestUnitExits(t *testing.T) {
	t.Parallel()
	journal := `{"MESSAGE":"` + strings.Repeat("a", 100<<10) + `","MESSAGE_ID":"39f53479d3a045ac8e11786248231fbf","__REALTIME_TIMESTAMP":"500000"}
{"MESSAGE":"Started kubelet.service.","MESSAGE_ID":"39f53479d3a045ac8e11786248231fbf","__REALTIME_TIMESTAMP":"1000000"}
{"MESSAGE":"Main process exited","MESSAGE_ID":"98e322203f7a4ed290d09fe03c09fe15","EXIT_CODE":"exited","EXIT_STATUS":"1","__REALTIME_TIMESTAMP":"2000000"}
{"MESSAGE":"Main process exited","MESSAGE_ID":"98e322203f7a4ed290d09fe03c09fe15","EXIT_CODE":"killed","EXIT_STATUS":"9","__REALTIME_TIMESTAMP":"3000000"}
`
	var got []End
	if err := readUnitExits(strings.NewReader(journal), func(e End) { got = append(got, e) }); err != nil {
		t.Error(err)
	}
	want := []End{{Code: 1, At: time.Unix(2, 0)}, {Code: -1, Signal: "SIGKILL", At: time.Unix(3, 0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAnEntryThatCannotBeRead is an error: what it says, and what comes after it, is unknown.
func TestAnEntryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const exit = `{"MESSAGE_ID":"98e322203f7a4ed290d09fe03c09fe15","EXIT_CODE":"exited",`
	for entry, want := range map[string]string{
		`{"MESSAGE":"` + strings.Repeat("a", maxEntry):                   bufio.ErrTooLong.Error(),
		exit + `"EXIT_STATUS":"1","__REALTIME_TIMESTAMP":"soon"}`:        `parsing "soon": invalid syntax`,
		exit + `"EXIT_STATUS":"1"}`:                                      `parsing "": invalid syntax`,
		exit + `"EXIT_STATUS":"badly","__REALTIME_TIMESTAMP":"1000000"}`: `parsing "badly": invalid syntax`,
		exit + `"EXIT_STATUS":[49,50],"__REALTIME_TIMESTAMP":"1000000"}`: "cannot unmarshal array",
		"no JSON": "invalid character",
	} {
		err := readUnitExits(strings.NewReader(entry), func(e End) { t.Errorf("%.100s: %+v", entry, e) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %s", entry, err, want)
		}
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]End{
		"exited with 0": ofContainer(0, time.Unix(1, 0)), "exited with 2": ofContainer(2, time.Unix(1, 0)),
		"exited with 255": ofContainer(255, time.Unix(1, 0)), "exited with 128": ofContainer(128, time.Unix(1, 0)),
		"ended by SIGKILL": ofContainer(137, time.Unix(1, 0)), "ended by SIGTERM": ofUnit("killed", 15, time.Unix(1, 0)), "ended": {},
	} {
		if end.String() != want {
			t.Errorf("%+v: %s, want %s", end, end, want)
		}
	}
}

// TestTheEndOfAUnit: how it has ended is not known before it has.
func TestTheEndOfAUnit(t *testing.T) {
	t.Parallel()
	at := time.Unix(1, 0)
	for text, want := range map[string]End{
		"1\n0": {At: at}, "1\n255": {Code: 255, At: at}, "2\n9": {Code: -1, Signal: "SIGKILL", At: at}, "3\n6": {Code: -1, Signal: "SIGABRT", At: at},
		"0\n0": {}, "": {},
	} {
		if end, err := ofMain(text, at); end != want || (err == nil) != (want != End{}) {
			t.Errorf("%q: %+v, %v, want %+v", text, end, err, want)
		}
	}
}

// TestAbsences: an end counts as asked for by when it was, and not by when it is heard of.
func TestAbsences(t *testing.T) {
	t.Parallel()
	var a absences
	before := time.Now()
	a.begin("kubelet/a")
	within := time.Now()
	if !a.cover("kubelet/a", within) || a.cover("kubelet/a", before.Add(-time.Second)) || a.cover("kubelet/b", within) {
		t.Error("while it is away")
	}
	a.end("kubelet/a")
	after := time.Now().Add(time.Second)
	if !a.cover("kubelet/a", within) || a.cover("kubelet/a", after) {
		t.Error("when it is back")
	}
	a.begin("kubelet/a")
	if !a.cover("kubelet/a", after) {
		t.Error("when it is away again")
	}
}
