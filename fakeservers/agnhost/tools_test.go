package agnhost_test

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/skewrig/skewrig/fakeservers/image"
)

func TestTools(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"mkdir -p /a/b; test -d /a && ls /a; ls /a/b":                                          "b\n",
		"mkdir /a; mkdir /a || mkdir -p /a && echo there":                                      "there\n",
		"mkdir /a && touch /a/f && rm /a/f && ls / && rm -r /a && ls":                          "a\n",
		"touch /f; mkdir -p /f || echo a file":                                                 "a file\n",
		"mkdir -m 700 /x || rm -i /x || touch -d now /x || mkdir --parents /x || ls /":         "",
		"touch /f; mkdir -p /f/a || echo x >/f/a || touch /f/a/b || cat /f/a || echo no":       "no\n",
		"mkdir /d; echo x >/d || echo a directory":                                             "a directory\n",
		"printf 'b\\na\\nc\\na' | sort":                                                        "a\na\nb\nc\n",
		"printf 'b\\na\\n' >/f; sort /f | grep -v b; grep -q a /f && echo found":               "a\nfound\n",
		"printf 'CONFIG_1=a\\nB=b\\n' | grep -E '(CONFIG_1|CONFIG_2)'; echo $?":                "CONFIG_1=a\n0\n",
		"echo x | grep -i X; echo x | grep y || echo $?; grep -E '(' /f || echo $?":            "x\n1\n2\n",
		"grep x /none || echo $?; grep -r x / || echo $?; grep || echo $?; sort -n || echo no": "2\n2\n2\nno\n",
		"Z=1 env | tail -n 1": "Z=1\n",
		"env A=1 || echo no":  "no\n",
		"hostname":            "web-0\n",
		"date >/now && test -s /now && date -u || echo no":                                                           "no\n",
		"printf '1\\n2\\n3' | tail -n 2":                                                                             "2\n3",
		"printf '1\\n2\\n' | tail -n1":                                                                               "2\n",
		"printf abc | tail -c+2; printf abc | tail -c +9":                                                            "bc",
		"echo hello >>/f; wc -l /f | awk {'print $1'}":                                                               "1\n",
		"printf 'a b\\nc' >/f; wc -l /f; wc -w </f; wc -c /f":                                                        "1 /f\n3\n5 /f\n",
		"wc /f || wc -l /none || wc -l /f /f || wc -m /f || echo no":                                                 "no\n",
		"printf 'a:b\\nc:d\\n' >/f; awk -F: -v n=2 '{print $n, NR}' /f":                                              "b 1\nd 2\n",
		"Z=1; export Z; awk 'BEGIN {print ENVIRON[\"Z\"], length(ENVIRON); exit 3}'; echo $?":                        "1 2\n3\n",
		"awk || echo $?; awk '{' || echo $?; awk -f /f x || echo $?; awk 1 /none || echo $?; awk 1 /f /f || echo $?": "2\n2\n2\n2\n2\n",
		"awk 'BEGIN {system(\"touch /x\")}' || awk 'BEGIN {print >\"/x\"}' || awk 'BEGIN {getline <\"/etc/passwd\"; print}' || ls /x || echo no": "no\n",
		"printf '1\\n2\\n3\\n' >/f; head -n 2 /f; head -n 1 </f; head /f":                                                                        "1\n2\n1\n1\n2\n3\n",
		"head -c 3 /f || head -n x /f || head -n 1 /none || echo no":                                                                             "no\n",
		"printf 'a\\tb\\nc\\n' | cut -f2; printf 'a:b:c\\nd:e\\n' >/f; cut -d: -f 3 /f":                                                          "b\nc\nc\n\n",
		"cut -f 1-2 /f || cut -f 0 /f || cut -c 1 /f || cut /f || cut -f 1 /none || echo no":                                                     "no\n",
		"id -u; id || id -n -u || echo no":                                                                                                       "65534\nno\n",
		"mkdir -p /proc/sys/kernel; echo 1 >/proc/sys/kernel/a; sysctl kernel.a kernel/a":                                                        "kernel.a = 1\nkernel.a = 1\n",
		"sysctl kernel.none || sysctl kernel.a=1 || sysctl -w kernel.a || echo no":                                                               "no\n",
		"tail -f /x || tail -c 3 /x || echo no":                                                                                                  "no\n",
		"mkdir -p /a/e; echo x >/a/f; tar cf - /a | tar xf - -C /b; ls /b/a":                                                                     "e\nf\n",
		"tar cf - /none >/x || echo no":                                                                                                          "no\n",
		"cd /tmp; echo x >f; tar -cf - f | (mkdir /b; cd /b; tar -x -f -); cat /b/f":                                                             "x\n",
		"tar czf - /tmp || tar cf /x /tmp || tar cf || echo no":                                                                                  "no\n",
	} {
		c := &container{t: t, process: &image.Process{Container: "default/web-0/app", UID: 65534}}
		c.image = run(t, spec{args: []string{"entrypoint-tester"}}).image
		if code, stdout, stderr := c.exec("sh", "-c", script); code != 0 || stdout != want {
			t.Errorf("%s: %d, %q, %q, want %q", script, code, stdout, stderr, want)
		}
	}
}

// A hostile archive stays in the container, and what can't be made is said.
func TestTarOfAStranger(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, header := range []tar.Header{
		{Name: "../../../../etc/passwd", Typeflag: tar.TypeReg, Size: 1},
		{Name: "/abs", Typeflag: tar.TypeReg, Size: 1},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "large", Typeflag: tar.TypeReg, Size: image.MaxFile + 1},
		{Name: "last", Typeflag: tar.TypeReg, Size: 1},
	} {
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, header.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c := run(t, spec{})
	var stderr strings.Builder
	code := c.image.Exec(t.Context(), c.process, []string{"tar", "xf", "-", "-C", "/d"}, image.Streams{Stdin: &archive, Stdout: io.Discard, Stderr: &stderr})
	if code != 1 || !strings.Contains(stderr.String(), "make /d/link: skewrig has files and directories only") || !strings.Contains(stderr.String(), "write /d/large: more than") {
		t.Errorf("exit code %d, %s", code, &stderr)
	}
	if _, stdout, _ := c.exec("ls", "/", "/etc", "/d"); stdout != "d\netc\npasswd\nabs\nlast\n" {
		t.Errorf("in the container are %q", stdout)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
