package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxKept bounds the file that a container's output is kept in.
const maxKept = 256 << 10

// keptLog is the output of a container for who reads of it later: a kubelet removes
// its own log with the container. It has the same entries, the last maxKept bytes
// of them, and is not there if there is no output. A nil keptLog keeps nothing.
type keptLog struct {
	dir, attempt string
	file         *os.File // nil before the first entry
	size         int
	head         int   // the length of the line that says what was cut off
	cut          int64 // how many bytes were
}

// kept is where the output of a container goes: NAMESPACE_POD/CONTAINER/ATTEMPT.log
// below Config.Kept. If that is not below it, there is none.
func (r *Runtime) kept(c *container) *keptLog {
	metadata := c.sandbox.config.GetMetadata()
	dir := filepath.Join(metadata.GetNamespace()+"_"+metadata.GetName(), c.config.GetMetadata().GetName())
	if r.config.Kept == "" || !filepath.IsLocal(dir) {
		return nil
	}
	return &keptLog{dir: filepath.Join(r.config.Kept, dir), attempt: fmt.Sprint(c.config.GetMetadata().GetAttempt())}
}

// add keeps entries. What can't be kept is lost: the container must not notice.
func (k *keptLog) add(entries []byte) {
	if k == nil || len(entries) == 0 {
		return
	}
	if k.file == nil && k.open() != nil {
		return
	}
	if k.size+len(entries) > maxKept {
		entries, _ = k.restart(entries)
	}
	n, _ := k.file.Write(entries)
	k.size += n
}

// open makes the file. The pods of a name, which may be made again, have one each:
// the second has 0-2.log.
func (k *keptLog) open() error {
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return err
	}
	name := k.attempt
	for n := 2; ; n++ {
		file, err := os.OpenFile(filepath.Join(k.dir, name+".log"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
		if !errors.Is(err, fs.ErrExist) {
			k.file = file
			return err
		}
		name = fmt.Sprintf("%s-%d", k.attempt, n)
	}
}

// restart empties the file, and returns what is to be written to it: the line
// that says what is missing, and the last entries, which fill half of the file.
func (k *keptLog) restart(entries []byte) ([]byte, error) {
	before, err := io.ReadAll(io.NewSectionReader(k.file, int64(k.head), int64(k.size-k.head)))
	if err != nil {
		return nil, err
	}
	all := append(before, entries...)
	_, last, _ := bytes.Cut(all[len(all)-maxKept/2:], []byte{'\n'})
	k.cut += int64(len(all) - len(last))
	head := fmt.Sprintf("skewrig: %d bytes before this were cut off\n", k.cut)
	k.head, k.size = len(head), 0
	_, seek := k.file.Seek(0, io.SeekStart)
	return append([]byte(head), last...), errors.Join(k.file.Truncate(0), seek)
}

func (k *keptLog) close() {
	if k != nil && k.file != nil {
		_ = k.file.Close()
	}
}
