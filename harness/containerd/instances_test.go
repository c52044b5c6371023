package containerd

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestANodeWaitsForInstances that others leave, and says what to do if they don't.
func TestANodeWaitsForInstances(t *testing.T) {
	t.Parallel()
	left, asked := nodeInstances-1, 0
	open := func() (int, error) {
		if asked++; asked > nodeInstances {
			left = nodeInstances // others have ended
		}
		if left == 0 {
			return 0, unix.EMFILE
		}
		left--
		return unix.Open(os.DevNull, unix.O_CLOEXEC, 0)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := awaitInstances(ctx, open); err != nil || asked != 2*nodeInstances {
		t.Errorf("after %d attempts: %v", asked, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	err := awaitInstances(ended, func() (int, error) { return 0, unix.EMFILE })
	if err == nil || !strings.Contains(err.Error(), "raise fs.inotify.max_user_instances") {
		t.Errorf("with none left: %v", err)
	}
}
