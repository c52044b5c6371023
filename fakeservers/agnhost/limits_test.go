package agnhost_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestShellsThatTakeTooMuch are scripts that would take all memory of the machine, or end skewrig.
func TestShellsThatTakeTooMuch(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"pause"}})
	for name, script := range map[string]string{
		"doubling":             `x=12345678; while :; do x="$x$x"; done`,
		"doubling in a loop":   `x=12345678; for ((;;)); do x=$x$x; done`,
		"doubling in eval":     `x=12345678; while true; do eval 'x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x; x=$x$x'; done`,
		"doubling by +=":       `x=12345678; while :; do x+=$x; done`,
		"doubling of export":   `export x=12345678; while :; do export x=$x$x; done`,
		"doubling of an array": `x=(1 2 3 4); while :; do x=("${x[@]}" "${x[@]}"); done`,
		"doubling arguments":   `set -- 12345678; while :; do set -- "$@" "$@"; done`,
		"substitution":         `x=$(while :; do echo 12345678901234567890; done)`,
		"recursion":            `f() { f; }; f`,
		"recursion of eval":    `f='eval "$f"'; eval "$f"`,
		"recursion of sh":      `echo 'sh /again' > /again; sh /again`,
		"replacement":          `x=1234; while :; do x=${x//[0-9]/$x}; done`,
		"braces":               `echo {1..100000000}`,
		"braces of braces":     `echo {1..100}{1..100}{1..100}{1..100}`,
		"width":                `printf %99999999s x`,
		"format again":         `x=1234567890; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do x=$x$x; done; set -- {1..4000}; printf "%s$x" "$@"`,
		"brackets":             strings.Repeat("(", 100_000),
		"a long script":        strings.Repeat(":;", 100_000),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*patience)
		var stderr strings.Builder
		code := c.execIn(ctx, &stderr, "sh", "-c", script)
		if code == 0 || ctx.Err() != nil {
			t.Errorf("%s: ended with %d, %v: %s", name, code, ctx.Err(), stderr.String())
		}
		cancel()
	}
}

// TestShellsWithinLimits are scripts that are changed or counted, and do what they did.
func TestShellsWithinLimits(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"pause"}})
	for script, want := range map[string]string{
		`x=$(false); echo $?`:                                                "1\n",
		`y=1; x=$y; echo $?`:                                                 "0\n",
		`false; x=$?$y; echo $x`:                                             "1\n",
		`y=a; x=$y$(exit 3); echo $? $x`:                                     "3 a\n",
		`set -e; y=a; false || x=$y; echo $x`:                                "a\n",
		`y="a  b"; x=$y; echo "$x"`:                                          "a  b\n",
		`x="$1"; echo "$x"`:                                                  "\n",
		`x=(); y=("${x[@]}"); echo ${#y[@]}`:                                 "0\n",
		`x=(a "b c"); y=("${x[@]}" d); echo ${#y[@]} "${y[1]}"`:              "3 b c\n",
		`i=0; while [ $i -lt 1000 ]; do i=$((i+1)); s=$s.; done; echo ${#s}`: "1000\n",
		`f() { local n=$1; [ $n -eq 0 ] || f $((n-1)); }; f 100; echo $?`:    "0\n",
		`eval 'a=1; b=$a; echo $b'`:                                          "1\n",
		`trap 'a=$b; echo bye' EXIT`:                                         "bye\n",
		`x=a-b-c; echo ${x//-/+} {1..3} {a,b}{c,d}`:                          "a+b+c 1 2 3 ac ad bc bd\n",
		`printf '%s %3d\n' a 1 b 2`:                                          "a   1\nb   2\n",
	} {
		if code, stdout, stderr := c.exec("sh", "-c", script); stdout != want {
			t.Errorf("%s: %d, %q, %q, want %q", script, code, stdout, stderr, want)
		}
	}
}

// TestATraceHasTheScriptAlone: set -x does not write what a shell runs beside the script.
func TestATraceHasTheScriptAlone(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"pause"}})
	var stderr strings.Builder
	code := c.execIn(t.Context(), &stderr, "sh", "-c", `set -x; y=a; x=$y; x=$y$(echo b); (q=$y); eval 'w=$y'; (exit 3)`)
	if want := "+ y=a\n+ x=a\n+ echo b\n+ x=ab\n+ q=a\n+ eval 'w=$y'\n+ w=a\n+ exit 3\n"; stderr.String() != want || code != 3 {
		t.Errorf("exit code %d, traced\n%swant\n%s", code, &stderr, want)
	}
}

// TestForkBomb ends with its container, and what it leaves does too.
func TestForkBomb(t *testing.T) {
	c := run(t, spec{args: []string{"pause"}})
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var stderr strings.Builder
	c.execIn(ctx, &stderr, "sh", "-c", `bomb() { bomb | bomb & }; bomb; while :; do sleep 1000 & done`)
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before+100; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

func TestTooMuchText(t *testing.T) {
	t.Parallel()
	c := run(t, spec{args: []string{"pause"}})
	for _, command := range []string{"sort", "wc -c", "tail -n 1", "head -n 1"} {
		script := fmt.Sprintf(`x=1234567890123456; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do x=$x$x; done; for i in {1..400}; do echo $x; done | %s`, command)
		ctx, cancel := context.WithTimeout(t.Context(), 30*patience)
		var stderr strings.Builder
		code := c.execIn(ctx, &stderr, "sh", "-c", script)
		if code == 0 || ctx.Err() != nil || !strings.Contains(stderr.String(), "more than") {
			t.Errorf("%s: ended with %d, %v: %s", command, code, ctx.Err(), stderr.String())
		}
		cancel()
	}
}
