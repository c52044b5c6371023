package check

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/ast"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/record/timeline"
)

// seeking is a comparison of which it is sought since when its value is as it is.
type seeking struct {
	*program

	found *Compared
	until int      // so many events
	names []string // of what it looks at; if there are none, at anything
	looks int
	last  string
}

// maxLooks is how often a value is looked at. Where that is not enough, it is not told
// since when it is as it is.
const maxLooks = 1000

func seek(c *Compared, until int) seeking {
	s := seeking{found: c, until: until}
	if p, _, err := compile(c.What); err == nil {
		s.program = p
	}
	if e, is := parse(c.What); is {
		s.names = onlyNamed(e)
	}
	return s
}

// onlyNamed are the last parts of the names of all that an expression looks at. There are
// none if it looks at something that it does not name.
func onlyNamed(e ast.Expr) (names []string) {
	keyed, all := make(map[int64]bool), true
	isVariable := func(e ast.Expr) bool {
		_, is := variableOf(e.AsIdent())
		return e.Kind() == ast.IdentKind && is
	}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if in, key, is := fieldOf(e); is && isVariable(in) {
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

// since finds since when each value is as it is. What has always been so is so since the
// zero time.
func since(ctx context.Context, b *budget, sought []seeking, events []record.Event) {
	if len(sought) == 0 {
		return
	}
	t := timeline.New()
	for i, e := range events {
		t.Add(e)
		if !visible[e.Kind] {
			continue
		}
		for n := range sought {
			if s := &sought[n]; i < s.until && s.mayChange(e) {
				s.look(ctx, b, t, e.At)
			}
		}
	}
	for _, s := range sought {
		if s.looks > maxLooks {
			s.found.Since = time.Time{}
		}
	}
}

func (s *seeking) look(ctx context.Context, b *budget, t *timeline.Timeline, at time.Time) {
	if s.looks++; s.looks > maxLooks {
		return
	}
	now := ""
	value, err := b.eval(ctx, s.found.What, s.program, vars(t))
	if isUnfinished(err) {
		s.looks = maxLooks + 1
		return
	}
	if err == nil {
		now = asJSON(value)
	}
	if now != s.last {
		s.last, s.found.Since = now, at
	}
}
