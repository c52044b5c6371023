// Package offline skips specs whose components can be neither downloaded nor taken from a cache.
package offline

import (
	"context"
	"errors"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/skewrig/skewrig/app"
	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/build/gotool"
	"github.com/skewrig/skewrig/scenarios/plan"
)

// SkipWithout builds what cells need. It skips the spec if a module of that can't be downloaded since no
// module proxy can be reached, and fails it if there is another reason.
func SkipWithout(ctx context.Context, builder *build.Builder, cells []plan.Cell) {
	ginkgo.GinkgoHelper()
	_, err := app.Build(ctx, builder, app.Targets(cells), cells)
	failures, _ := errors.AsType[build.Errors](err)
	reached := func(failure *build.TargetError) bool { return !errors.Is(failure, gotool.ErrUnreachable) }
	if len(failures) > 0 && !slices.ContainsFunc(failures, reached) {
		ginkgo.Skip(err.Error())
	}
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
}
