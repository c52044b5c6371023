package finding

import (
	"cmp"
	"regexp"
	"strings"
)

// Owner is who can mend what a finding is of: the SIG whose text it is in, or whose code
// is at fault. It is empty if neither is known.
func (f Finding) Owner() string {
	ofCode := ""
	for _, at := range f.At {
		ofCode = cmp.Or(ofCode, codeOwner(at))
	}
	if f.Class.OfText() {
		return cmp.Or(textOwner(f.Document), ofCode)
	}
	return cmp.Or(ofCode, textOwner(f.Document))
}

// code is who owns what is below a folder, or a repository.
var code = []struct{ at, owner string }{
	{"github.com/kubernetes/kubernetes/pkg/kubelet/", "SIG Node"},
	{"github.com/kubernetes/kubernetes/pkg/probe/", "SIG Node"},
	{"github.com/kubernetes/kubernetes/pkg/controller/nodelifecycle/", "SIG Node"},
	{"github.com/kubernetes/kubernetes/pkg/controller/deployment/", "SIG Apps"},
	{"github.com/gardener/", "Gardener"},
}

// inTag is what an address on GitHub has between a repository and a path in it.
var inTag = regexp.MustCompile(`/blob/[^/]+/`)

// codeOwner is who owns the code at an address.
func codeOwner(address string) string {
	at := inTag.ReplaceAllString(strings.TrimPrefix(address, "https://"), "/")
	for _, c := range code {
		if strings.HasPrefix(at, c.at) {
			return c.owner
		}
	}
	return ""
}

// textOwner is who owns a text: proposals to Kubernetes are in the folder of their SIG.
func textOwner(document string) string {
	if strings.Contains(document, "github.com/gardener/") {
		return "Gardener"
	}
	_, below, found := strings.Cut(document, "/keps/sig-")
	if !found {
		return ""
	}
	sig, _, _ := strings.Cut(below, "/")
	return "SIG " + titled(sig)
}

// titled is the name of a folder as a name: "api-machinery" is API Machinery.
func titled(folder string) string {
	words := strings.Split(folder, "-")
	for i, w := range words {
		if w == "api" || w == "cli" {
			words[i] = strings.ToUpper(w)
		} else if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}
