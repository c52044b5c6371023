package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settled is how long the files must stay as they are before a change is reported: an editor
// writes a file in several steps.
const settled = 50 * time.Millisecond

// Watch sends the name of a file whenever one changes, until the context ends. Other YAML files
// beside a scenario count, too: the scenario may name them; and so do Go files in directories.
// While a name waits to be received, further changes are dropped.
func Watch(ctx context.Context, scenarios, others, directories []string) (<-chan string, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, Failed(err)
	}
	w := watched{scenarios: make(map[string]bool), sources: make(map[string]bool)}
	for _, file := range slices.Concat(scenarios, others) {
		abs, err := filepath.Abs(file)
		if err == nil { // the directory, since editors replace files
			err = watcher.Add(filepath.Dir(abs))
		}
		if err != nil {
			return nil, errors.Join(err, watcher.Close())
		}
		if slices.Contains(others, file) {
			w.others = append(w.others, abs)
		} else {
			w.scenarios[filepath.Dir(abs)] = true
		}
	}
	for _, dir := range directories {
		abs, err := filepath.Abs(dir)
		if err == nil {
			err = watcher.Add(abs)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("watching %d directories (is fs.inotify.max_user_watches enough?): %w", len(directories), err), watcher.Close())
		}
		w.sources[abs] = true
	}
	changes := make(chan string, 1)
	go w.tell(ctx, watcher, changes)
	return changes, nil
}

// watched says which files count.
type watched struct {
	scenarios map[string]bool // directories
	sources   map[string]bool // directories
	others    []string
}

func (w watched) counts(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	switch {
	case e.Op == fsnotify.Chmod || strings.HasPrefix(name, "."):
		return false
	case slices.Contains(w.others, e.Name):
		return true
	case w.sources[filepath.Dir(e.Name)]:
		return strings.HasSuffix(name, ".go")
	default:
		return w.scenarios[filepath.Dir(e.Name)] && IsFile(name)
	}
}

func (w watched) tell(ctx context.Context, watcher *fsnotify.Watcher, changes chan<- string) {
	defer watcher.Close()
	var quiet <-chan time.Time
	var last string
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-watcher.Events:
			if w.counts(e) {
				last, quiet = filepath.Base(e.Name), time.After(settled)
			}
		case err := <-watcher.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				last, quiet = "more than could be followed", time.After(settled)
			}
		case <-quiet:
			quiet = nil
			select {
			case changes <- last:
			default: // a name waits already
			}
		}
	}
}
