package kaggle

import (
	"context"
	"errors"
	"strings"
)

// ListKernels gives one page of kernels and the token of the next, "" after the last. Deleted kernels can linger in it.
// For a run that has not ended, LastRunTime is its start.
func (c *Client) ListKernels(ctx context.Context, req ListKernelsRequest) ([]KernelMeta, string, error) {
	if req.SortBy == SortHotness {
		req.SortBy = "" // value 0 is left out on the wire
	}
	if req.PageSize == 0 {
		req.PageSize = listPage
	}
	var resp ListKernelsResponse
	if err := c.call(ctx, rpc{op: "list kernels", path: PathListKernels, in: req, out: &resp, retry: true}); err != nil {
		return nil, "", err
	}
	var out []KernelMeta
	for _, k := range resp.Kernels {
		out = append(out, kernelMeta(k))
	}
	return out, resp.NextPageToken, nil
}

// GetKernel pulls metadata and source of a version; 0 is the newest. The answer carries the whole source: not for polling.
func (c *Client) GetKernel(ctx context.Context, ref Ref, version int) (Kernel, error) {
	const op = "get the kernel"
	if err := ref.check(op); err != nil {
		return Kernel{}, err
	}
	var resp GetKernelResponse
	req := GetKernelRequest{UserName: ref.Owner, KernelSlug: ref.Slug, VersionLabel: versionLabel(version)}
	if err := c.call(ctx, rpc{op: op, path: PathGetKernel, in: req, out: &resp, retry: true}); err != nil {
		return Kernel{}, err
	}
	k := Kernel{Meta: kernelMeta(resp.Metadata), Source: resp.Blob.Source}
	if k.Meta.Ref.IsZero() {
		k.Meta.Ref = ref
	}
	if k.Meta.Language == "" {
		k.Meta.Language = resp.Blob.Language
	}
	if k.Meta.KernelType == "" {
		k.Meta.KernelType = resp.Blob.KernelType
	}
	return k, nil
}

// kernelMeta keeps an entry whose address cannot be read, with a zero Ref.
func kernelMeta(k KernelMetadata) KernelMeta {
	ref, _ := ParseRef(k.Ref)
	return KernelMeta{
		ID: int64(k.ID), Ref: ref, Title: k.Title, Author: k.Author, Language: k.Language, KernelType: k.KernelType,
		MachineShape: k.MachineShape, DockerImage: k.DockerImage, LastRunTime: k.LastRunTime.Time,
		CurrentVersion: int(k.CurrentVersionNumber), IsPrivate: k.IsPrivate, EnableGPU: k.EnableGPU, EnableTPU: k.EnableTPU,
		EnableInternet: k.EnableInternet, DatasetSources: k.DatasetDataSources, CompetitionSources: k.CompetitionDataSources,
		KernelSources: k.KernelDataSources, ModelSources: k.ModelDataSources,
	}
}

// DeleteKernel deletes a kernel with all its versions and outputs; there is no undo. A kernel that is already gone is no
// error, so it is safe to repeat, and is repeated. A failure can come inside HTTP 200, and is one here.
func (c *Client) DeleteKernel(ctx context.Context, ref Ref) error {
	const op = "delete the kernel"
	if err := ref.check(op); err != nil {
		return err
	}
	var resp ErrorMessageResponse
	req := DeleteKernelRequest{UserName: ref.Owner, KernelSlug: ref.Slug}
	err := c.call(ctx, rpc{op: op, path: PathDeleteKernel, in: req, out: &resp, retry: true, emptyOK: true})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return orMessage(op, err, resp.ErrorMessage)
}

// CancelSession stops a session by its id. No public answer contains that id (a version number is not one), so this is of
// use only to somebody who learned it elsewhere.
func (c *Client) CancelSession(ctx context.Context, sessionID int64) error {
	const op = "cancel the session"
	var resp ErrorMessageResponse
	err := c.call(ctx, rpc{op: op, path: PathCancelSession, in: CancelSessionRequest{KernelSessionID: sessionID}, out: &resp, unclear: true, emptyOK: true})
	return orMessage(op, err, resp.ErrorMessage)
}

// orMessage turns the errorMessage of a successful answer into an error.
func orMessage(op string, err error, message string) error {
	if message = strings.TrimSpace(message); err != nil || message == "" {
		return err
	}
	return &Error{Op: op, Status: 200, Kind: ErrRejected, Message: scrub(message)}
}
