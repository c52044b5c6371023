package reports

import (
	"errors"
	"fmt"
	"io"

	kjson "sigs.k8s.io/json"

	"github.com/skewrig/skewrig/harness/files"
)

// Read reads a report written as JSON. It is strict: an unknown field, a field
// given twice or in another case, a value that is not an outcome, and whatever
// Validate finds are errors, all of them at once where that is possible. The
// summary is counted anew: earlier versions counted the reference with releases.
func Read(in io.Reader) (Report, error) {
	data, err := io.ReadAll(io.LimitReader(in, files.MaxReport+1))
	if err != nil {
		return Report{}, fmt.Errorf("reading a report: %w", err)
	}
	if len(data) > files.MaxReport {
		return Report{}, fmt.Errorf("reading a report: it is too large: must be at most %d MiB", files.MaxReport>>20)
	}
	var r Report
	problems, err := kjson.UnmarshalStrict(data, &r)
	if err != nil {
		return Report{}, fmt.Errorf("decoding a report: %w", err)
	}
	if err := errors.Join(append(problems, Validate(r))...); err != nil {
		return Report{}, fmt.Errorf("decoding a report: %w", err)
	}
	r.Summary = Summarize(r.Cells)
	return r, nil
}
