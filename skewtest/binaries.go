package skewtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// MissingEnv is the environment variable that says what to do about components that
// were not built yet: "build", which takes minutes for each of them, once, "skip" the
// test, or "fail" it. If unset, build.
const MissingEnv = "SKEWTEST_MISSING"

// NewestEnv and PreviousEnv are the environment variables that name the releases which tests and scenarios call newest and
// previous, such as vX.Y.0-beta.0. If unset, they are the newest known release, and the newest known one of the minor version
// before.
const (
	NewestEnv   = "SKEWTEST_NEWEST"
	PreviousEnv = "SKEWTEST_PREVIOUS"
)

// What MissingEnv can be.
const (
	buildMissing = "build"
	skipMissing  = "skip"
	failMissing  = "fail"
)

// ErrMissing is wrapped by the error for components that were not built, and are not to
// be built now.
var ErrMissing = errors.New("not built yet")

// builder finds the executables of components, and builds those that are missing as far
// as MissingEnv wants.
type builder struct {
	*build.Builder
	logf func(string, ...any)
}

// newBuilder is a builder with the ready-made binaries of KUBEBUILDER_ASSETS, if there
// are any.
func newBuilder(ctx context.Context, logf func(string, ...any)) (builder, error) {
	b, err := app.Binaries{Assets: os.Getenv("KUBEBUILDER_ASSETS"), Newest: os.Getenv(NewestEnv), Previous: os.Getenv(PreviousEnv)}.Builder(ctx)
	if err != nil {
		err = errors.New(strings.NewReplacer("--newest", NewestEnv, "--previous", PreviousEnv).Replace(err.Error()))
	}
	return builder{b, logf}, err
}

// provide sees to it that there is what cells need.
func (b builder) provide(ctx context.Context, targets []build.Target, cells []plan.Cell) error {
	missing, err := b.Missing(ctx, targets)
	if err != nil || len(missing) == 0 {
		return err
	}
	command := "go run " + program(version()) + " build " + strings.Join(names(missing), " ")
	what := strings.Join(names(missing), ", ")
	switch policy := cmp.Or(os.Getenv(MissingEnv), buildMissing); policy {
	case buildMissing:
	case skipMissing, failMissing:
		return fmt.Errorf("%w: %s; run `%s` once, or set %s=%s", ErrMissing, what, command, MissingEnv, buildMissing)
	default:
		return fmt.Errorf("%s is %q; it can be %s, %s or %s", MissingEnv, policy, buildMissing, skipMissing, failMissing)
	}
	b.logf("skewtest: building %s; this takes minutes, once (`%s` does the same)", what, command)
	if _, err = app.Build(ctx, b.Builder, missing, cells); err != nil && errors.Is(context.Cause(ctx), errDeadline) {
		return fmt.Errorf("%w while components were built: run `%s` before the test, or give it more time (-timeout)", errDeadline, command)
	}
	return err
}

// program is the command as go run takes it: of the release of this package, which needs
// nothing of the module of the test, and otherwise as this checkout has it.
func program(version string) string {
	const path = module + "/cmd/skewrig"
	if semver.IsValid(version) {
		return path + "@" + version
	}
	return path
}

// names are targets as the command line has them.
func names(targets []build.Target) (all []string) {
	for _, t := range targets {
		if name := string(t.Component) + "@" + string(t.Version); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

var errDeadline = errors.New("the deadline of the test came")

// beforeDeadline is how long before the deadline of a test, at which Go ends the whole
// program, what takes long is given up.
const beforeDeadline = 15 * time.Second

// bounded is the context of a test, which ends before Go would end the program.
func bounded(t testing.TB) (context.Context, context.CancelFunc) {
	limited, has := t.(interface{ Deadline() (time.Time, bool) })
	if !has {
		return context.WithCancel(t.Context())
	}
	deadline, is := limited.Deadline()
	if !is {
		return context.WithCancel(t.Context())
	}
	return context.WithDeadlineCause(t.Context(), deadline.Add(-beforeDeadline), errDeadline)
}

// giveUp fails a test with an error, or skips it if components are missing and that is
// what MissingEnv asks for.
func giveUp(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrMissing) && os.Getenv(MissingEnv) == skipMissing {
		t.Skipf("skewtest: %v", err)
	}
	t.Fatalf("skewtest: %v", err)
}
