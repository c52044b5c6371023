package page_test

import (
	"os/exec"
	"testing"
)

// lastActing asks the timeline, outside of a browser, for the step that led to step 5.
const lastActing = `
globalThis.matchMedia = () => ({matches: false, addEventListener() {}});
globalThis.addEventListener = () => {};
globalThis.document = {documentElement: {}, getElementById: () => null, querySelector: () => null, querySelectorAll: () => [], addEventListener() {}, createElement: () => ({getContext: () => ({})})};
const {acted} = await import(process.argv[1]);
const steps = [{number: 1, action: 'create Pod web'}, {number: 2, action: 'restart kubelet', acts: true}, {number: 3, action: 'scrape /metrics'}, {number: 4, action: 'read the log'}, {number: 5}];
console.log(acted(steps, 5).number);
`

// TestTheTimelineAsksWhichStepsAct: the narration says it, and no script reads what a step does.
func TestTheTimelineAsksWhichStepsAct(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	out, err := exec.CommandContext(t.Context(), node, "--no-warnings", "--input-type=module", "-e", lastActing, "./assets/timeline.js").CombinedOutput()
	if err != nil || string(out) != "2\n" {
		t.Errorf("%v, %s, want step 2", err, out)
	}
}
