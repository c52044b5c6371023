package checkout

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"reflect"
	"strconv"
	"strings"
)

// staging is where a checkout has the modules that others import, and apis where those have the
// types of API objects.
const staging = "staging/src/"

var apis = []string{staging + "k8s.io/api", staging + "k8s.io/apimachinery/pkg/apis/meta"}

// Fields are the fields of the API's types, by package, type and name in JSON:
// k8s.io/api/core/v1.Pod.spec. Those of types that are embedded are with these.
func (c *Checkout) Fields(ctx context.Context) (map[string]bool, error) {
	list, err := c.ask(ctx, append([]string{"ls-tree", "-r", "--name-only", c.Tree, "--"}, apis...)...)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]bool)
	for name := range strings.Lines(string(list)) {
		name = strings.TrimSpace(name)
		if base := path.Base(name); !strings.HasSuffix(base, "types.go") {
			continue
		}
		text, err := c.File(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := addFields(fields, name, text); err != nil {
			return nil, fmt.Errorf("reading the types of the API: %w", err)
		}
	}
	return fields, nil
}

// addFields adds those of the types that a file declares.
func addFields(fields map[string]bool, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	of := strings.TrimPrefix(path.Dir(name), staging)
	ast.Inspect(file, func(n ast.Node) bool {
		declared, is := n.(*ast.TypeSpec)
		if !is {
			return true
		}
		if structure, is := declared.Type.(*ast.StructType); is {
			for _, f := range structure.Fields.List {
				if name := nameInJSON(f); name != "" {
					fields[of+"."+declared.Name.Name+"."+name] = true
				}
			}
		}
		return false
	})
	return nil
}

// nameInJSON is the name that a field's tag gives it, if any.
func nameInJSON(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "" // the compiler reports it
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}
