package reports

import (
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Repository is where the program is from.
const Repository = "github.com/skewrig/skewrig"

// commit is one as git names it.
var commit = regexp.MustCompile(`^[0-9a-f]{12,40}$`)

// changed says of a version that it is not all that was built.
const changed = "+dirty"

// Revision is what to get in order to have a version of the program: a tag, or a commit. It
// is empty if the version says neither.
func Revision(version string) string {
	version = strings.TrimSuffix(version, changed)
	switch {
	case commit.MatchString(version):
		return version
	case !semver.IsValid(version):
		return ""
	case module.IsPseudoVersion(version):
		revision, _ := module.PseudoVersionRev(version)
		return revision
	}
	return strings.TrimSuffix(version, semver.Build(version))
}

// Install is the command that gets the program as it made the report: "latest" if the report
// does not say which that is.
func (r Reproduce) Install() string {
	revision := Revision(r.Skewrig)
	if revision == "" {
		revision = "latest"
	}
	return "go install " + Repository + "/cmd/skewrig@" + revision
}

// InstallNote says that Install does not get what made the report, if it does not.
func (r Reproduce) InstallNote() string {
	switch {
	case Revision(r.Skewrig) == "":
		return "This report was made by a build without a commit: the exact tool can't be named. The command gets the latest release."
	case strings.HasSuffix(r.Skewrig, changed):
		return "This report was made by a build from a changed checkout: the exact tool can't be named. The command gets what was changed."
	}
	return ""
}
