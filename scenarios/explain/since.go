package explain

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
	"github.com/skewrig/skewrig/reports/narrate"
	"github.com/skewrig/skewrig/scenarios/expr"
)

// seeking is a comparison of which it is sought since when its value is as it is.
type seeking struct {
	program *expr.Program
	found   *narrate.Compared
	until   int      // so many events
	names   []string // of what it looks at; if there are none, at anything
	looks   int
	last    string
}

// maxLooks is how often a value is looked at. Where that is not enough, the result does not say
// since when it is as it is.
const maxLooks = 1000

func seek(c *narrate.Compared, until int) seeking {
	s := seeking{found: c, until: until}
	if p, _, err := expr.Compile(c.What); err == nil {
		s.program = p
	}
	if e, is := expr.Parse(c.What); is {
		s.names = onlyNamed(e)
	}
	return s
}

// onlyNamed are the last parts of the names of all that an expression looks at. There are
// none if it looks at something that it does not name.
func onlyNamed(e ast.Expr) (names []string) {
	keyed, all := make(map[int64]bool), true
	isVariable := func(e ast.Expr) bool {
		_, is := expr.VariableOf(e.AsIdent())
		return e.Kind() == ast.IdentKind && is
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if in, key, is := expr.FieldOf(e); is && isVariable(in) {
			keyed[in.ID()] = true
			names = append(names, path.Base(key))
		}
		all = all && (!isVariable(e) || keyed[e.ID()])
	}))
	if !all {
		return nil
	}
	return names
}

// mayChange reports whether what is looked at may change with an event.
func (s *seeking) mayChange(e record.Event) bool {
	return len(s.names) == 0 || slices.ContainsFunc(s.names, func(name string) bool { return strings.Contains(e.Subject, name) })
}

// since finds since when the value of each comparison is as it is. What has always been so is so since the
// zero time.
func (x *explainer) since(events []record.Event) {
	sought := slices.DeleteFunc(x.sought, func(s seeking) bool { return s.program == nil })
	if len(sought) == 0 {
		return
	}
	t := timeline.New()
	for i, e := range events {
		t.Add(e)
		if !expr.IsVisible(e) {
			continue
		}
		for n := range sought {
			if s := &sought[n]; i < s.until && s.mayChange(e) {
				x.look(s, t, e.At)
			}
		}
	}
	for _, s := range sought {
		if s.looks > maxLooks {
			s.found.Since = time.Time{}
		}
	}
}

func (x *explainer) look(s *seeking, t *timeline.Timeline, at time.Time) {
	if s.looks++; s.looks > maxLooks {
		return
	}
	now := ""
	value, err := x.budget.Eval(x.ctx, s.found.What, s.program, expr.Vars(t))
	if expr.IsUnfinished(err) {
		s.looks = maxLooks + 1
		return
	}
	if err == nil {
		now = expr.JSON(value)
	}
	if now != s.last {
		s.last, s.found.Since = now, at
	}
}
