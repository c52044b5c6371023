package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skewrig/skewrig/harness/build"
	"github.com/skewrig/skewrig/harness/release"
	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/sweep/engine"
	"github.com/skewrig/skewrig/sweep/trial"
)

// Sweep is what a sweep is of. Of its Config, Binary, History and LogDir are set by Run.
type Sweep struct {
	engine.Config

	// Dir is the directory for what it leaves, which is made. That of an earlier sweep is replaced.
	Dir string
	// Parallel is how many scenarios run at the same time that look for findings again.
	Parallel int
}

// Swept is what a sweep came to.
type Swept struct {
	Version release.Version  `json:"version"`
	Reached []engine.Reached `json:"reached"`
	// Items is how many objects were made.
	Items int `json:"items"`
	// Findings are those that a scenario with the gates of the field alone showed again. NotConfirmed
	// are others: they take more than that, or a machine that was too slow.
	Findings     []trial.Finding `json:"findings"`
	NotConfirmed []trial.Finding `json:"notConfirmed,omitempty"`
}

// Run runs it, looks for what it found again, and writes what it came to.
func (s Sweep) Run(ctx context.Context, builder *build.Builder) (Swept, error) {
	if err := clearSweep(s.Dir); err != nil {
		return Swept{}, err
	}
	file, err := os.Create(filepath.Join(s.Dir, sweptHistory))
	if err != nil {
		return Swept{}, Failed(err)
	}
	s.Binary, s.History, s.LogDir = builder.Binary, record.NewHistory(file), filepath.Join(s.Dir, sweptLogs)
	saw, err := engine.Run(ctx, s.Config)
	if err := errors.Join(err, file.Close()); err != nil {
		return Swept{}, Failed(err)
	}
	swept := Swept{Version: s.Release.Version, Reached: saw.Reached, Items: len(saw.Seen.Items), Findings: trial.Judge(saw.Seen)}
	if s.Tell != nil {
		s.Tell(fmt.Sprintf("findings: %d, each looked for again with its gates alone", len(swept.Findings)))
	}
	if err := swept.write(s.Dir); err != nil { // also if what follows fails
		return swept, Failed(err)
	}
	return swept, Failed(errors.Join(s.confirm(ctx, builder, &swept), swept.write(s.Dir)))
}
