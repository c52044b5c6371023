package containerd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxKept is how much of the output of a container is kept, in bytes: the last of it.
const maxKept = 256 << 10

// keep copies the log of a container, which a kubelet removes with it, to
// NAMESPACE_POD/CONTAINER/ATTEMPT.log below the directory for output. Pods of the same name have
// one each: the second has 0-2.log. What can't be copied is lost.
func (l *ledger) keep(c *container) {
	place := strings.Split(c.path, "/")
	if l.output == "" || c.log == "" || len(place) != 3 {
		return
	}
	log, err := os.Open(c.log)
	if err != nil {
		return
	}
	defer log.Close()
	if size, err := log.Seek(0, io.SeekEnd); err != nil || size == 0 {
		return
	} else if _, err = log.Seek(max(0, size-maxKept), io.SeekStart); err != nil {
		return
	}
	dir := filepath.Join(l.output, place[0]+"_"+place[1], place[2])
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	name := fmt.Sprint(c.attempt)
	for number := 2; ; number++ {
		kept, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
		if errors.Is(err, fs.ErrExist) {
			name = fmt.Sprintf("%d-%d", c.attempt, number)
			continue
		}
		if err == nil {
			_, _ = io.Copy(kept, log)
			_ = kept.Close()
		}
		return
	}
}

// keepAll keeps the output of the containers that run.
func (l *ledger) keepAll() {
	for _, id := range l.runningIn("") {
		l.mu.Lock()
		c := l.containers[id]
		l.mu.Unlock()
		l.keep(c)
	}
}
