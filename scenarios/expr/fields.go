package expr

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/ext"

	"github.com/skewrig/skewrig/scenarios/kube"
)

// typedLanguage is the environment in which objects have the types of the newest release. It is only for finding
// fields that they don't have: a value of it may be an object of another release.
var typedLanguage = sync.OnceValues(func() (*cel.Env, error) {
	shapes, err := newShapes()
	if err != nil {
		return nil, err
	}
	options := append(shapes.variables(), cel.OptionalTypes(), cel.CustomTypeProvider(shapes), ext.Strings(), ext.Lists(), cel.ParserRecursionLimit(maxNested))
	for _, kind := range kube.Kinds() {
		if kind.Type == nil {
			continue
		}
		object, resource := shapes.of(kind.Type), kind.Resource
		options = append(options,
			cel.Variable(typedName("objects", resource), cel.MapType(cel.StringType, object)),
			cel.Variable(typedName("history", resource), cel.MapType(cel.StringType, cel.ListType(object))))
	}
	return cel.NewEnv(options...)
})

// typedName is what an expression in which objects have types calls those of a resource.
func typedName(variable, resource string) string { return variable + " of " + resource }

// unknownFields are the fields in an expression that the objects of the newest release
// don't have, with the type of its value. It is seen as it by another expression: nil if
// by none.
func unknownFields(text string, it *cel.Type) (Mistakes, *cel.Type) {
	if tooLong(text) != nil {
		return nil, cel.DynType //nolint:nilerr // the check is refused for it
	}
	env, err := typedLanguage()
	if err == nil && it != nil {
		env, err = env.Extend(cel.Variable("it", it))
	}
	if err != nil {
		return Mistakes{{message: err.Error()}}, cel.DynType
	}
	check := func(env *cel.Env) (*cel.Ast, *cel.Issues) {
		tree, issues := env.Parse(text)
		if issues.Err() != nil {
			return nil, issues
		}
		nameTyped(tree.NativeRep().Expr())
		return env.Check(tree)
	}
	checked, issues := check(env)
	if issues.Err() == nil {
		return nil, checked.OutputType()
	}
	found := mistakesOf(env, text, check)
	return slices.DeleteFunc(found, func(m Mistake) bool { return !strings.HasPrefix(m.message, "undefined field") }), cel.DynType
}

// nameTyped has an expression name objects whose types are known: pods, and those whose
// key it has.
func nameTyped(e ast.Expr) {
	names := ast.NewExprFactory()
	rename := func(e ast.Expr, variable, resource string) {
		if kube.ByResource(resource).Type != nil {
			e.SetKindCase(names.NewIdent(e.ID(), typedName(variable, resource)))
		}
	}
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case e.Kind() == ast.IdentKind && e.AsIdent() == "pods":
			rename(e, "objects", "pods")
		case e.Kind() == ast.CallKind && slices.Contains([]string{operators.Index, operators.OptIndex}, e.AsCall().FunctionName()):
			in, at := e.AsCall().Args()[0], e.AsCall().Args()[1]
			key, is := TextOf(at)
			if is && in.Kind() == ast.IdentKind && (in.AsIdent() == "objects" || in.AsIdent() == "history") {
				rename(in, in.AsIdent(), ResourceOf(key))
			}
		}
	}))
}

// missingFields are the fields in an expression that objects don't have, but for those
// that Compile reports.
func missingFields(text, it string) Mistakes {
	var typed *cel.Type
	var plain []*cel.Type
	if it != "" {
		_, typed = unknownFields(it, nil)
		plain = append(plain, TypeOf(it))
	}
	found, _ := unknownFields(text, typed)
	if len(found) == 0 {
		return nil
	}
	_, _, err := Compile(text, plain...)
	reported, _ := errors.AsType[Mistakes](err)
	return slices.DeleteFunc(found, func(m Mistake) bool { return slices.Contains(reported, m) })
}
