package build

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/skewrig/skewrig/harness/clock/page"
)

// Go's package runtime has one function behind time.Now, time_now, which
// returns the time of day and the monotonic time together. On linux/amd64 it
// is declared in Go and written in assembly, elsewhere it is written in Go.
// Here it gets another name, and page.Reader, which calls it by that name,
// takes its place.
const (
	timeOfDayName      = "time_now"
	timeOfDaySignature = "func time_now() (sec int64, nsec int32, mono int64)"
	timeOfDayLink      = "//go:linkname time_now time.now"
	timeOfDayAssembly  = "TEXT time·now<ABIInternal>(SB)"

	machineNowName     = "machineNow"
	machineNowAssembly = "TEXT ·machineNow<ABIInternal>(SB)"

	// readerName is what page.Reader is called in package runtime.
	readerName = "skewrig_clock.go"
)

// runtimePackage is Go's package runtime for one platform, as `go list`
// describes it.
type runtimePackage struct {
	Dir     string
	GoFiles []string
	SFiles  []string
}

// withPage returns the files of the package that have to be others for the
// time of day to be a page's, by their path.
func (p runtimePackage) withPage() (map[string][]byte, error) {
	replaced := map[string][]byte{filepath.Join(p.Dir, readerName): page.Reader}
	renamed, inAssembly, err := p.rename(p.GoFiles, renameInGo)
	if err != nil {
		return nil, err
	}
	if len(renamed) != 1 {
		return nil, fmt.Errorf("expected one file of package runtime with %q, found %d", timeOfDayLink, len(renamed))
	}
	maps.Copy(replaced, renamed)
	if !inAssembly {
		return replaced, nil
	}
	if renamed, _, err = p.rename(p.SFiles, renameInAssembly); err != nil {
		return nil, err
	}
	if len(renamed) != 1 {
		return nil, fmt.Errorf("expected one file of package runtime with %q, found %d", timeOfDayAssembly, len(renamed))
	}
	maps.Copy(replaced, renamed)
	return replaced, nil
}

// renaming gives the time of day its other name in a file. The text is nil if
// the file doesn't have it.
type renaming func(name string, text []byte) (renamed []byte, inAssembly bool, err error)

func (p runtimePackage) rename(files []string, in renaming) (all map[string][]byte, inAssembly bool, err error) {
	all = make(map[string][]byte)
	for _, name := range files {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, false, err
		}
		renamed, elsewhere, err := in(name, text)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", name, err)
		}
		if renamed != nil {
			all[path], inAssembly = renamed, elsewhere
		}
	}
	return all, inAssembly, nil
}

// renameInGo renames the function in a Go file and drops the line that makes it
// time.now for others. It also tells whether the function is written in
// assembly.
func renameInGo(name string, text []byte) (renamed []byte, inAssembly bool, err error) {
	if !bytes.Contains(text, []byte("\n"+timeOfDayLink+"\n")) {
		return nil, false, nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(file.Decls, isTimeOfDay)
	if i < 0 {
		return nil, false, fmt.Errorf("it links %s, but has no function of that name", timeOfDayName)
	}
	function := file.Decls[i].(*ast.FuncDecl)
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	if got := string(text[offset(function.Pos()):offset(function.Type.End())]); got != timeOfDaySignature {
		return nil, false, fmt.Errorf("expected %q, found %q", timeOfDaySignature, got)
	}
	at := offset(function.Name.Pos())
	renamed = slices.Concat(text[:at], []byte(machineNowName), text[at+len(timeOfDayName):])
	renamed = bytes.Replace(renamed, []byte("\n"+timeOfDayLink+"\n"), []byte("\n"), 1)
	return renamed, function.Body == nil, nil
}

func isTimeOfDay(d ast.Decl) bool {
	function, ok := d.(*ast.FuncDecl)
	return ok && function.Recv == nil && function.Name.Name == timeOfDayName
}

// renameInAssembly renames the function in a file of assembly.
func renameInAssembly(_ string, text []byte) (renamed []byte, inAssembly bool, err error) {
	switch n := bytes.Count(text, []byte(timeOfDayAssembly)); n {
	case 0:
		return nil, false, nil
	case 1:
		return bytes.Replace(text, []byte(timeOfDayAssembly), []byte(machineNowAssembly), 1), true, nil
	default:
		return nil, false, fmt.Errorf("expected %q once, found it %d times", timeOfDayAssembly, n)
	}
}
