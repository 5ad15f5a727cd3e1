package sandbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"sandglass/kaggle"
)

// read finds a kernel for who, in the words Kaggle has for it: 403 for what is foreign or never was, 404 for what was
// deleted. The caller holds s.mu.
func (s *Sandbox) read(who, owner, slug string) (*kernel, error) {
	if owner == "" || slug == "" {
		return nil, refuse(400, "userName and kernelSlug are required")
	}
	if k := s.visibleKernel(who, owner, slug); k != nil {
		return k, nil
	}
	if ref := strings.ToLower(owner + "/" + slug); strings.EqualFold(owner, who) && s.st.Deleted[ref] {
		return nil, refuse(404, "Kernel not found")
	}
	return nil, errDenied
}

// versionNumber reads "v3" and "3"; 0 means the newest.
func versionNumber(label string) (int, error) {
	if label == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(label), "v"))
	if err != nil || n < 1 {
		return 0, refuse(400, "versionLabel must be v and a number, not %q", label)
	}
	return n, nil
}

// sessionOf is the session of one version, or of the newest version that has one. The caller holds s.mu.
func (s *Sandbox) sessionOf(who, owner, slug, label string) (*session, error) {
	n, err := versionNumber(label)
	if err != nil {
		return nil, err
	}
	k, err := s.read(who, owner, slug)
	if err != nil {
		return nil, err
	}
	for i := len(k.Versions) - 1; i >= 0; i-- {
		v := k.Versions[i]
		if n != 0 && v.Number != n {
			continue
		}
		if x := s.st.Sessions[v.Session]; x != nil {
			return x, nil
		}
	}
	return nil, errNoRuns
}

func (s *Sandbox) status(c *call, req *kaggle.StatusRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.sessionOf(c.who, req.UserName, req.KernelSlug, req.VersionLabel)
	if err != nil {
		return nil, err
	}
	if f, ok := faultIn(c.r.Context(), FaultStaleStatus); ok {
		return s.staleStatus(x, f), nil
	}
	return statusOf(x), nil
}

// statusOf leaves QUEUED out, as value 0 is.
func statusOf(x *session) kaggle.StatusResponse {
	if x.Status == StatusQueued {
		return kaggle.StatusResponse{}
	}
	word, _ := json.Marshal(x.Status)
	return kaggle.StatusResponse{Status: word, FailureMessage: x.Failure}
}

// staleStatus is what an answer that lags behind says: the rule's own word, or the run before this one, or (for a
// first run) what was true before it ended.
func (s *Sandbox) staleStatus(x *session, f Fault) kaggle.StatusResponse {
	if f.Status != "" {
		word, _ := json.Marshal(f.Status)
		return kaggle.StatusResponse{Status: word}
	}
	var before *session
	for _, o := range s.st.Sessions {
		if o.Kernel == x.Kernel && o.Version < x.Version && (before == nil || o.Version > before.Version) {
			before = o
		}
	}
	if before != nil {
		return statusOf(before)
	}
	if x.terminal() {
		return kaggle.StatusResponse{Status: json.RawMessage(`"RUNNING"`)}
	}
	return kaggle.StatusResponse{}
}

// outputsOf lists what a session saved: nothing until it ended.
func (s *Sandbox) outputsOf(who, owner, slug, label string) (session, []fileInfo, error) {
	s.mu.Lock()
	x, err := s.sessionOf(who, owner, slug, label)
	if err != nil {
		s.mu.Unlock()
		return session{}, nil, err
	}
	got := *x
	s.mu.Unlock()
	if !got.terminal() {
		return got, nil, nil
	}
	files, err := listFiles(s.workingDir(got.ID))
	if os.IsNotExist(err) {
		err = nil // it never ran
	}
	return got, files, err
}

