package engine

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/skewrig/skewrig/record"
	"github.com/skewrig/skewrig/scenarios/provider"
)

// Scrape implements action.Rig.
func (r *run) Scrape(ctx context.Context, component, path string) error {
	text, code, err := r.get(ctx, component, path, "")
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("%d %s", code, http.StatusText(code))
	}
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", path, component, err)
	}
	metrics, err := provider.ParseMetrics(text)
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", path, component, err)
	}
	r.history.Append("engine", component, record.Scraped{Path: path, Metrics: metrics})
	return nil
}

// ReadLog implements action.Rig.
func (r *run) ReadLog(component, matching string) error {
	match, err := regexp.Compile(matching)
	if err != nil {
		return err
	}
	logs, err := provider.As[provider.Logs](r.session)
	if err != nil {
		return err
	}
	text, err := logs.Log(component)
	if err != nil {
		return err
	}
	read := record.LogRead{Component: component, Lines: []string{}}
	for line := range strings.Lines(string(text)) {
		if match.MatchString(line) {
			read.Lines = append(read.Lines, strings.TrimRight(line, "\n"))
		}
	}
	r.history.Append("engine", r.current.Name, read)
	return nil
}
