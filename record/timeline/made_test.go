package timeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/record"
)

// TestMade: what a request made is its step's, also if it is seen while the next one is
// taken; what is only shown again, or read, is not.
func TestMade(t *testing.T) {
	t.Parallel()
	const key = "pods/default/web"
	step := func(at float64, number int) record.Event {
		return after(at, "engine", "", record.StepStarted{Number: number})
	}
	object := func(version string) map[string]any {
		return map[string]any{"metadata": map[string]any{"resourceVersion": version}}
	}
	answer := func(at float64, name, version string) record.Event {
		return after(at, "engine", name, record.APIAnswer{Object: key, Code: 200, Response: object(version)})
	}
	show := func(at float64, version string) record.Event {
		return after(at, "watch", key, observed("modified", key, `{"metadata": {"resourceVersion": "`+version+`"}}`))
	}
	line := Of([]record.Event{
		show(0, "1"),
		step(1, 1), answer(1, "patch", "2"),
		step(2, 2), show(2, "2"), show(2, "3"),
		step(3, 3), show(3, "2"), answer(3, "read", "4"),
		step(4, 4), show(4, "5"), answer(4, "read", "5"),
		step(5, 5), answer(5, "read", "5"),
	})
	var got []int
	for _, v := range line.States(key) {
		number := 0
		if s := line.Made(v); s != nil {
			number = s.Number
		}
		got = append(got, number)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