func (s *Sandbox) listOutputs(c *call, req *kaggle.OutputsRequest) (any, error) {
	x, files, err := s.outputsOf(c.who, req.UserName, req.KernelSlug, req.VersionLabel)
	if err != nil {
		return nil, err
	}
	part, next, err := page(files, req.PageSize, 20, 500, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.OutputsResponse{Files: []kaggle.OutputEntry{}, NextPageToken: next}
	for _, f := range part {
		ans.Files = append(ans.Files, kaggle.OutputEntry{FileName: f.name, URL: s.outputURL(c.base, x.ID, f.name)})
	}
	if x.terminal() {
		recs, err := readLog(s.logPath(x.ID), 0, -1)
		if err != nil {
			return nil, err
		}
		if len(recs) > 0 {
			ans.Log = string(logArray(recs))
		}
	}
	return ans, nil
}

func (s *Sandbox) listKernelFiles(c *call, req *kaggle.KernelFilesRequest) (any, error) {
	_, files, err := s.outputsOf(c.who, req.UserName, req.KernelSlug, req.VersionLabel)
	if err != nil {
		return nil, err
	}
	part, next, err := page(files, req.PageSize, 20, 500, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.KernelFilesResponse{Files: []kaggle.KernelFileEntry{}, NextPageToken: next}
	for _, f := range part {
		ans.Files = append(ans.Files, kaggle.KernelFileEntry{Name: f.name, Size: kaggle.Int(f.info.Size()), CreationDate: proseDate(f.info.ModTime())})
	}
	return ans, nil
}

// proseDate is how the kernel file list writes a date: "3:38 pm, Saturday 6 June 2026 UTC".
func proseDate(t time.Time) string { return t.UTC().Format("3:04 pm, Monday 2 January 2006") + " UTC" }

func (s *Sandbox) downloadOutput(c *call, req *kaggle.DownloadOutputRequest) (any, error) {
	label := ""
	if req.VersionNumber != 0 {
		label = "v" + strconv.Itoa(req.VersionNumber)
	}
	x, files, err := s.outputsOf(c.who, req.OwnerSlug, req.KernelSlug, label)
	if err != nil {
		return nil, err
	}
	if !x.terminal() {
		return nil, refuse(404, "This run has no output yet")
	}
	if req.FilePath == "" {
		return redirect(s.zipURL(c.base, "session:"+strconv.FormatInt(x.ID, 10), "output")), nil
	}
	for _, f := range files {
		if f.name == req.FilePath {
			return redirect(s.outputURL(c.base, x.ID, f.name)), nil
		}
	}
	return nil, refuse(404, "There is no output file %q", req.FilePath)
}

// downloadOutputZip goes by a session id, which no answer contains.
func (s *Sandbox) downloadOutputZip(c *call, req *kaggle.DownloadOutputZipRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.st.Sessions[req.KernelSessionID]
	if x == nil || s.st.Kernels[x.Kernel] == nil || s.st.Kernels[x.Kernel].Owner != c.who {
		return nil, errDenied
	}
	if !x.terminal() {
		return nil, refuse(404, "This run has no output yet")
	}
	return redirect(s.zipURL(c.base, "session:"+strconv.FormatInt(x.ID, 10), "output")), nil
}

func (s *Sandbox) getKernel(c *call, req *kaggle.GetKernelRequest) (any, error) {
	label := req.VersionLabel
	slug, tail, older := strings.Cut(req.KernelSlug, "/") // the official tool of July 2026 sends "slug/2"
	if older && label == "" {
		label = tail
	}
	n, err := versionNumber(label)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	k, err := s.read(c.who, req.UserName, slug)
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	v := k.version(n)
	if v == nil {
		s.mu.Unlock()
		return nil, refuse(404, "There is no version %d of this kernel", n)
	}
	ans := kaggle.GetKernelResponse{
		Metadata: s.metadata(k, v),
		Blob:     kaggle.KernelBlob{Language: k.Language, KernelType: k.KernelType, Slug: k.Slug},
	}
	source := s.sourcePath(k.ID, v.Number)
	s.mu.Unlock()
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	ans.Blob.Source = string(text)
	return ans, nil
}

// metadata describes a kernel at one of its versions; the machine shape is what the server made of the one asked for.
func (s *Sandbox) metadata(k *kernel, v *version) kaggle.KernelMetadata {
	return kaggle.KernelMetadata{
		ID: kaggle.Int(k.ID), Ref: k.ref(), Title: k.Title, Author: k.Owner, Slug: k.Slug, LastRunTime: kaggle.At(k.LastRun),
		Language: k.Language, KernelType: k.KernelType, IsPrivate: k.Private,
		EnableGPU: v.EnableGPU, EnableTPU: v.EnableTPU, EnableInternet: v.Internet, CategoryIDs: v.Tags,
		DatasetDataSources: v.Datasets, KernelDataSources: v.Kernels, CompetitionDataSources: v.Competitions, ModelDataSources: v.Models,
		CurrentVersionNumber: kaggle.Int(k.current()), DockerImage: v.DockerImage, MachineShape: v.Shape,
	}
}

func (s *Sandbox) listKernels(c *call, req *kaggle.ListKernelsRequest) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*kernel
	for _, k := range s.st.Kernels {
		if k.current() > 0 && s.listed(c.who, k, req) {
			found = append(found, k)
		}
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		switch {
		case req.SortBy == kaggle.SortDateRun && !a.LastRun.Equal(b.LastRun):
			return a.LastRun.After(b.LastRun)
		case req.SortBy == kaggle.SortDateCreated && !a.Created.Equal(b.Created):
			return a.Created.After(b.Created)
		}
		return a.ID > b.ID
	})
	part, next, err := numbered(found, req.Page, req.PageSize, 20, 100, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.ListKernelsResponse{Kernels: []kaggle.KernelMetadata{}, NextPageToken: next}
	for _, k := range part {
		m := s.metadata(k, k.version(0))
		m.DatasetDataSources, m.KernelDataSources, m.CompetitionDataSources, m.ModelDataSources, m.CategoryIDs = nil, nil, nil, nil, nil
		ans.Kernels = append(ans.Kernels, m)
	}
	return ans, nil
}

// listed says whether a kernel belongs into an answer.
func (s *Sandbox) listed(who string, k *kernel, req *kaggle.ListKernelsRequest) bool {
	own := k.Owner == who
	switch req.Group {
	case kaggle.GroupProfile:
		if !own {
			return false
		}
	case kaggle.GroupUpvoted, kaggle.GroupCollaboration, kaggle.GroupFork, kaggle.GroupBookmarked, kaggle.GroupRecentlyViewed:
		return false // nobody votes or works together here
	default:
		if k.Private && !own {
			return false
		}
	}
	v := k.version(0)
	text := strings.ToLower(k.Title + " " + k.Slug)
	return (req.User == "" || strings.EqualFold(req.User, k.Owner)) &&
		strings.Contains(text, strings.ToLower(req.Search)) &&
		anyOr(req.Language, k.Language) && anyOr(req.KernelType, k.KernelType) &&
		hasOr(req.Dataset, v.Datasets) && hasOr(req.Competition, v.Competitions) && hasOr(req.ParentKernel, v.Kernels)
}

func anyOr(asked, is string) bool {
	return asked == "" || asked == "all" || strings.EqualFold(asked, is)
}

func hasOr(asked string, list []string) bool {
	if asked == "" {
		return true
	}
	for _, have := range list {
		if strings.EqualFold(asked, have) {
			return true
		}
	}
	return false
}

// deleteKernel takes the kernel out with all versions and outputs, which ends its runs and frees their slots.
func (s *Sandbox) deleteKernel(c *call, req *kaggle.DeleteKernelRequest) (any, error) {
	var gone []int64
	var id int64
	err := s.update(func(st *state) error {
		k, err := s.read(c.who, req.UserName, req.KernelSlug)
		if err != nil {
			return err
		}
		if k.Owner != c.who {
			return refuse(403, "Permission 'kernels.delete' was denied")
		}
		for sid, x := range st.Sessions {
			if x.Kernel == k.ID {
				gone = append(gone, sid)
				s.endCharge(sid)
				delete(st.Sessions, sid)
			}
		}
		id = k.ID
		delete(st.Kernels, k.ID)
		st.Deleted[k.ref()] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, sid := range gone {
		s.mu.Lock()
		l := s.live[sid]
		s.mu.Unlock()
		if l == nil {
			os.RemoveAll(s.sessionDir(sid))
			continue
		}
		l.cancel(errDeleted)
		s.await(c.r.Context(), l)
	}
	os.RemoveAll(filepath.Dir(s.sourcePath(id, 1)))
	return kaggle.ErrorMessageResponse{}, nil
}

// await waits for the end of a cancelled session, so that the answer to the caller is true. It does not wait longer
// than the caller does.
func (s *Sandbox) await(ctx context.Context, l *liveSession) {
	select {
	case <-l.done:
	case <-ctx.Done():
	}
}

func (s *Sandbox) cancelSession(c *call, req *kaggle.CancelSessionRequest) (any, error) {
	var l *liveSession
	err := s.update(func(st *state) error {
		x := st.Sessions[req.KernelSessionID]
		if x == nil || st.Kernels[x.Kernel] == nil || st.Kernels[x.Kernel].Owner != c.who {
			return refuse(403, "Permission 'kernelSessions.cancel' was denied")
		}
		if x.terminal() {
			return nil
		}
		if x.Status == StatusRunning {
			x.Status = StatusCancelRequested
		}
		l = s.live[x.ID]
		return nil
	})
	if err != nil {
		return nil, err
	}
	if l == nil {
		return kaggle.ErrorMessageResponse{ErrorMessage: "Session is not active"}, nil
	}
	l.cancel(errCancelled)
	return kaggle.ErrorMessageResponse{}, nil
}

func (s *Sandbox) quota(c *call, req *struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pool := func(name string) *kaggle.QuotaPoolDoc {
		total := s.poolTotal(name)
		if total < 0 {
			return nil // an account without that quota
		}
		used, reserved, ever := s.poolUse(name)
		return &kaggle.QuotaPoolDoc{
			TimeUsed: kaggle.DurationJSON(used.Round(time.Millisecond)), TimeReserved: kaggle.DurationJSON(reserved.Round(time.Millisecond)),
			TotalTimeAllowed: kaggle.DurationJSON(total), MinimumTimeAllowed: kaggle.DurationJSON(total), HasEverRun: ever,
		}
	}
	return kaggle.QuotaResponse{
		QuotaRefreshTime: kaggle.At(weekStart(s.clockNow()).AddDate(0, 0, 7)),
		GPUQuota:         pool(poolGPU), TPUQuota: pool(poolTPU),
	}, nil
}
