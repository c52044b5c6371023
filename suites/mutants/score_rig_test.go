package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/scenarios/engine"
)

// rig is where one engine runs the component with its mutants.
type rig struct {
	*score

	dir string
}

func (s *score) newRig() (rig, error) {
	dir, err := os.MkdirTemp("", "skewrig-mutants-")
	if err != nil {
		return rig{}, err
	}
	r := rig{s, dir}
	script := fmt.Sprintf("#!/bin/sh\nSKEWRIG_MUTANT=%s SKEWRIG_MUTANTS_SEEN=%s exec %s \"$@\"\n", r.page(), r.seen(), s.binary.Path)
	r.become(0)
	return r, os.WriteFile(r.wrapper(), []byte(script), 0o700) //nolint:gosec // it is to be run
}

func (r rig) page() string    { return filepath.Join(r.dir, "mutant") }
func (r rig) seen() string    { return filepath.Join(r.dir, "seen") }
func (r rig) wrapper() string { return filepath.Join(r.dir, "component") }

// become makes the component another mutant, at once if it runs. The file is
// never shorter: the component has it in memory.
func (r rig) become(id int) {
	defer GinkgoRecover()
	GinkgoHelper()
	f, err := os.OpenFile(r.page(), os.O_CREATE|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	_, err = f.WriteAt(fmt.Appendf(nil, "%-8d", id), 0)
	Expect(err).NotTo(HaveOccurred())
}

func (r rig) engine(progress func(engine.Progress)) *engine.Engine {
	return &engine.Engine{Dir: filepath.Join(r.dir, "report"), FailFast: true, Progress: progress, Binary: r.find}
}

// find returns the component with the mutants, and others as they are.
func (r rig) find(ctx context.Context, t build.Target) (build.Binary, error) {
	if t.Component == r.component && t.Version == r.version && len(t.Overlay) == 0 && !t.Clock {
		changed := r.binary
		changed.Path = r.wrapper()
		return changed, nil
	}
	return r.builder.Binary(ctx, t)
}
