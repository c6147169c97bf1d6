package oci

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/aircoding/air/internal/canon"
)

// Pulled is a bundle whose bytes are all on this machine and verified.
type Pulled struct {
	Reference  string
	Registry   string
	Repository string
	Tag        string // empty when pulled by digest
	Digest     string
	Manifest   []byte
	Config     []byte
	Layers     []Stored // layer 0 is the module
	Contacted  bool     // the registry was asked; false when all of it was here
}

// Stored is the content of one layer as a file of the cache, decompressed where the layer
// is compressed; Digest and Size are the file's. The file is shared: never write to it.
type Stored struct {
	Title  string
	Digest string
	Size   int64
	Path   string
}

// Pull fetches a bundle by tag or digest. A tag is resolved once, all that follows is
// by digest. A digest that is wholly in the cache makes no request.
func (c *Client) Pull(ctx context.Context, reference string) (Pulled, error) {
	pulled, err := c.pull(ctx, reference)
	return pulled, continued(during("pulling", reference, err))
}

// continued tells what becomes of a pull that this machine or its user stopped.
func continued(err error) error {
	var e *Error
	if errors.As(err, &e) && (e.Kind == KindCancelled || e.Kind == KindTimeout || e.Kind == KindDiskFull) {
		e.Hint = strings.TrimPrefix(e.Hint+"; "+goesOn, "; ")
	}
	return err
}

func (c *Client) pull(ctx context.Context, reference string) (Pulled, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return Pulled{}, err
	}
	p := &pull{client: c, ref: ref, cache: cache{c.options.CacheDir}}
	defer p.close()
	raw, parsed, err := p.manifest(ctx)
	if err != nil {
		return Pulled{}, err
	}
	config, err := p.config(ctx, parsed.Config)
	if err != nil {
		return Pulled{}, err
	}
	layers, err := p.layers(ctx, parsed.Layers)
	if err != nil {
		return Pulled{}, err
	}
	return Pulled{
		Reference: reference, Registry: ref.Registry, Repository: ref.Repository, Tag: ref.Tag,
		Digest: parsed.Digest, Manifest: raw, Config: config, Layers: layers, Contacted: p.open != nil,
	}, nil
}

// pull is one Pull under way. The connection is made when something is missing.
type pull struct {
	client *Client
	ref    Reference
	cache  cache

	mu   sync.Mutex
	open *session
}

func (p *pull) session(ctx context.Context) (*session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil {
		return p.open, nil
	}
	s, err := p.client.open(ctx, p.ref, transport.PullScope)
	if err != nil {
		return nil, err
	}
	p.open = s
	return s, nil
}

func (p *pull) close() {
	if p.open != nil {
		p.open.close()
	}
}

func (p *pull) manifest(ctx context.Context) ([]byte, Parsed, error) {
	if p.ref.Digest != "" {
		raw, ok, err := p.cachedManifest()
		if err != nil {
			return nil, Parsed{}, err
		}
		if ok {
			parsed, err := ParseManifest(raw)
			return raw, parsed, err
		}
	}
	s, err := p.session(ctx)
	if err != nil {
		return nil, Parsed{}, err
	}
	raw, err := s.manifest(ctx)
	if err != nil {
		return nil, Parsed{}, err
	}
	parsed, err := ParseManifest(raw)
	if err != nil {
		return nil, Parsed{}, err
	}
	d := Descriptor{Digest: parsed.Digest, Size: int64(len(raw))}
	_, err = p.cache.ensure(ctx, d, func(f *blobFile) error {
		_, err := f.Write(raw)
		return err
	})
	return raw, parsed, err
}

func (p *pull) cachedManifest() (raw []byte, ok bool, err error) {
	info, err := os.Stat(p.cache.path(p.ref.Digest))
	if err != nil || info.Size() > MaxManifest {
		return nil, false, nil
	}
	d := Descriptor{Digest: p.ref.Digest, Size: info.Size()}
	if ok, err := p.cache.has(d); !ok || err != nil {
		return nil, false, err
	}
	if raw, err = os.ReadFile(p.cache.path(p.ref.Digest)); err != nil {
		return nil, false, localError(err)
	}
	return raw, canon.Digest(raw) == p.ref.Digest, nil
}

func (p *pull) config(ctx context.Context, d Descriptor) ([]byte, error) {
	if d.Data != nil {
		return d.Data, nil
	}
	d.Title = manifestJSON
	path, err := p.blob(ctx, d)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, localError(err)
	}
	return raw, nil
}

func (p *pull) layers(ctx context.Context, descriptors []Descriptor) ([]Stored, error) {
	if err := p.cache.room(withContents(descriptors)); err != nil {
		return nil, err
	}
	layers := make([]Stored, len(descriptors))
	err := together(ctx, len(descriptors), func(ctx context.Context, i int) error {
		d := descriptors[i]
		path, err := p.blob(ctx, d)
		if err == nil && d.compressed() {
			path, err = p.cache.decompress(ctx, d, path)
		}
		layers[i] = Stored{Title: d.Title, Digest: d.Content.Digest, Size: d.Content.Size, Path: path}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, localError(ctx.Err())
	}
	return layers, err
}

// blob returns the file of a blob, from the cache or from the registry.
func (p *pull) blob(ctx context.Context, d Descriptor) (string, error) {
	return p.cache.obtain(ctx, d, func(f *blobFile) error {
		if err := f.resume(); err != nil || f.whole() {
			return err
		}
		if f.verifier.n > worthwhile {
			p.client.say("continuing %s at %d %%", d.Title, f.verifier.n*100/d.Size)
		}
		s, err := p.session(ctx)
		if err != nil {
			return err
		}
		bar := p.client.bar(d.Size, d.Title)
		defer bar.Close()
		return s.explain(ctx, s.fetch(ctx, d, f, bar))
	})
}

// withContents lists the files that layers become.
func withContents(layers []Descriptor) []Descriptor {
	files := slices.Clone(layers)
	for _, d := range layers {
		if d.compressed() {
			files = append(files, d.content())
		}
	}
	return files
}
