package reports

import (
	"errors"
	"fmt"
	"io"

	kjson "sigs.k8s.io/json"
)

// maxReport bounds what Read takes into memory, in bytes. Ten thousand
// cells of eight checks each take about an eighth of that.
const maxReport = 256 << 20

// Read reads a report written as JSON. It is strict: an unknown field, a field
// given twice or in another case, a value that is not an outcome, and whatever
// Validate finds are errors, all of them at once where that is possible. The
// summary is counted anew: earlier versions counted the reference with releases.
func Read(in io.Reader) (Report, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return Report{}, fmt.Errorf("reading a report: %w", err)
	}
	if len(data) > maxReport {
		return Report{}, fmt.Errorf("reading a report: it is larger than %d bytes", maxReport)
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
