package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/record"
)

func (g *rig) pull(t *testing.T, ref string) string {
	t.Helper()
	resp, err := g.images.PullImage(t.Context(), &cri.PullImageRequest{
		Image:         &cri.ImageSpec{Image: ref},
		SandboxConfig: podConfig(g, "web"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp.ImageRef
}

func (g *rig) imageStatus(t *testing.T, ref string) *cri.Image {
	t.Helper()
	resp, err := g.images.ImageStatus(t.Context(), &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: ref}})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Image
}

func (g *rig) listImages(t *testing.T, ref string) []string {
	t.Helper()
	resp, err := g.images.ListImages(t.Context(), &cri.ListImagesRequest{Filter: &cri.ImageFilter{Image: &cri.ImageSpec{Image: ref}}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, img := range resp.Images {
		ids = append(ids, img.Id)
	}
	return ids
}

func TestImagesAreKnownByAllTheirNames(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	if got := g.imageStatus(t, "test"); got != nil {
		t.Errorf("before it is pulled: %v", got)
	}
	for _, ref := range []string{"test:1", "test", "other:2", "test:1"} {
		if id := g.pull(t, ref); id != testDigest {
			t.Errorf("pulling %s returned %s, want the image's id", ref, id)
		}
	}
	for _, name := range []string{
		"test", "test:1", "registry.test/test:1", "other:2", testDigest, testDigest[len("sha256:"):],
		"registry.test/test@" + testDigest, "registry.test/other@" + testDigest,
	} {
		got := g.imageStatus(t, name)
		if got == nil {
			t.Errorf("%s is not known", name)
			continue
		}
		tags := []string{"registry.test/test:1", "registry.test/test:latest", "registry.test/other:2"}
		digests := []string{"registry.test/test@" + testDigest, "registry.test/other@" + testDigest}
		if diff := cmp.Diff([][]string{tags, digests}, [][]string{got.RepoTags, got.RepoDigests}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.Id != testDigest || got.Size != 1000 || got.Uid.GetValue() == 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := g.imageStatus(t, "other"); got != nil {
		t.Errorf("a tag that was not pulled is there: %v", got)
	}
}

func TestListAndRemoveImages(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.pull(t, "bare")
	g.pull(t, "test")
	g.pull(t, "other")
	for ref, want := range map[string][]string{
		"":        {testDigest, bareDigest},
		"bare":    {bareDigest},
		"other":   {testDigest},
		"missing": nil,
	} {
		if diff := cmp.Diff(want, g.listImages(t, ref)); diff != "" {
			t.Errorf("list of %q (-want +got):\n%s", ref, diff)
		}
	}
	if got := g.imageStatus(t, "bare"); got.Size == 0 {
		t.Errorf("an image of size zero: %v", got)
	}
	for _, ref := range []string{"other", "other", "missing"} {
		if _, err := g.images.RemoveImage(t.Context(), &cri.RemoveImageRequest{Image: &cri.ImageSpec{Image: ref}}); err != nil {
			t.Errorf("removing %s: %v", ref, err)
		}
	}
	if diff := cmp.Diff([]string{bareDigest}, g.listImages(t, "")); diff != "" {
		t.Errorf("removing one reference removes all (-want +got):\n%s", diff)
	}
}

func TestPullsThatFail(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for ref, tc := range map[string]struct {
		code    codes.Code
		message string
	}{
		"mystery": {codes.NotFound, `no program implements this image: mystery; there is test`},
		"broken":  {codes.Unknown, `the registry is on fire`},
	} {
		_, err := g.images.PullImage(t.Context(), &cri.PullImageRequest{Image: &cri.ImageSpec{Image: ref}, SandboxConfig: podConfig(g, ref)})
		wantCode(t, err, tc.code, tc.message)
	}
	failed := map[string]string{}
	for e, p := range record.All[record.ImagePullFailed](g.history.Events()) {
		failed[e.Subject] = p.Ref + ": " + p.Error
	}
	want := map[string]string{
		"default/mystery": "mystery: no program implements this image: mystery; there is test",
		"default/broken":  "broken: the registry is on fire",
	}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestSuccessfulPullIsRecorded(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.pull(t, "test:1")
	var pulled []record.ImagePulled
	for e, p := range record.All[record.ImagePulled](g.history.Events()) {
		if e.Subject != "default/web" {
			t.Errorf("subject %q", e.Subject)
		}
		pulled = append(pulled, p)
	}
	if diff := cmp.Diff([]record.ImagePulled{{Ref: "test:1", Digest: testDigest}}, pulled); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A kubelet creates containers by the image's id. Of the references with that
// id, the pod's status must show the one that the pod names.
func TestContainerShowsTheReferenceThatThePodNames(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	pod := g.pod(t, "web")
	g.pull(t, "test:1")
	g.pull(t, "other:2")
	for user, want := range map[string]string{
		"other:2": "registry.test/other:2",
		"test:1":  "registry.test/test:1",
		"":        "registry.test/test:1",
		"test:9":  "registry.test/test:1", // not pulled
	} {
		config := containerConfig("app-"+user, "exit", "0")
		config.Image = &cri.ImageSpec{Image: testDigest, UserSpecifiedImage: user}
		resp, err := g.CreateContainer(t.Context(), &cri.CreateContainerRequest{PodSandboxId: pod, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.status(t, resp.ContainerId); got.Image.Image != want || got.ImageId != testDigest {
			t.Errorf("for %q: image %s, id %s, want %s", user, got.Image.Image, got.ImageId, want)
		}
	}
}

func TestRepoDigest(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"registry.test/test:1":                  "registry.test/test@",
		"registry.test:5000/a/test":             "registry.test:5000/a/test@",
		"registry.test:5000/test:1":             "registry.test:5000/test@",
		"registry.test/test@" + testDigest:      "registry.test/test@",
		"registry.test/test:1@" + testDigest:    "registry.test/test@",
		"registry.test:5000/test@" + testDigest: "registry.test:5000/test@",
	} {
		img := mustFind(t, "test")
		img.Reference = reference
		if got := repoDigest(img); got != want+testDigest {
			t.Errorf("%s: %s, want %s...", reference, got, want)
		}
	}
}

func TestImageFsInfo(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	g.create(t, g.pod(t, "web"), containerConfig("app", "exit", "0"))
	info, err := g.images.ImageFsInfo(t.Context(), &cri.ImageFsInfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(info.ImageFilesystems) != 1 || len(info.ContainerFilesystems) != 1 {
		t.Fatalf("info %v, want one file system of each kind", info)
	}
	images, containers := info.ImageFilesystems[0], info.ContainerFilesystems[0]
	if images.UsedBytes.Value != 1000 || containers.UsedBytes.Value != 4096 {
		t.Errorf("images use %v, containers %v", images.UsedBytes, containers.UsedBytes)
	}
	for _, usage := range []*cri.FilesystemUsage{images, containers} {
		if usage.Timestamp <= 0 || usage.InodesUsed.GetValue() != 1 {
			t.Errorf("usage %v", usage)
		}
	}
	if images.FsId.Mountpoint != containers.FsId.Mountpoint {
		t.Errorf("mountpoints %s and %s: a kubelet would look for two disks", images.FsId.Mountpoint, containers.FsId.Mountpoint)
	}
	if mounted, err := mountpoint(images.FsId.Mountpoint); err != nil || mounted != images.FsId.Mountpoint {
		t.Errorf("%s is no mountpoint: its file system is mounted at %s (error %v)", images.FsId.Mountpoint, mounted, err)
	}
}

func TestAReferenceNamesOneImage(t *testing.T) {
	t.Parallel()
	r := newRuntime(configOn("cri.sock"), "/")
	old, moved := mustFind(t, "test:1"), mustFind(t, "test:1")
	moved.Digest = bareDigest
	r.store(old)
	r.store(mustFind(t, "test:2"))
	r.store(moved)
	for ref, want := range map[string]string{"registry.test/test:1": bareDigest, "registry.test/test:2": testDigest} {
		if stored, _ := r.findName(ref); stored == nil || stored.id != want {
			t.Errorf("%s names %+v, want %s", ref, stored, want)
		}
	}
	r.store(old)
	if stored, _ := r.findName(bareDigest); stored != nil {
		t.Errorf("an image without references is kept: %+v", stored)
	}
}
