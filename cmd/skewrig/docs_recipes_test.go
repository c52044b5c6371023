package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestRecipesForCI: they are YAML, and their scripts are checked like those of the
// pages.
func TestRecipesForCI(t *testing.T) {
	t.Chdir(root)
	check := newChecker(t)
	files, err := filepath.Glob("docs/ci/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no recipes: %v", err)
	}
	for _, path := range files {
		var recipe map[string]any
		if err := yaml.UnmarshalStrict([]byte(readText(t, path)), &recipe); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		ours := strings.Count(readText(t, path), "uses: skewrig/skewrig@")
		for _, script := range scripts(recipe) {
			if err := check.checkScript(script); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			ours += strings.Count(script, "bin/skewrig ") + strings.Count(script, "make ")
		}
		if ours == 0 {
			t.Errorf("%s runs nothing of ours", path)
		}
	}
}

// scripts are the scripts of a recipe: what GitHub calls run, and Prow args.
func scripts(node any) (found []string) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			script, is := value.(string)
			if is && key == "run" {
				found = append(found, script)
				continue
			}
			if list, is := value.([]any); is && key == "args" {
				for _, arg := range list {
					found = append(found, fmt.Sprint(arg))
				}
				continue
			}
			found = append(found, scripts(value)...)
		}
	case []any:
		for _, value := range node {
			found = append(found, scripts(value)...)
		}
	}
	return found
}
