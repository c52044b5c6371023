package process

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Confinement is what a process, and all that it starts, may do with the files of this machine. The kernel sees to it
// with Landlock (landlock(7)). It takes no privilege.
type Confinement struct {
	// Dir is the only directory below which the process may change files.
	Dir string
	// Read are other files and directories that it may read. Those of the system that programs read anyway are
	// among them, such as /proc and the certificates of authorities.
	Read []string
}

// Confines reports whether the kernel can confine processes. It can since Linux 5.19, unless Landlock is not compiled
// in, or switched off.
func Confines() bool { return landlock() >= minLandlock }

// minLandlock is the first version of Landlock with which files can move between directories.
const minLandlock = 2

// landlock is the version of Landlock that the kernel has, or less than 1.
var landlock = sync.OnceValue(func() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
})

// What can be done with files, as Landlock tells it apart.
const (
	reads   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rewrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	changes = rewrite | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// ofFiles are those that a rule of a file may have; the others are of directories.
	ofFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | rewrite | unix.LANDLOCK_ACCESS_FS_EXECUTE
)

// systemFiles are the files of the system that a process may read. Of those that are not there, nothing is said.
var systemFiles = []string{
	"/proc", "/sys", "/dev", "/usr", "/lib", "/lib64", "/nix/store", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts",
	"/etc/nsswitch.conf", "/etc/localtime", "/etc/mime.types", "/etc/passwd", "/etc/group", "/etc/machine-id", "/etc/os-release",
}

// start starts a command that is confined, in a process group of its own. It ends with skewrig: the thread that starts
// it, and is confined as well, lives until ended is closed.
func (c *Confinement) start(cmd *exec.Cmd, ended <-chan struct{}) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if cmd.Err != nil {
		return cmd.Err
	}
	result := make(chan error)
	onThread(func() {
		err := c.enter(cmd.Path)
		if err == nil {
			err = cmd.Start()
		}
		result <- err
		if err == nil {
			<-ended
		}
	})
	return <-result
}

// enter confines this thread for good.
func (c *Confinement) enter(program string) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: reads | changes | unix.LANDLOCK_ACCESS_FS_EXECUTE}
	if landlock() < 3 {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if landlock() >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	// What an older kernel does not know of it is 0.
	set, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if failed != 0 {
		return fmt.Errorf("confining a process: %w", failed)
	}
	defer os.NewFile(set, "landlock").Close()
	allow := func(path string, access uint64) error { return allow(int(set), path, access&attr.Handled_access_fs) }
	failures := []error{allow(c.Dir, reads|changes), allow("/dev/null", reads|rewrite)}
	for _, path := range slices.Concat(c.Read, systemFiles) {
		failures = append(failures, allow(path, reads))
	}
	for _, path := range executed(program) {
		failures = append(failures, allow(path, reads|unix.LANDLOCK_ACCESS_FS_EXECUTE))
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("confining a process: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confining a process: %w", err)
	}
	if _, _, failed := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); failed != 0 {
		return fmt.Errorf("confining a process: %w", failed)
	}
	return nil
}

// allow adds a rule to a set: what may be done with a file, or with all that is below a directory.
func allow(set int, path string, access uint64) error {
	file, err := os.OpenFile(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // it can't be read in any case
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		access &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(file.Fd())}
	if _, _, failed := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); failed != 0 {
		return fmt.Errorf("%s: %w", path, failed)
	}
	return nil
}

// executed are the files that the kernel executes when it starts a program: that, and its dynamic linker if it has one.
func executed(program string) []string {
	all := []string{program}
	file, err := elf.Open(program)
	if err != nil { // starting it says why
		return all
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type != elf.PT_INTERP || part.Filesz > unix.PathMax {
			continue
		}
		name := make([]byte, part.Filesz)
		if _, err := part.ReadAt(name, 0); err == nil {
			all = append(all, filepath.Clean(strings.TrimRight(string(name), "\x00")))
		}
	}
	return all
}

// onThread calls a function on an operating system thread that no other goroutine gets, and that ends with it.
func onThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			do()
			return
		}
		// The main thread never ends: this goroutine holds it until the function has another one.
		has := make(chan struct{})
		onThread(func() {
			close(has)
			do()
		})
		<-has
		runtime.UnlockOSThread()
	}()
}
