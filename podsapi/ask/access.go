package ask

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// denied says what keeps this user from a socket, and whom it lets pass.
func denied(socket string) error {
	path, info := barrier(socket)
	problem := fmt.Sprintf("you, %s, may not connect to %s", userName(os.Geteuid()), socket)
	if info == nil {
		return &Error{Problem: problem, Advice: "run this as root"}
	}
	uid, gid := owners(info)
	advice := asRootOr(uid)
	if groupMay(info) {
		advice += ", or as a member of the group " + groupName(gid)
	}
	if uid == os.Geteuid() {
		advice = fmt.Sprintf("it is yours, run `chmod u+rwx %s`", path)
	}
	problem += fmt.Sprintf(", since %s has the mode %#o and belongs to %s", path, info.Mode().Perm(), userName(uid))
	return &Error{Problem: problem, Advice: advice}
}

// turnedAway says that a server takes connections, but not those of this user, if
// that may be why it ended one.
func turnedAway(socket string, said error) error {
	problem, advice := fmt.Sprintf("the server at %s ended the connection", socket), "it may have stopped: try again"
	if info, err := os.Stat(socket); err == nil && os.Geteuid() != 0 {
		if uid, _ := owners(info); uid != os.Geteuid() {
			problem += " of " + userName(os.Geteuid())
			advice = "if it hasn't just stopped, it doesn't take this user: " + asRootOr(uid)
		}
	}
	return &Error{Problem: problem, Advice: advice, Err: said}
}

// barrier is as much of the way to a socket as one can see: the socket itself if its
// mode is in the way, or else the directory that may not be entered.
func barrier(socket string) (string, fs.FileInfo) {
	path, err := filepath.Abs(socket)
	if err != nil {
		return "", nil
	}
	for {
		if info, err := os.Stat(path); err == nil {
			return path, info
		}
		if path == filepath.Dir(path) {
			return "", nil
		}
		path = filepath.Dir(path)
	}
}

// groupMay reports whether a group may enter a directory, or connect to a socket.
func groupMay(info fs.FileInfo) bool {
	const enter, connect = 0o010, 0o020
	if info.IsDir() {
		return info.Mode()&enter != 0
	}
	return info.Mode()&connect != 0
}

// asRootOr is the advice to be another user, one of two.
func asRootOr(uid int) string {
	if uid == 0 {
		return "run this as root"
	}
	return "run this as root, or as " + userName(uid)
}

func userName(uid int) string {
	known, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return fmt.Sprintf("the user %d", uid)
	}
	return fmt.Sprintf("%s (%d)", known.Username, uid)
}

func groupName(gid int) string {
	known, err := user.LookupGroupId(strconv.Itoa(gid))
	if err != nil {
		return strconv.Itoa(gid)
	}
	return known.Name
}

// owners are the user and the group that a file belongs to.
func owners(info fs.FileInfo) (uid, gid int) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0 // it is none of this platform: root may do anything
	}
	return int(stat.Uid), int(stat.Gid)
}
