package script

import (
	"fmt"

	"github.com/skewrig/skewrig/harness/strict"
)

// Script is a script that could be read.
type Script struct {
	document *strict.Document
	file     file
}

// Parse reads the text of a script. The file's name is for messages only. What can't
// be read is reported at once, as *strict.Errors.
func Parse(name string, text []byte) (*Script, error) {
	s := &Script{}
	s.document = strict.ReadDocument(name, text, &s.file)
	s.document.Constant("apiVersion", s.file.APIVersion, APIVersion)
	s.document.Constant("kind", s.file.Kind, Kind)
	for i, step := range s.file.Steps {
		if n := step.actions(); n != 1 && s.document.Clean(stepPath(i)) {
			s.document.Note(stepPath(i), "a step has one action, and this one has %d: ready, add, change, remove, churn, disturb, restart or wait", n)
		}
	}
	if len(s.file.Steps) == 0 && s.document.Clean("steps") {
		s.document.Note("steps", "there are no steps")
	}
	if err := s.document.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

func stepPath(i int) string { return fmt.Sprintf("steps[%d]", i) }
