package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// largeDefinition is a CustomResourceDefinition of about n lines, such as operators with pod templates have.
func largeDefinition(n int) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: apps.example.com\nspec:\n  schema:\n    properties:\n")
	for i := range n / 4 {
		fmt.Fprintf(&b, "      field%d:\n        description: A text that says what the field number %d is for.\n        format: int32\n        type: integer\n", i, i)
	}
	return []byte(b.String())
}

// largeList is a List of n objects as kubectl prints it.
func largeList(n int) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range n {
		fmt.Fprintf(&b, "- apiVersion: v1\n  data:\n    a: %q\n  kind: ConfigMap\n  metadata:\n    name: a%d\n    namespace: shop\n    uid: u%d\n", strings.Repeat("text ", 50), i, i)
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		text []byte
		want int
	}{
		{"definition of 10000 lines", largeDefinition(10_000), 1},
		{"definition of a million lines", largeDefinition(1_000_000), 1},
		{"List of 10000 objects", largeList(10_000), 10_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if objects, problems := Read("f", c.text); len(objects) != c.want || len(problems) > 0 {
					b.Fatalf("%d objects, problems %v", len(objects), problems)
				}
			}
		})
	}
}
