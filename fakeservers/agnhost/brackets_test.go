package agnhost_test

import (
	"strings"
	"testing"
)

// TestBrackets: the wanted answers are those of bash.
func TestBrackets(t *testing.T) {
	t.Parallel()
	const yes, no, wrong = 0, 1, 2
	for expression, want := range map[string]int{
		`a == a`: yes, `a = b`: no, `a != b`: yes, `a < b`: yes, `a > b`: no,
		`-n ""`: no, `-n a`: yes, `-z ""`: yes, `-z $none`: yes, `$words`: yes, `$none`: no,
		`abc == a*`: yes, `abc == "a*"`: no, `abc == a\*`: no, `abc == $star`: yes, `abc == "$star"`: no,
		`abc != *d`: yes, `abc == @(abc|d)`: yes, `$words == a\ b`: yes, `$words == a*b`: yes,
		`2 -lt 10`: yes, `$n -eq 7`: yes, `$n -ge 8`: no, `-1 -ne 1`: yes, `$((n + 1)) -gt 7`: yes,
		`abc =~ b`: yes, `abc =~ ^b`: no, `v1.36 =~ ^v([0-9]+)\.([0-9]+)$ && ${BASH_REMATCH[2]} -eq 36`: yes,
		`v1x36 =~ ^v1\.36$`: no, `abc =~ $regex`: yes, `abc =~ [[:alpha:]]{3}`: yes, `a =~ $open`: wrong,
		`-e /tmp/file`: yes, `-a /tmp/file`: yes, `-f /tmp/file`: yes, `-d /tmp/file`: no, `-d /tmp`: yes, `-s /tmp/file`: yes,
		`-s /tmp/empty`: no, `-r /tmp/file`: yes, `-w /tmp/file`: yes, `-x /tmp/file`: no, `-x /tmp`: yes, `-L /tmp/file`: no,
		`-e file`: yes, `-e none`: no, `-e ../tmp/file`: yes, `-e $file`: yes,
		`! -e none`: yes, `-e none || -e file`: yes, `-e none && -e file`: no, `( a == b || a == a ) && ! b == a`: yes,
		`-v n`: yes, `-v none`: no, `-o errexit`: no,
	} {
		c := run(t, spec{})
		c.exec("sh", "-c", "cd /tmp; echo content >file; touch empty")
		script := `cd /tmp; n=7 words="a b" star="a*" regex="^a.c$" open="(" file=/tmp/file; [[ ` + expression + ` ]]`
		if code, stdout, stderr := c.exec("bash", "-c", script); code != want || stdout+stderr != "" {
			t.Errorf("[[ %s ]]: %d, %q, %q, want %d", expression, code, stdout, stderr, want)
		}
	}
}

// TestBracketsRefuse: to guess would be to play another program.
func TestBracketsRefuse(t *testing.T) {
	t.Parallel()
	c := run(t, spec{})
	for expression, want := range map[string]string{
		`-O /tmp`:                    "[[ -O",
		`! -G /tmp`:                  "[[ -G",
		`a == a && ( -N /tmp || a )`: "[[ -N",
		`/tmp -nt /tmp`:              "[[ -nt",
		`/tmp -ot /tmp`:              "[[ -ot",
		`/tmp -ef /tmp`:              "[[ -ef",
		`a == b && $(echo a) == a`:   "$() and $(()) behind &&",
		`a == a || -n "b$((n = 1))"`: "$() and $(()) behind ||",
		`abc =~ "a.c"`:               "quotes behind =~",
		`abc =~ ^'a'`:                "quotes behind =~",
		`1+1 -eq 2`:                  "use $(())",
		`3 -gt n`:                    "use $(())",
		`010 -eq 8`:                  "use $(())",
		`-e <(echo a)`:               "<(), >() and coproc",
		`-e ~root`:                   "home directories",
	} {
		for _, script := range []string{"[[ " + expression + " ]]", "eval '[[ ' " + "\"$1\"" + "' ]]'"} {
			code, stdout, stderr := c.exec("bash", "-c", script+"; echo on", "bash", expression)
			if code != 127 || stdout != "" || !strings.Contains(stderr, want) {
				t.Errorf("%s with %s: %d, %q, %q, want 127 and %q", script, expression, code, stdout, stderr, want)
			}
		}
	}
	for _, expression := range []string{"/tmp -nt /tmp", "/tmp -ot /tmp", "/tmp -ef /tmp"} {
		if code, _, stderr := c.exec("sh", "-c", "[ "+expression+" ]"); code != 127 || !strings.Contains(stderr, "doesn't implement") {
			t.Errorf("[ %s ]: %d, %q", expression, code, stderr)
		}
	}
}
