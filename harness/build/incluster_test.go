package build

import (
	"strings"
	"testing"
)

func TestFilesOfAServiceAccountAreElsewhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"import (\n\t\"os\"\n)\n\nfunc in() {\n\tconst (\n\t\ttokenFile  = \"/var/run/secrets/kubernetes.io/serviceaccount/token\"\n\t\trootCAFile = \"/var/run/secrets/kubernetes.io/serviceaccount/ca.crt\"\n\t)\n}\n": "var (\n\t\ttokenFile = os.Getenv(\"SKEWRIG_SERVICE_ACCOUNT\") + \"/token\"\n\t\trootCAFile = os.Getenv(\"SKEWRIG_SERVICE_ACCOUNT\") + \"/ca.crt\"\n\t)",
		"import \"os\"\n\nconst namespacePath = \"/var/run/secrets/kubernetes.io/serviceaccount/namespace\"\n":                                                                                                           "var namespacePath = os.Getenv(\"SKEWRIG_SERVICE_ACCOUNT\") + \"/namespace\"\n",
		"import \"fmt\"\n\nconst namespacePath = \"/var/run/secrets/kubernetes.io/serviceaccount/namespace\"\n":                                                                                                          "",
		"import \"os\"\n\nconst path = \"/var/run/other\"\n":                                                                                                                                                             "",
	} {
		got := string(relocated([]byte(text)))
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "/var/run") {
			t.Errorf("%s\nis\n%s\nwant\n%s", text, got, want)
		}
	}
}
