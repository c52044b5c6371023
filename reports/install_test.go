package reports_test

import (
	"testing"

	"github.com/skewrig/skewrig/reports"
)

func TestWhatToInstall(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for version, want := range map[string]string{
		"v0.6.0": "v0.6.0", "v0.6.0+dirty": "v0.6.0", "v0.6.1-rc.1": "v0.6.1-rc.1", "(devel)": "", "unknown": "", "": "",
		"v0.6.1-0.20261122081309-0123456789ab": "0123456789ab", "v0.6.1-0.20261122081309-0123456789ab+dirty": "0123456789ab",
		commit: commit, commit + "+dirty": commit,
	} {
		if got := reports.Revision(version); got != want {
			t.Errorf("of version %q it is %q, want %q", version, got, want)
		}
	}
	if got, want := (reports.Reproduce{Skewrig: "(devel)"}).Install(), "go install github.com/skewrig/skewrig/cmd/skewrig@latest"; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}
