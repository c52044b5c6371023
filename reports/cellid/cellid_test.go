package cellid

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"kep-4939/skew/tls-only/apiserver:1.37/kubelet:1.34/gate:on,off": "",
		"kep-4939/skew/a.b_c+d=e@f~g":                                    "",
		"a":                                                              "",
		strings.Repeat("a", 255) + "/b":                                  "",
		"":                                                               "it is empty",
		"/a":                                                             "empty segment",
		"a/":                                                             "empty segment",
		"a//b":                                                           "empty segment",
		"a/../b":                                                         `begins with '.'`,
		".a":                                                             `begins with '.'`,
		"-run":                                                           `begins with '-'`,
		"a/-b":                                                           `begins with '-'`,
		"a b":                                                            `' ' is not allowed`,
		"a\x00":                                                          `'\x00' is not allowed`,
		"a\\b":                                                           `'\\' is not allowed`,
		"ä":                                                              `'ä' is not allowed`,
		"a\xff":                                                          `is not allowed`,
		"a?":                                                             `'?' is not allowed`,
		"a/*":                                                            "* belongs into a pattern",
		strings.Repeat("a", 256):                                         "longer than 255",
		strings.Repeat("a/", 1024) + "a":                                 "longer than 2048",
	} {
		err := Check(id)
		if want == "" && err != nil {
			t.Errorf("Check(%q): %v, want none", id, err)
		}
		if want != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want)) {
			t.Errorf("Check(%q): %v, want one containing %q", id, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"a/b/c/d:1/e:2": {"a/b", "c/d:1/e:2"},
		"a/b/c":         {"a/b", "c"},
		"a/b":           {"a", "b"},
		"a":             {"", "a"},
	} {
		if suite, name := Split(id); suite != want[0] || name != want[1] {
			t.Errorf("Split(%q) = %q, %q, want %q", id, suite, name, want)
		}
	}
}

func TestAxes(t *testing.T) {
	t.Parallel()
	got := Axes("a/b/c/apiserver:v1.90.1/gates:A=on,B:off/d")
	if len(got) != 2 || got["apiserver"] != "v1.90.1" || got["gates"] != "A=on,B:off" {
		t.Errorf("axes %v", got)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		matches []string
		others  []string
	}{
		{"a/b/c", []string{"a/b/c"}, []string{"a/b", "a/b/c/d", "a/b/cc", "x/a/b/c", "A/b/c"}},
		{"a/*/c", []string{"a/b/c", "a/bb/c"}, []string{"a/c", "a/b/b/c", "a//x"}},
		{"a/b*", []string{"a/b", "a/bc"}, []string{"a/b/c", "a/cb"}},
		{"a/*b", []string{"a/b", "a/cb", "a/bb"}, []string{"a/bc", "a/c/b"}},
		{"a/*:1.3*,off/c", []string{"a/gate:1.37,off/c", "a/:1.3,off/c"}, []string{"a/gate:1.4,off/c", "a/gate:1.37,on/c"}},
		{"*a*a*", []string{"aa", "xaxax"}, []string{"a", "xax", "a/a"}},
		{"a.c", []string{"a.c"}, []string{"abc"}},
		{"*", []string{"a"}, []string{"a/b"}},
		{"**", []string{"a", "a/b", "a/b/c"}, nil},
		{"**/c", []string{"c", "a/c", "a/b/c"}, []string{"a/b", "a/b/cc"}},
		{"a/**", []string{"a", "a/b", "a/b/c"}, []string{"b", "aa/b"}},
		{"a/**/d", []string{"a/d", "a/b/d", "a/b/c/d", "a/d/d"}, []string{"a", "a/d/e", "x/a/d"}},
		{"**/k:1.36/**", []string{"k:1.36", "a/b/c/k:1.36/g:on", "a/k:1.36"}, []string{"a/k:1.36x/b", "a/k:1.37"}},
		{"a/**/b/**/c", []string{"a/b/c", "a/x/b/y/c", "a/b/x/b/c"}, []string{"a/c/b", "a/x/c"}},
		{"a/**/*", []string{"a/b", "a/b/c"}, []string{"a"}},
		{"**/**", []string{"a", "a/b"}, nil},
	} {
		p, err := Compile(tc.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.String() != tc.pattern {
			t.Errorf("String() = %q, want %q", p, tc.pattern)
		}
		for _, id := range tc.matches {
			if !p.Match(id) {
				t.Errorf("%q does not match %q", tc.pattern, id)
			}
		}
		for _, id := range tc.others {
			if p.Match(id) {
				t.Errorf("%q matches %q", tc.pattern, id)
			}
		}
	}
}

func TestZeroPatternMatchesNothing(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "a", "a/b"} {
		if (Pattern{}).Match(id) {
			t.Errorf("the zero pattern matches %q", id)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"":      "empty",
		"a//b":  "empty segment",
		"/**":   "empty segment",
		"a?":    `'?' is not allowed`,
		"a[bc]": `'[' is not allowed`,
		"!a":    `'!' is not allowed`,
		"a**":   "whole segment",
		"a/**b": "whole segment",
		"***":   "whole segment",
	} {
		if _, err := Compile(pattern); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%q): %v, want one containing %q", pattern, err, want)
		}
	}
}

// TestHostilePatternIsNotSlow matches what takes a backtracking matcher longer
// than the age of the universe.
func TestHostilePatternIsNotSlow(t *testing.T) {
	t.Parallel()
	pattern := strings.Repeat("**/"+strings.Repeat("*a", 10)+"*b/", 60) + "c"
	id := strings.Repeat(strings.Repeat("a", 250)+"/", 400) + "d"
	p, err := Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if p.Match(id) {
		t.Error("it matches")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("matching took %s", took)
	}
}

// expression translates a pattern into a regular expression, as an oracle that
// shares nothing with the matcher. Runs of ** are taken as one first.
func expression(pattern string) *regexp.Regexp {
	var kept []string
	for segment := range strings.SplitSeq(pattern, "/") {
		if segment != "**" || len(kept) == 0 || kept[len(kept)-1] != "**" {
			kept = append(kept, segment)
		}
	}
	// Each segment is matched with a slash before it.
	var b strings.Builder
	b.WriteString(`\A`)
	for _, segment := range kept {
		if segment == "**" {
			b.WriteString(`(?:/[^/]+)*`)
			continue
		}
		b.WriteString("/" + strings.ReplaceAll(regexp.QuoteMeta(segment), `\*`, `[^/]*`))
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"a/**/d", "a/b/c/d"}, {"*a*a*", "xaxax"}, {"**", "a"}, {"**/k:1.36/**", "a/b/k:1.36"}, {"a/*", "a/b/c"}, {"a/**/*", "a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, id string) {
		p, err := Compile(pattern)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v does not wrap ErrInvalid", err)
			}
			return
		}
		if Check(id) != nil {
			return
		}
		if got, want := p.Match(id), expression(pattern).MatchString("/"+id); got != want {
			t.Errorf("%q matches %q: %t, want %t", pattern, id, got, want)
		}
		if Check(pattern) == nil && !p.Match(pattern) {
			t.Errorf("the id %q does not match itself", pattern)
		}
	})
}

// TestHowToWriteAPattern: a malformed one is refused with the form that works.
func TestHowToWriteAPattern(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{"**:v1.37.1": `"**/*:v1.37.1"`, "a/b**": `"a/b*/**"`, "a**b": `"a*/**/*b"`, "a/**x/c": `"a/**/*x/c"`} {
		_, err := Compile(pattern)
		if err == nil || !strings.HasSuffix(err.Error(), "write "+want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}
