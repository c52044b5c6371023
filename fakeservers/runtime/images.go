package runtime

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/skewrig/skewrig/fakeservers/image"
	"github.com/skewrig/skewrig/record"
)

// imageUser is the user that images claim to run as: the "nonroot" of many
// public images. The programs run as whoever runs this process, and a kubelet
// must not refuse a pod with runAsNonRoot for that.
const imageUser = 65532

// storedImage is an image on the node. Its id is the digest of its content,
// under which it may have been pulled by several references. It is never
// changed: another takes its place.
type storedImage struct {
	id   string
	tags []*image.Image // at least one, in the order in which they were pulled
}

// PullImage asks the library for an image and keeps it. An image that the
// library does not have is not found, with the library's message: the kubelet
// shows it in the pod's events.
func (s imageService) PullImage(_ context.Context, req *cri.PullImageRequest) (*cri.PullImageResponse, error) {
	ref := req.GetImage().GetImage()
	subject := ""
	if pod := req.GetSandboxConfig().GetMetadata(); pod != nil {
		subject = pod.Namespace + "/" + pod.Name
	}
	img, err := s.config.Library.Find(ref)
	if err != nil {
		s.record(subject, record.ImagePullFailed{Ref: ref, Error: err.Error()})
		code := codes.Unknown
		if errors.Is(err, image.ErrUnknown) {
			code = codes.NotFound
		}
		return nil, status.Error(code, err.Error()) // the kubelet says of which image
	}
	s.store(img)
	s.record(subject, record.ImagePulled{Ref: ref, Digest: img.Digest})
	return &cri.PullImageResponse{ImageRef: img.Digest}, nil
}

// store keeps an image under its reference, which names no other image from
// then on.
func (r *Runtime) store(img *image.Image) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sameReference := func(t *image.Image) bool { return t.Reference == img.Reference }
	for id, other := range r.images {
		if id == img.Digest || !slices.ContainsFunc(other.tags, sameReference) {
			continue
		}
		if left := slices.DeleteFunc(slices.Clone(other.tags), sameReference); len(left) > 0 {
			r.images[id] = &storedImage{id: id, tags: left}
		} else {
			delete(r.images, id)
		}
	}
	var tags []*image.Image
	if stored, ok := r.images[img.Digest]; ok {
		tags = stored.tags
	}
	if !slices.ContainsFunc(tags, sameReference) {
		r.images[img.Digest] = &storedImage{id: img.Digest, tags: append(slices.Clone(tags), img)}
	}
}

// find returns the image on the node that ref names, and under which of its
// references, or nil. The name may be an image's id, a reference with its
// digest, or any reference that the library resolves to one that was pulled.
func (r *Runtime) find(ref string) (*storedImage, *image.Image) {
	if stored, img := r.findName(ref); stored != nil {
		return stored, img
	}
	img, err := r.config.Library.Find(ref)
	if err != nil {
		return nil, nil // what can't be pulled is not on the node either
	}
	return r.findName(img.Reference)
}

func (r *Runtime) findName(name string) (*storedImage, *image.Image) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, stored := range r.images {
		if name == stored.id || "sha256:"+name == stored.id {
			return stored, stored.tags[0]
		}
		for _, t := range stored.tags {
			if name == t.Reference || name == repoDigest(t) {
				return stored, t
			}
		}
	}
	return nil, nil
}

// resolve returns the image to run a container from. A kubelet names it by its
// id, and says besides what the user wrote: of an image's references, that one
// is meant.
func (r *Runtime) resolve(spec *cri.ImageSpec) (*image.Image, error) {
	stored, img := r.find(spec.GetImage())
	if stored == nil {
		return nil, status.Errorf(codes.NotFound, "image %q has not been pulled", spec.GetImage())
	}
	if user := spec.GetUserSpecifiedImage(); user != "" {
		if same, meant := r.find(user); same != nil && same.id == stored.id {
			return meant, nil
		}
	}
	return img, nil
}

// ListImages lists the images on the node, in the order of their ids.
func (s imageService) ListImages(_ context.Context, req *cri.ListImagesRequest) (*cri.ListImagesResponse, error) {
	resp := &cri.ListImagesResponse{}
	if ref := req.GetFilter().GetImage().GetImage(); ref != "" {
		if stored, _ := s.find(ref); stored != nil {
			resp.Images = append(resp.Images, imageMessage(stored))
		}
		return resp, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.images)) {
		resp.Images = append(resp.Images, imageMessage(s.images[id]))
	}
	return resp, nil
}

// ImageStatus returns an image on the node, or none if it is not there.
func (s imageService) ImageStatus(_ context.Context, req *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	stored, _ := s.find(req.GetImage().GetImage())
	if stored == nil {
		return &cri.ImageStatusResponse{}, nil
	}
	return &cri.ImageStatusResponse{Image: imageMessage(stored)}, nil
}

// RemoveImage forgets an image with all its references. An image that is gone
// is left alone.
func (s imageService) RemoveImage(_ context.Context, req *cri.RemoveImageRequest) (*cri.RemoveImageResponse, error) {
	if stored, _ := s.find(req.GetImage().GetImage()); stored != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.images, stored.id)
	}
	return &cri.RemoveImageResponse{}, nil
}

// ImageFsInfo reports where images and containers would be stored: on the file
// system of the runtime's socket. Images take the space that they claim, and
// containers that of their writable layers. A kubelet needs figures for both kinds, or its
// eviction manager reports an error every ten seconds.
func (s imageService) ImageFsInfo(context.Context, *cri.ImageFsInfoRequest) (*cri.ImageFsInfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var imageBytes uint64
	for _, stored := range s.images {
		imageBytes += imageSize(stored)
	}
	var layerBytes uint64
	for _, c := range s.containers {
		layerBytes += c.layerBytes()
	}
	now := time.Now().UnixNano()
	return &cri.ImageFsInfoResponse{
		ImageFilesystems:     []*cri.FilesystemUsage{s.usage(now, imageBytes, len(s.images))},
		ContainerFilesystems: []*cri.FilesystemUsage{s.usage(now, layerBytes, len(s.containers))},
	}, nil
}

func imageMessage(stored *storedImage) *cri.Image {
	m := &cri.Image{Id: stored.id, Size: imageSize(stored), Uid: &cri.Int64Value{Value: imageUser}}
	for _, t := range stored.tags {
		if !strings.Contains(t.Reference, "@") {
			m.RepoTags = append(m.RepoTags, t.Reference)
		}
		if digest := repoDigest(t); !slices.Contains(m.RepoDigests, digest) {
			m.RepoDigests = append(m.RepoDigests, digest)
		}
	}
	return m
}

// imageSize returns an image's size, which must not be zero in CRI.
func imageSize(stored *storedImage) uint64 { return max(stored.tags[0].SizeBytes, 1) }

// repoDigest returns the reference to an image by its digest,
// "registry/name@sha256:...".
func repoDigest(img *image.Image) string {
	repository, _, _ := strings.Cut(img.Reference, "@")
	if tag := strings.LastIndexByte(repository, ':'); tag > strings.LastIndexByte(repository, '/') {
		repository = repository[:tag]
	}
	return repository + "@" + img.Digest
}
