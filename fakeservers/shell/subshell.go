package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a script with traps is changed to, so that it is known of a command whether it
// runs in a subshell, and of a job when it begins and ends.
const (
	subshellVariable = "__skewrig_subshell"
	jobVariable      = "__skewrig_job"
	beginJob         = "__skewrig_begin_job"
	endJob           = "__skewrig_end_job"

	subshellScript = "{ " + subshellVariable + "=1; :; }"
	jobScript      = "{ " + beginJob + "; { " + subshellVariable + "=1; ( : ); " + endJob + ` "$` + jobVariable + `" "$?"; } & }`
)

// withTraps changes a script so that traps work. One that has none stays as it is.
func withTraps(file *syntax.File) {
	if !hasTraps(file) {
		return
	}
	var jobs []*syntax.Stmt // that have been changed
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Subshell:
			node.Stmts = inSubshell(node.Stmts...)
		case *syntax.CmdSubst:
			if len(node.Stmts) != 1 || node.Stmts[0].Cmd != nil { // not $(<FILE)
				node.Stmts = inSubshell(node.Stmts...)
			}
		case *syntax.BinaryCmd:
			if node.Op == syntax.Pipe || node.Op == syntax.PipeAll {
				node.X = inSubshell(node.X)[0]
			}
		case *syntax.Stmt:
			if node.Background && !slices.Contains(jobs, node) {
				jobs = append(jobs, asJob(node))
			}
		}
		return true
	})
}

func hasTraps(file *syntax.File) (found bool) {
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 && call.Args[0].Lit() == "trap" {
			found = true
		}
		return !found
	})
	return found
}

// inSubshell returns one statement that runs others with the mark of a subshell.
func inSubshell(statements ...*syntax.Stmt) []*syntax.Stmt {
	marked := parsed(subshellScript)
	block := marked[0].Cmd.(*syntax.Block)
	block.Stmts = append(block.Stmts[:1], statements...)
	return marked
}

// asJob changes a statement in the background so that it is counted, and returns what
// is in the background now.
func asJob(statement *syntax.Stmt) *syntax.Stmt {
	original := *statement
	original.Background = false
	*statement = *parsed(jobScript)[0]
	job := statement.Cmd.(*syntax.Block).Stmts[1]
	job.Cmd.(*syntax.Block).Stmts[1].Cmd.(*syntax.Subshell).Stmts = []*syntax.Stmt{&original}
	return job
}

// parsed parses a script of this file.
func parsed(script string) []*syntax.Stmt {
	file, _ := syntax.NewParser().Parse(strings.NewReader(script), "") // constants, which can be parsed
	return file.Stmts
}
