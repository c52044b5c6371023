package rigs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/process"
)

// Rig is a rig of this user on this machine.
type Rig struct {
	// Name is what its directory is called, without the prefix.
	Name string `json:"name"`
	Dir  string `json:"directory"`
	// Running says that its process has it. If unset, the process was killed, and this
	// is what it has left.
	Running bool      `json:"running"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	// Command is the command line of the process.
	Command string `json:"command"`
	Info
	// Releases are those of the components, the newest first. That of etcd is not among
	// them.
	Releases []string `json:"releases"`
}

// List lists the rigs that have their directories in parent, the oldest first. Those
// of other users are not among them. An error of one leaves the others in the list.
func List(parent string) ([]Rig, error) {
	all := []Rig{}
	entries, err := os.ReadDir(parent)
	failures := []error{err}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), Prefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		r, is, err := read(dir)
		if err != nil {
			failures = append(failures, fmt.Errorf("reading %s: %w", dir, err))
		} else if is {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b Rig) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Name, b.Name)) })
	return all, errors.Join(failures...)
}

// read reads what is in a rig's directory. What has no file that says what runs, or is
// another user's, is no rig. The file may be cut off by a power cut: then it says nothing.
func read(dir string) (r Rig, is bool, err error) {
	at, err := os.Lstat(dir)
	if err != nil {
		return Rig{}, false, unlessGone(err)
	}
	if owner, known := at.Sys().(*syscall.Stat_t); !at.IsDir() || !known || int(owner.Uid) != os.Geteuid() {
		return Rig{}, false, nil
	}
	text, err := files.Read(filepath.Join(dir, infoFile), files.MaxText)
	if err != nil {
		return Rig{}, false, unlessGone(err)
	}
	r = Rig{Name: strings.TrimPrefix(filepath.Base(dir), Prefix), Dir: dir}
	if json.Unmarshal(text, &r.Info) != nil {
		r.Info = Info{}
	}
	owner, held, err := claim.Look(dir)
	if _, gone := os.Stat(filepath.Join(dir, infoFile)); !held && errors.Is(gone, fs.ErrNotExist) {
		return Rig{}, false, err // it ended just now: Close removes the file first
	}
	r.Running, r.PID, r.Since, r.Command, r.Releases = held, owner.PID, owner.Since, owner.Command, releases(r.Components)
	return r, true, err
}

// unlessGone returns an error, unless it says that something is not there: the rig has
// ended meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func releases(components map[string]string) []string {
	all := []string{}
	for name, version := range components {
		if name != "etcd" {
			all = append(all, version)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(semver.Compare(b, a), cmp.Compare(a, b)) })
	return slices.Compact(all)
}

// Remove removes what a killed process has left. A rig that runs is an error, and so is a directory that is no rig of this
// user.
func Remove(r Rig) error {
	if _, is, err := read(r.Dir); err != nil || !is || !strings.HasPrefix(filepath.Base(r.Dir), Prefix) {
		return errors.Join(fmt.Errorf("%s is not the directory of a rig", r.Dir), err)
	}
	held, err := claim.Take(r.Dir, claim.Me("remove"))
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(r.Dir), process.RemoveCgroup(filepath.Base(r.Dir)), held.Release())
}
