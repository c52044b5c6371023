package gotool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skewrig/skewrig/harness/clock/page"
)

// The sources of a runtime that has only what is looked for.
const (
	declared = "package runtime\n\n//go:linkname time_now time.now\nfunc time_now() (sec int64, nsec int32, mono int64)\n"
	written  = "package runtime\n\n//go:linkname time_now time.now\nfunc time_now() (sec int64, nsec int32, mono int64) {\n\tsec, nsec = walltime()\n\treturn sec, nsec, nanotime()\n}\n"
	assembly = "#include \"go_asm.h\"\n\nTEXT time·now<ABIInternal>(SB),NOSPLIT,$16-24\n\tRET\n"
)

// runtimeOf is a package runtime of these files.
func runtimeOf(t *testing.T, files map[string]string) RuntimePackage {
	t.Helper()
	p := RuntimePackage{Dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".s") {
			p.SFiles = append(p.SFiles, name)
		} else {
			p.GoFiles = append(p.GoFiles, name)
		}
	}
	return p
}

func TestTheTimeOfDayGetsAnotherName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ files, want map[string]string }{
		"in assembly": {
			map[string]string{"now.go": declared, "now.s": assembly, "proc.go": "package runtime\n", "sys.s": "TEXT ·exit(SB),NOSPLIT,$0\n"},
			map[string]string{
				"now.go": "package runtime\n\nfunc machineNow() (sec int64, nsec int32, mono int64)\n",
				"now.s":  "#include \"go_asm.h\"\n\nTEXT ·machineNow<ABIInternal>(SB),NOSPLIT,$16-24\n\tRET\n",
			},
		},
		"in Go": {
			map[string]string{"now.go": written, "unrelated.s": assembly},
			map[string]string{"now.go": "package runtime\n\nfunc machineNow() (sec int64, nsec int32, mono int64) {\n\tsec, nsec = walltime()\n\treturn sec, nsec, nanotime()\n}\n"},
		},
	} {
		p := runtimeOf(t, tc.files)
		files, err := p.WithPage()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := make(map[string]string)
		for path, text := range files {
			got[strings.TrimPrefix(path, p.Dir+"/")] = string(text)
		}
		tc.want[readerName] = string(page.Reader)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnotherRuntimeIsRefused: what is not as expected is named, and nothing is
// guessed.
func TestAnotherRuntimeIsRefused(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		`expected one file of package runtime with "//go:linkname time_now time.now", found 0`:                       {"proc.go": "package runtime\n"},
		`expected one file of package runtime with "//go:linkname time_now time.now", found 2`:                       {"a.go": written, "b.go": written},
		`expected one file of package runtime with "TEXT time·now<ABIInternal>(SB)", found 0`:                        {"now.go": declared, "now.s": "TEXT time·now(SB),NOSPLIT,$16-24\n"},
		`now.s: expected "TEXT time·now<ABIInternal>(SB)" once, found it 2 times`:                                    {"now.go": declared, "now.s": assembly + assembly},
		`now.go: it links time_now, but has no function of that name`:                                                {"now.go": strings.ReplaceAll(written, "func time_now", "func (c clock) time_now")},
		`now.go: expected "func time_now() (sec int64, nsec int32, mono int64)", found "func time_now() (ns int64)"`: {"now.go": strings.Replace(declared, "(sec int64, nsec int32, mono int64)", "(ns int64)", 1)},
		`now.go: it links time_now, but has no function`:                                                             {"now.go": strings.Replace(declared, "time_now()", "time now()", 1)},
	} {
		files, err := runtimeOf(t, files).WithPage()
		if err == nil || !strings.Contains(err.Error(), want) || files != nil {
			t.Errorf("files %v and the error %v, want %s", files, err, want)
		}
	}
}
