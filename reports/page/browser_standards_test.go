package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// places are those of the small run that look different from each other.
var places = map[string]string{
	"overview": "", "cells": "#cells", "requirements": "#requirements&unserved=yes", "failed": red, "passed": green,
	"hostile": "#cell=kep-2/api/hostile/kubelet:v1.90.1", "unread": "#cell=kep-2/api/lists/kubelet:v1.89.3", "missing": "#cell=no/such/cell",
}

// unfold has a cell show everything that it has.
const unfold = `for (const d of document.querySelectorAll('#cell details')) d.open = true;
	document.querySelector('#cell .attempts button[aria-expanded]')?.click();
	document.querySelector('.lanes .it')?.dispatchEvent(new MouseEvent('click', {bubbles: true}));`

// installed is a file of the packages that package.json names.
func installed(t *testing.T, elements ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(append([]string{"node_modules"}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		unavailable(t, fmt.Sprintf("%s is not installed: run make page", filepath.Join(elements...)))
	}
	return file
}

// TestAccessibility: axe-core finds no problem on a desk and on a phone, in light and in dark.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile(installed(t, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	file := written(t, small())
	for _, width := range []int64{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := newTab(t, width)
			for name, hash := range places {
				for _, theme := range []string{"light", "dark"} {
					b.theme(theme)
					b.open(file, hash)
					b.do(chromedp.Evaluate[chromedp.Void](unfold), chromedp.Evaluate[chromedp.Void](string(axe)))
					for _, v := range violations(b) {
						b.Errorf("%s, %s: %s %s: %q", name, theme, v.Impact, v.ID, v.Nodes[:min(3, len(v.Nodes))])
					}
				}
			}
			b.quiet()
		})
	}
}

// violations are what axe-core finds on the page, into which it was put.
func violations(b *tab) []violation {
	b.do(chromedp.Evaluate[chromedp.Void](`window.found = null;
		axe.run({resultTypes: ['violations']}).then((r) => { window.found = r.violations.map((v) => ({id: v.id, impact: v.impact, nodes: v.nodes.map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)})); })`))
	b.until("window.found !== null")
	return eval[[]violation](b, "window.found")
}

// violation is what axe-core has found.
type violation struct {
	ID, Impact string
	Nodes      []string
}

// TestHTMLIsValid: the file as it is written, and what the scripts make of it.
func TestHTMLIsValid(t *testing.T) {
	validate := installed(t, "html-validate", "bin", "html-validate.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		unavailable(t, "no node here: apt-get install nodejs")
	}
	b := newTab(t, 1280)
	file := written(t, small())
	files := []string{file}
	for name, hash := range places {
		b.open(file, hash)
		b.do(chromedp.Evaluate[chromedp.Void](unfold))
		made := filepath.Join(filepath.Dir(file), name+".html")
		content := "<!DOCTYPE html>\n" + eval[string](b, "document.documentElement.outerHTML")
		if err := os.WriteFile(made, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, made)
	}
	args := append([]string{validate, "--config", "html-validate.json", "--formatter", "json"}, files...)
	out, err := exec.CommandContext(t.Context(), node, args...).Output()
	var results []struct {
		FilePath string
		Messages []struct {
			RuleID, Message string
			Line, Column    int
		}
	}
	if decoding := json.Unmarshal(out, &results); decoding != nil {
		t.Fatalf("html-validate printed %.300q: %v, %v", out, decoding, err)
	}
	for _, r := range results {
		for _, m := range r.Messages {
			t.Errorf("%s:%d:%d: %s (%s)", filepath.Base(r.FilePath), m.Line, m.Column, m.Message, m.RuleID)
		}
	}
	if err != nil && !t.Failed() {
		t.Error(err)
	}
}
