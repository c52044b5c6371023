package mutation

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// block makes the mutants of a list of statements, each of which can be left out.
func (g *generator) block(list []ast.Stmt) {
	for _, s := range list {
		if isLogging(s) {
			continue
		}
		if what := removable(s); what != "" {
			g.wrap(s, fmt.Sprintf("if !mutant.On(%d) { ", g.mutant(s.Pos(), "%s left out", what)), " }")
		}
		g.statement(s)
	}
}

// removable says what a statement is, if code without it compiles.
func removable(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return "call"
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && !assignsNothing(s) {
			return "assignment"
		}
	case *ast.IncDecStmt:
		return "step"
	case *ast.DeferStmt:
		return "defer"
	case *ast.GoStmt:
		return "go"
	case *ast.SendStmt:
		return "send"
	case *ast.BranchStmt:
		if s.Tok == token.BREAK || s.Tok == token.CONTINUE {
			return s.Tok.String()
		}
	}
	return ""
}

// assignsNothing reports whether a statement is there for the compiler only.
func assignsNothing(s *ast.AssignStmt) bool {
	_, calls := s.Rhs[0].(*ast.CallExpr)
	return !calls && slices.ContainsFunc(s.Lhs, isBlank)
}

func isBlank(e ast.Expr) bool {
	name, is := e.(*ast.Ident)
	return is && name.Name == "_"
}

func (g *generator) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.BlockStmt:
		g.block(s.List)
	case *ast.LabeledStmt:
		g.statement(s.Stmt)
	case *ast.IfStmt:
		g.ifStatement(s)
	case *ast.ForStmt:
		g.optional(s.Init)
		g.condition(s.Cond)
		g.block(s.Body.List)
	case *ast.RangeStmt:
		g.wrap(s.X, fmt.Sprintf("mutant.Zero(%d, ", g.mutant(s.X.Pos(), "loop over nothing")), ")")
		g.expression(s.X)
		g.block(s.Body.List)
	case *ast.SwitchStmt:
		g.optional(s.Init)
		g.expression(s.Tag)
		g.cases(s)
	case *ast.TypeSwitchStmt:
		for _, c := range s.Body.List {
			g.block(c.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		g.communications(s)
	case *ast.DeclStmt:
		g.values(s.Decl.(*ast.GenDecl))
	case nil, *ast.BranchStmt, *ast.EmptyStmt, *ast.IncDecStmt:
	default:
		g.children(s)
	}
}

func (g *generator) optional(s ast.Stmt) {
	if s != nil && !isLogging(s) {
		g.statement(s)
	}
}

// ifStatement leaves one as it is that decides about a log only.
func (g *generator) ifStatement(s *ast.IfStmt) {
	g.optional(s.Init)
	if s.Else == nil && onlyLogs(s.Body) {
		return
	}
	g.condition(s.Cond)
	g.block(s.Body.List)
	g.optional(s.Else)
}

func (g *generator) cases(s *ast.SwitchStmt) {
	for _, c := range s.Body.List {
		clause := c.(*ast.CaseClause)
		if len(clause.Body) > 0 && onlyLogs(&ast.BlockStmt{List: clause.Body}) {
			continue
		}
		for _, e := range clause.List {
			if s.Tag == nil {
				g.condition(e)
			} else {
				g.wrap(e, fmt.Sprintf("mutant.Other(%d, ", g.mutant(e.Pos(), "case never taken")), ")")
			}
		}
		g.block(clause.Body)
	}
}

// communications has one mutant for each case of a select, in which nothing
// comes, or nothing is taken.
func (g *generator) communications(s *ast.SelectStmt) {
	for _, c := range s.Body.List {
		clause := c.(*ast.CommClause)
		if channel := channelOf(clause.Comm); channel != nil {
			g.wrap(channel, fmt.Sprintf("mutant.Zero(%d, ", g.mutant(channel.Pos(), "case never ready")), ")")
		}
		g.block(clause.Body)
	}
}

// channelOf is the channel of a case of a select.
func channelOf(s ast.Stmt) ast.Expr {
	var e ast.Expr
	switch s := s.(type) {
	case *ast.SendStmt:
		return s.Chan
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		e = s.Rhs[0]
	}
	if receive, is := e.(*ast.UnaryExpr); is {
		return receive.X
	}
	return nil
}

// loggers are the names of what writes logs.
var loggers = []string{"klog", "logger", "loggerV4", "log", "l"}

// isLogging reports whether a statement only writes a log, which may say what it
// likes.
func isLogging(s ast.Stmt) bool {
	call, is := s.(*ast.ExprStmt)
	return is && isLogger(call.X)
}

func isLogger(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return isLogger(e.Fun)
	case *ast.SelectorExpr:
		return isLogger(e.X) || slices.Contains(loggers, e.Sel.Name)
	case *ast.Ident:
		return slices.Contains(loggers, e.Name)
	}
	return false
}

// onlyLogs reports whether a block does nothing but to write a log.
func onlyLogs(b *ast.BlockStmt) bool {
	logs := false
	for _, s := range b.List {
		assign, is := s.(*ast.AssignStmt)
		switch {
		case isLogging(s):
			logs = true
		case !is || assign.Tok != token.DEFINE:
			return false
		}
	}
	return logs
}
