package shell

import (
	"fmt"
	"regexp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// refusedTests are the operators of [ and [[ for what files here don't have: owners,
// times and identities. The interpreter asks the host about owners.
var refusedTests = []string{"-O", "-G", "-N", "-nt", "-ot", "-ef"}

// refuseTest refuses a part of [[ if its operator is one of those.
func refuseTest(part syntax.Node, operator string) error {
	if slices.Contains(refusedTests, operator) {
		return fmt.Errorf("%s: skewrig doesn't implement [[ %s", part.Pos(), operator)
	}
	return nil
}

// checkBinaryTest refuses what the interpreter does in another way than a shell: it
// plays both sides of && and ||, knows no quotes in a regular expression, and does
// not calculate.
func checkBinaryTest(test *syntax.BinaryTest) error {
	switch test.Op {
	case syntax.AndTest, syntax.OrTest:
		if has[*syntax.CmdSubst](test.Y) || has[*syntax.ArithmExp](test.Y) {
			return fmt.Errorf("%s: skewrig doesn't implement $() and $(()) behind %s in [[", test.Y.Pos(), test.Op)
		}
	case syntax.TsReMatch:
		if has[*syntax.SglQuoted](test.Y) || has[*syntax.DblQuoted](test.Y) {
			return fmt.Errorf("%s: skewrig doesn't implement quotes behind =~", test.Y.Pos())
		}
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{test.X, test.Y} {
			if isExpression(side) {
				return fmt.Errorf("%s: skewrig doesn't calculate in [[: use $(())", side.Pos())
			}
		}
	}
	return refuseTest(test, test.Op.String())
}

var decimal = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)

// isExpression reports whether a side of -eq is written out, and is not a number.
func isExpression(side syntax.TestExpr) bool {
	word, is := side.(*syntax.Word)
	return is && word.Lit() != "" && !decimal.MatchString(word.Lit())
}

// has reports whether there is a node of a type in a part of a script.
func has[Node syntax.Node](part syntax.Node) (found bool) {
	syntax.Walk(part, func(node syntax.Node) bool {
		_, is := node.(Node)
		found = found || is
		return !found
	})
	return found
}
