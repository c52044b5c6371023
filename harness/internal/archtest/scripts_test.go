package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestScriptsAreFilesOfTheirOwn, which shellcheck reads (.ci/scripts): it can't read a string of Go.
func TestScriptsAreFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	eachFile(t, func(pkg, name string, text []byte) {
		for _, line := range scripts(t, text) {
			t.Errorf("%s/%s:%d: a shell script in a string: have it in a file .sh, which is embedded, and give it arguments", pkg, name, line)
		}
	})
}

// scripts are the lines of a Go file at which strings begin that are shell scripts of more than a line.
func scripts(t *testing.T, text []byte) (lines []int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		e, is := n.(ast.Expr)
		if !is {
			return true
		}
		value, constant := stringOf(e)
		if constant && isScript(value) {
			lines = append(lines, files.Position(e.Pos()).Line)
		}
		return !constant
	})
	return lines
}

// TestScripts: what is put together is found, and no help, template or message.
func TestScripts(t *testing.T) {
	t.Parallel()
	got := scripts(t, []byte("package a\n"+
		"const a = `set -e\nmount \"$1\"`\n"+
		"const b = \"cp a b\\n\" + dir + `/c`\n"+
		"const dir, line = `a`, `for a in \"$@\"; do rm $a; done`\n"+
		"const help = `  skewrig run\n  skewrig run a && echo a`\n"+
		"var yaml, text = `{{range $n := .n}}\nn: {{$n}}`, \"It's said:\\ncat it\"\n"+
		"var c = f(`\n` + `if a; then b; fi`, `while a\ndo b; done`)\n"))
	if want := []int{2, 4, 11}; !slices.Equal(got, want) {
		t.Errorf("in lines %v, want %v", got, want)
	}
}

// stringOf is the value of a string literal, or of several with other operands between them, which are words in its place.
func stringOf(e ast.Expr) (value string, is bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isLeft := stringOf(e.X)
		right, isRight := stringOf(e.Y)
		if !isLeft {
			left = "_"
		}
		if !isRight {
			right = "_"
		}
		return left + right, e.Op == token.ADD && (isLeft || isRight)
	}
	return "", false
}

// programs are commands that scripts run, and that no example in a help text shows.
var programs = []string{
	"[", "cat", "cd", "chmod", "cp", "echo", "exec", "exit", "find", "grep", "kill", "ln", "mkdir", "mount", "mv", "rm", "sed", "set", "sh",
	"shift", "sleep", "systemctl", "tar", "test", "touch", "trap", "umount", "wait",
}

// isScript reports whether a text of more than a line can be read as a shell script, and has what only those have. One that
// runs skewrig is what a user is shown.
func isScript(text string) bool {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return false
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return false
	}
	does, shown := false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.WhileClause, *syntax.ForClause, *syntax.IfClause, *syntax.CaseClause:
			does = true
		case *syntax.ParamExp:
			does = does || !strings.Contains(text, "{{") // a template of Go, which has variables, too
		case *syntax.CmdSubst:
			does = does || !n.Backquotes // which quote in Markdown
		case *syntax.BinaryCmd:
			does = does || n.Op == syntax.AndStmt || n.Op == syntax.OrStmt
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := n.Args[0].Lit()
				does = does || slices.Contains(programs, name)
				shown = shown || name == "skewrig"
			}
		}
		return true
	})
	return does && !shown
}
