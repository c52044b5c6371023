// Package rigs has the directories of rigs. Each has a name that says what the rig is
// for and which process has it; a lock, which ends with that process; and a file that
// says what runs. So the rigs of a user on a machine can be listed, and what a killed
// process has left can be distinguished from what is in use.
package rigs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skewrig/skewrig/harness/claim"
	"github.com/skewrig/skewrig/harness/files"
	"github.com/skewrig/skewrig/harness/process"
	"github.com/skewrig/skewrig/harness/unixsocket"
)

// infoFile is the file in a rig's directory that says what runs.
const infoFile = "rig.json"

// Info is what a rig says of itself.
type Info struct {
	// For is what it is for: the id of a cell, or "up".
	For string `json:"for"`
	// Components are the releases by the names of the components.
	Components map[string]string `json:"components"`
	// Kubeconfig is the path of an administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// Logs is the directory of the components' logs.
	Logs string `json:"logs"`
	// ReportDir is where the report goes. If unset, there is none.
	ReportDir string `json:"reportDir,omitempty"`
}

// Dir is the directory of a rig of this process. It is removed when it is closed,
// and also when the process is killed.
type Dir struct {
	*process.Guard
	claim *claim.Claim

	mu   sync.Mutex
	info Info
}

// NewDir makes the directory of a rig in another one. The path is as short as sockets
// below it need: it leaves room for so many bytes more.
func NewDir(parent, purpose string, room int) (_ *Dir, err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	d := new(Dir)
	limit := unixsocket.MaxPath - len(parent) - len("/") - len(Prefix) - len("-99") - room
	base := filepath.Join(parent, Prefix+name(purpose, os.Getpid(), limit))
	for n, path := 1, base; d.Guard == nil; n, path = n+1, fmt.Sprintf("%s-%d", base, n+1) {
		if d.Guard, err = process.NewGuard(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	if d.claim, err = claim.Take(d.Dir(), claim.Me(strings.Join(os.Args, " "))); err != nil {
		return nil, errors.Join(err, d.Guard.Close())
	}
	return d, nil
}

// Say changes what the rig says of itself.
func (d *Dir) Say(change func(*Info)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.info)
	text, err := json.MarshalIndent(d.info, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(d.Dir(), infoFile), 0o600, text)
}

// Close removes the directory, and the cgroups that have its name. What is no longer claimed does not say that it is a rig:
// the removal takes a while.
func (d *Dir) Close() error {
	return errors.Join(unlessGone(os.Remove(filepath.Join(d.Dir(), infoFile))), d.claim.Release(), process.RemoveCgroup(filepath.Base(d.Dir())), d.Guard.Close())
}
