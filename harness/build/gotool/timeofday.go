package gotool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

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

	machineNowSignature = "func machineNow() (sec int64, nsec int32, mono int64)"
	machineNowAssembly  = "TEXT ·machineNow<ABIInternal>(SB)"

	// readerName is what page.Reader is called in package runtime.
	readerName = "skewrig_clock.go"
)

// RuntimePackage is Go's package runtime for one platform, as `go list`
// describes it.
type RuntimePackage struct {
	Dir     string
	GoFiles []string
	SFiles  []string
}

// WithPage returns the files of the package that have to be others for the
// time of day to be a page's, by their path.
func (p RuntimePackage) WithPage() (map[string][]byte, error) {
	name, text, err := p.only(p.GoFiles, timeOfDayLink)
	if err != nil {
		return nil, err
	}
	renamed, inAssembly, err := renameInGo(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	replaced := map[string][]byte{filepath.Join(p.Dir, readerName): page.Reader, filepath.Join(p.Dir, name): renamed}
	if !inAssembly {
		return replaced, nil
	}
	if name, text, err = p.only(p.SFiles, timeOfDayAssembly); err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(timeOfDayAssembly)); n != 1 {
		return nil, fmt.Errorf("%s: expected %q once, found it %d times", name, timeOfDayAssembly, n)
	}
	replaced[filepath.Join(p.Dir, name)] = bytes.Replace(text, []byte(timeOfDayAssembly), []byte(machineNowAssembly), 1)
	return replaced, nil
}

// only returns the one file that has a text.
func (p RuntimePackage) only(files []string, has string) (name string, text []byte, err error) {
	found := 0
	for _, f := range files {
		read, err := os.ReadFile(filepath.Join(p.Dir, f))
		if err != nil {
			return "", nil, err
		}
		if bytes.Contains(read, []byte(has)) {
			name, text = f, read
			found++
		}
	}
	if found != 1 {
		return "", nil, fmt.Errorf("expected one file of package runtime with %q, found %d", has, found)
	}
	return name, text, nil
}

// timeOfDay finds the function in a Go file: all of its first line but a brace.
var timeOfDay = regexp.MustCompile(`(?m)^func time_now\(.*?( \{)?$`)

// renameInGo renames the function in a Go file and drops the line that makes it
// time.now for others. It also tells whether the function is written in
// assembly.
func renameInGo(text []byte) (renamed []byte, inAssembly bool, err error) {
	declared := timeOfDay.Find(text)
	if declared == nil {
		return nil, false, fmt.Errorf("it links %s, but has no function of that name", timeOfDayName)
	}
	signature, inGo := bytes.CutSuffix(declared, []byte(" {"))
	if string(signature) != timeOfDaySignature {
		return nil, false, fmt.Errorf("expected %q, found %q", timeOfDaySignature, signature)
	}
	renamed = bytes.Replace(text, []byte(timeOfDayLink+"\n"), nil, 1)
	renamed = bytes.Replace(renamed, signature, []byte(machineNowSignature), 1)
	return renamed, !inGo, nil
}
