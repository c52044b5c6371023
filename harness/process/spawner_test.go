package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inEndingThread does something in a thread that ends then, and returns its id. The main thread does not end.
func inEndingThread(do func()) (tid int) {
	done := make(chan int)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- inEndingThread(do)
			runtime.UnlockOSThread()
			return
		}
		do()
		done <- unix.Gettid()
	}()
	return <-done
}

// TestAChildOutlivesTheThread: a child process continues after the thread that started it has ended.
func TestAChildOutlivesTheThread(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	var err error
	tid := inEndingThread(func() { err = startChild(cmd) })
	if err != nil {
		t.Fatal(err)
	}
	awaitThat(t, "the thread to end", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return os.IsNotExist(err)
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // the kernel has sent its signal earlier
		t.Error(err)
	}
	_ = cmd.Wait() // its state says how
	if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGTERM {
		t.Errorf("ended by %v, want %v", got, syscall.SIGTERM)
	}
}
