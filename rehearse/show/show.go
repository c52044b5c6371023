// Package show writes the report of a rehearsal for people and programs: a terminal, a comment on a pull request, a page,
// JSON, JUnit and SARIF. The writers are pure. Names and messages come from manifests and components: each writer escapes
// them for its format.
package show

import (
	"io"

	"github.com/skewrig/skewrig/rehearse"
	"github.com/skewrig/skewrig/rehearse/manifest"
	"github.com/skewrig/skewrig/reports"
	"github.com/skewrig/skewrig/reports/render"
)

// Files of a report directory that others name.
const (
	JSONFile = "rehearsal.json"
	PageFile = "index.html"
)

// File is a file of a report directory.
type File struct {
	Name string
	// Write writes it. The version is that of skewrig.
	Write func(w io.Writer, r rehearse.Report, version string) error
}

// Files are the files of a report directory.
var Files = []File{
	{JSONFile, unversioned(JSON)}, {PageFile, unversioned(Page)}, {"comment.md", unversioned(Markdown)}, {"junit.xml", unversioned(JUnit)},
	{"rehearsal.sarif", SARIF},
}

func unversioned(write func(io.Writer, rehearse.Report) error) func(io.Writer, rehearse.Report, string) error {
	return func(w io.Writer, r rehearse.Report, _ string) error { return write(w, r) }
}

// JSON writes a report so that it is valid by its schema: lists without items are empty lists.
func JSON(w io.Writer, r rehearse.Report) error {
	r.APIVersion, r.Kind = reports.APIVersion, rehearse.Kind
	r.Problems = append([]manifest.Problem{}, r.Problems...)
	r.Stages = append([]rehearse.StageResult{}, r.Stages...)
	r.Objects = append([]rehearse.Object{}, r.Objects...)
	r.Findings, r.Known = withObjects(r.Findings), withObjects(r.Known)
	r.Notices = append([]rehearse.Notice{}, r.Notices...)
	r.Mocked = append([]string{}, r.Mocked...)
	r.Inert = append([]rehearse.Inert{}, r.Inert...)
	for i := range r.Inert {
		r.Inert[i].Objects = append([]rehearse.Ref{}, r.Inert[i].Objects...)
	}
	return render.JSON(w, r)
}

func withObjects(findings []rehearse.Finding) []rehearse.Finding {
	all := append([]rehearse.Finding{}, findings...)
	for i := range all {
		all[i].Objects = append([]rehearse.Affected{}, all[i].Objects...)
	}
	return all
}
