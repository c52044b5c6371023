package record

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSettingsOnTopOfOthers: flags by name, and of a configuration what a second patch does after
// the first. What a patch takes away is as if a rig had not set it.
func TestSettingsOnTopOfOthers(t *testing.T) {
	t.Parallel()
	object := func(text string) (o map[string]any) {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	const rig = `{"a": 1, "b": {"c": 2, "d": 3}, "e": [1, 2]}`
	for _, tc := range []struct{ first, then, want string }{
		{`{}`, `{}`, rig},
		{`{"a": null}`, `{}`, `{"b": {"c": 2, "d": 3}, "e": [1, 2]}`},
		{`{"a": null}`, `{"a": 7}`, `{"a": 7, "b": {"c": 2, "d": 3}, "e": [1, 2]}`},
		{`{"a": 7}`, `{"a": null}`, `{"b": {"c": 2, "d": 3}, "e": [1, 2]}`},
		{`{"b": {"c": null}}`, `{"b": {"d": 4, "f": {}}, "e": []}`, `{"a": 1, "b": {"d": 4, "f": {}}, "e": []}`},
		{`{"b": {"c": 5}}`, `{"b": null, "g": {"h": {"i": null, "j": 1}}}`, `{"a": 1, "e": [1, 2], "g": {"h": {"j": 1}}}`},
	} {
		settings := Settings{Config: object(tc.first), Flags: map[string]string{"v": "4", "x": "1"}}.
			With(Settings{Config: object(tc.then), Flags: map[string]string{"v": "6"}})
		if diff := cmp.Diff(object(tc.want), Merge(object(rig), settings.Config)); diff != "" {
			t.Errorf("%s, then %s (-want +got):\n%s", tc.first, tc.then, diff)
		}
		if diff := cmp.Diff(map[string]string{"v": "6", "x": "1"}, settings.Flags); diff != "" {
			t.Errorf("flags (-want +got):\n%s", diff)
		}
	}
}
