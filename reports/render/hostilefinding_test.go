package render_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/finding"
	"github.com/skewrig/skewrig/reports/render"
)

// TestFindingsControlNoTerminal prints findings each of whose texts could, as a report from
// elsewhere can have them.
func TestFindingsControlNoTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "https://github.com/\x1b[2J\x7f\u202ekubernetes#L7"
	for _, class := range []reports.Class{reports.Defect, reports.Outrun, reports.Contradiction, hostile} {
		var f finding.Finding
		fill(reflect.ValueOf(&f).Elem(), hostile)
		f.Class = class
		for name, write := range map[string]func(*bytes.Buffer) error{
			"issue":    func(b *bytes.Buffer) error { return render.Issue(b, reports.Report{}, f) },
			"issues":   func(b *bytes.Buffer) error { return render.Issues(b, reports.Report{}, []finding.Finding{f}, nil) },
			"findings": func(b *bytes.Buffer) error { return render.Findings(b, reports.Report{}, []finding.Finding{f}) },
		} {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.String(), `\x7f`) {
				t.Errorf("%s of a %s has none of the texts:\n%s", name, class, &got)
			}
			for line := range strings.Lines(got.String()) {
				if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%s of a %s has %q", name, class, line)
				}
			}
		}
	}
}

// fill sets each text of a value, and one element of each of its lists.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text)
			}
		}
	default:
	}
}
