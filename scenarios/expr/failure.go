package expr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// FailedPart is where an evaluation failed: the offset in the expression, in characters, and what
// the part there was about, such as "objects[...].endpoints is null".
type FailedPart struct {
	Offset int
	about  string
}

// String says what the part was about, and what to do about a value that is null.
func (f FailedPart) String() string {
	if strings.HasSuffix(f.about, " is null") {
		return f.about + "; null is not absent: ask for has(x.y) && x.y != null first"
	}
	return f.about
}

// failing is a call that failed first, with its arguments.
type failing struct {
	ID   int64
	args []ref.Val
}

// FailedIn evaluates an expression again that failed, and finds where and on what. What it sees
// as it is of a type; nil if it sees nothing.
func FailedIn(text string, it *cel.Type, now map[string]any) (f FailedPart, found bool) {
	x, is := AsWritten(text, it)
	env, err := language()
	if !is || err != nil {
		return f, false
	}
	calls := make(map[*types.Err]failing)
	p, err := metered(env, x.compiled, cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if call, is := i.(interpreter.InterpretableCall); is {
			return watchedCall{call, calls}, nil
		}
		return i, nil
	}))
	if err != nil {
		return f, false
	}
	_, _, err = p.eval(&meter{ctx: context.Background(), limit: maxOnce}, now)
	failure, is := errors.AsType[*types.Err](err)
	if !is {
		return f, false
	}
	if first, is := calls[failure]; is {
		return x.failedCall(first)
	}
	return x.failedField(failure)
}

// watchedCall notes the calls whose arguments are values, and whose result is an error.
type watchedCall struct {
	interpreter.InterpretableCall

	failed map[*types.Err]failing
}

// Exec implements interpreter.InterpretableV2.
func (w watchedCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := w.InterpretableCall.Exec(frame)
	failure, is := value.(*types.Err)
	if _, known := w.failed[failure]; !is || known {
		return value
	}
	var args []ref.Val
	for _, a := range w.Args() {
		arg := a.Exec(frame)
		if types.IsUnknownOrError(arg) {
			return value
		}
		args = append(args, arg)
	}
	w.failed[failure] = failing{w.ID(), args}
	return value
}

// failedCall is about the arguments of a call that are null, or else about all.
func (x Source) failedCall(first failing) (f FailedPart, found bool) {
	e, found := x.part(func(e ast.Expr) bool { return e.ID() == first.ID })
	if !found || e.Kind() != ast.CallKind {
		return f, false
	}
	args := e.AsCall().Args()
	if e.AsCall().IsMemberFunction() {
		args = append([]ast.Expr{e.AsCall().Target()}, args...)
	}
	null := slices.Contains(first.args, ref.Val(types.NullValue))
	var about []string
	at := e
	for i, a := range args {
		text, err := x.Text(a)
		if err != nil || i >= len(first.args) || a.Kind() == ast.LiteralKind || null && first.args[i] != types.NullValue {
			continue
		}
		if len(about) == 0 {
			at = a
		}
		about = append(about, fmt.Sprintf("%s is %s", strings.ReplaceAll(text, "\n", " "), Show(first.args[i], maxAbout)))
	}
	return FailedPart{x.begins(at), strings.Join(about, ", ")}, true
}

// maxAbout is how much of a value a message has, in bytes.
const maxAbout = 80

// failedField is about the value that lacks a field, or the key.
func (x Source) failedField(failure *types.Err) (f FailedPart, found bool) {
	_, key, is := strings.Cut(failure.Error(), "no such key: ")
	if !is {
		return f, false
	}
	e, found := x.part(func(e ast.Expr) bool {
		_, field, is := FieldOf(e)
		return is && field == key
	})
	if !found {
		return f, false
	}
	of, _, _ := FieldOf(e)
	text, err := x.Text(of)
	if err != nil {
		return f, false
	}
	return FailedPart{x.begins(e), "of " + strings.ReplaceAll(text, "\n", " ")}, true
}

// Failed says where and on what the evaluation of an expression failed.
func (w Written) Failed(err error, it *cel.Type, now map[string]any) error {
	if IsUnfinished(err) {
		return w.Errorf(0, "%v", err)
	}
	at, found := FailedIn(w.Text, it, now)
	if !found {
		return w.Errorf(0, "%v", err)
	}
	return w.Errorf(at.Offset, "%v: %s", err, at)
}
