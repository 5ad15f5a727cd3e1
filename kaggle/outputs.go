package kaggle

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// Page sizes and an end to paging that goes on for ever.
const (
	outputPage = 200
	listPage   = 100
	pageLimit  = 10000
)

// pager walks over pages and refuses a token that was seen before.
type pager struct {
	op    string
	seen  map[string]bool
	pages int
}

// next takes the token of the page just read: more is false after the last page.
func (p *pager) next(token string) (more bool, err error) {
	if token == "" {
		return false, nil
	}
	if p.pages++; p.seen[token] || p.pages > pageLimit {
		return false, malformed(p.op, fmt.Sprintf("the page token %q came twice, so the list cannot be read to its end; what was listed is kept", snippet([]byte(token))), nil, nil)
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[token] = true
	return true, nil
}

// Outputs lists everything a version saved (0 = the newest), over all pages, each name once, with the log of the first
// page. Files exist only when the run has ended. When a later page fails, or a page token repeats (ErrMalformed), the
// listing so far is returned with the error and Incomplete set.
func (c *Client) Outputs(ctx context.Context, ref Ref, version int) (OutputListing, error) {
	const op = "list the output files"
	if err := ref.check(op); err != nil {
		return OutputListing{}, err
	}
	var list OutputListing
	req := OutputsRequest{UserName: ref.Owner, KernelSlug: ref.Slug, PageSize: outputPage, VersionLabel: versionLabel(version)}
	pages, names := pager{op: op}, map[string]bool{}
	for first := true; ; first = false {
		var resp OutputsResponse
		if err := c.call(ctx, rpc{op: op, path: PathOutputs, in: req, out: &resp, retry: true}); err != nil {
			list.Incomplete = !first
			return list, err
		}
		if first {
			list.Log = resp.Log
		}
		for _, f := range resp.Files {
			if f.FileName != "" && !names[f.FileName] {
				names[f.FileName] = true
				list.Files = append(list.Files, OutputFile{Name: f.FileName, URL: f.URL})
			}
		}
		more, err := pages.next(resp.NextPageToken)
		if !more {
			list.Incomplete = err != nil
			return list, err
		}
		req.PageToken = resp.NextPageToken
	}
}

// Match gives the files that a pattern of path.Match selects; a pattern without a slash is held against the last part of
// the name, so that *.csv finds fold0/oof.csv. "" selects all.
func (l OutputListing) Match(pattern string) ([]OutputFile, error) {
	var out []OutputFile
	for _, f := range l.Files {
		name := f.Name
		if !strings.Contains(pattern, "/") {
			name = path.Base(name)
		}
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q cannot be read: %w", pattern, err)
		}
		if ok || pattern == "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// KernelFiles lists output files with their sizes, over all pages. It was reported empty for kernels that have files
// (unverified), so [Client.Outputs] stays the authority on what exists.
func (c *Client) KernelFiles(ctx context.Context, ref Ref, version int) ([]KernelFile, error) {
	const op = "list the kernel's files"
	if err := ref.check(op); err != nil {
		return nil, err
	}
	var out []KernelFile
	req := KernelFilesRequest{UserName: ref.Owner, KernelSlug: ref.Slug, PageSize: outputPage, VersionLabel: versionLabel(version)}
	for pages := (pager{op: op}); ; {
		var resp KernelFilesResponse
		if err := c.call(ctx, rpc{op: op, path: PathKernelFiles, in: req, out: &resp, retry: true}); err != nil {
			return out, err
		}
		for _, f := range resp.Files {
			out = append(out, KernelFile{Name: f.Name, Size: int64(f.Size), Created: f.CreationDate})
		}
		more, err := pages.next(resp.NextPageToken)
		if !more {
			return out, err
		}
		req.PageToken = resp.NextPageToken
	}
}

// OutputURL asks for a signed URL of one file of a version; version 0 is the newest. It serves as DownloadOptions.Refresh
// when a listing's URL has expired. The official tool does not use this method; that it works is hearsay.
func (c *Client) OutputURL(ctx context.Context, ref Ref, version int, name string) (string, error) {
	const op = "ask for a file's address"
	if err := ref.check(op); err != nil {
		return "", err
	}
	var to string
	req := DownloadOutputRequest{OwnerSlug: ref.Owner, KernelSlug: ref.Slug, FilePath: name, VersionNumber: max(0, version)}
	err := c.call(ctx, rpc{op: op, path: PathDownloadOutput, in: req, location: &to, retry: true})
	if err == nil && to == "" {
		err = malformed(op, "the answer is not a redirect", nil, nil)
	}
	return to, err
}
