package shell

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/skewrig/skewrig/fakeservers/image"
)

// tarCall is a command line of tar.
type tarCall struct {
	*session
	operation byte // 'c' or 'x'
	names     []string
}

// runTar plays tar as kubectl cp needs it: c and x, with f -, C, m and the long options
// on owners and permissions, which files here don't have.
func runTar(ctx context.Context, s *session, args []string) int {
	call, err := parseTar(s, args)
	if err == nil && call.operation == 'c' {
		err = call.create(tar.NewWriter(s.stdout))
	} else if err == nil {
		err = call.extract(tar.NewReader(s.input(ctx)))
	}
	if err != nil {
		return s.complain("tar", err)
	}
	return 0
}

func parseTar(s *session, args []string) (*tarCall, error) {
	inner := *s
	call := &tarCall{session: &inner}
	standard := false // the archive is the standard input or output
	for first := true; len(args) > 0; first = false {
		arg := args[0]
		args = args[1:]
		if strings.HasPrefix(arg, "--no-same-") {
			continue
		}
		letters, isOption := strings.CutPrefix(arg, "-")
		if !first && !isOption {
			call.names = append(call.names, arg)
			continue
		}
		for _, letter := range []byte(letters) {
			value := ""
			if strings.IndexByte("fC", letter) >= 0 {
				if len(args) == 0 {
					return nil, fmt.Errorf("-%c requires an argument", letter)
				}
				value, args = args[0], args[1:]
			}
			switch letter {
			case 'c', 'x':
				call.operation = letter
			case 'f':
				standard = value == "-"
			case 'C':
				inner.dir = s.path(value)
			case 'm', 'p', 'o':
			default:
				return nil, fmt.Errorf("skewrig doesn't implement -%c", letter)
			}
		}
	}
	if call.operation == 0 || !standard {
		return nil, errors.New("skewrig implements tar cf - and tar xf -")
	}
	return call, nil
}

// create writes an archive of files and directories. As in any tar, their names in it
// don't begin with a slash.
func (t *tarCall) create(to *tar.Writer) error {
	var errs []error
	for _, name := range t.names {
		errs = append(errs, t.add(to, path.Clean(name)))
	}
	return errors.Join(append(errs, to.Close())...)
}

func (t *tarCall) add(to *tar.Writer, name string) error {
	info, err := t.stat(t.path(name))
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	header.Name = strings.TrimPrefix(name, "/")
	if !info.IsDir() {
		data, err := t.readFile(name)
		if err != nil {
			return err
		}
		header.Size = int64(len(data))
		if err := to.WriteHeader(header); err != nil {
			return err
		}
		_, err = to.Write(data)
		return err
	}
	if header.Name += "/"; header.Name != "/" {
		if err := to.WriteHeader(header); err != nil {
			return err
		}
	}
	children, err := t.files.ReadDir(t.path(name))
	for _, child := range children {
		err = errors.Join(err, t.add(to, path.Join(name, child)))
	}
	return err
}

// extract makes the files and directories of an archive.
func (t *tarCall) extract(from *tar.Reader) error {
	var errs []error
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, t.make(header, from))
	}
}

func (t *tarCall) make(header *tar.Header, content io.Reader) error {
	name := t.path(path.Join(".", header.Name)) // inside the container, whatever it is
	switch header.Typeflag {
	case tar.TypeDir:
		return t.files.Mkdir(name)
	case tar.TypeReg:
		if header.Size > image.MaxFile {
			return &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("more than %d bytes", image.MaxFile)}
		}
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return t.files.WriteFile(name, data)
	default:
		return &fs.PathError{Op: "make", Path: name, Err: errors.New("skewrig has files and directories only")}
	}
}
