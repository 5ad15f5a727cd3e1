package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sandglass/kaggle"
)

func (s *Sandbox) listDatasets(c *call, req *kaggle.ListDatasetsRequest) (any, error) {
	s.mu.Lock()
	var found []*dataset
	for _, d := range s.st.Datasets {
		own := d.Owner == c.who
		switch strings.TrimPrefix(req.Group, "DATASET_SELECTION_GROUP_") {
		case "MY":
			if !own {
				continue
			}
		case "MY_PRIVATE":
			if !own || !d.Private {
				continue
			}
		case "MY_PUBLIC":
			if !own || d.Private {
				continue
			}
		case "", "PUBLIC":
			if d.Private && (!own || !strings.EqualFold(req.User, c.who)) {
				continue
			}
		case "USER":
			if d.Private && !own {
				continue
			}
		default:
			continue // nobody votes, shares or bookmarks here
		}
		text := strings.ToLower(d.Title + " " + d.ref() + " " + d.Subtitle)
		if (req.User == "" || strings.EqualFold(req.User, d.Owner)) && strings.Contains(text, strings.ToLower(req.Search)) {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b *dataset) int { return int(b.ID - a.ID) })
	s.mu.Unlock()
	part, next, err := numbered(found, req.Page, req.PageSize, 20, 200, req.PageToken)
	if err != nil {
		return nil, err
	}
	ans := kaggle.ListDatasetsResponse{Datasets: []kaggle.DatasetObject{}, NextPageToken: next}
	for _, d := range part {
		ans.Datasets = append(ans.Datasets, s.datasetObject(d))
	}
	return ans, nil
}

func (s *Sandbox) datasetObject(d *dataset) kaggle.DatasetObject {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := kaggle.DatasetObject{
		ID: kaggle.Int(d.ID), Ref: d.ref(), Title: d.Title, Subtitle: d.Subtitle, CreatorName: d.Owner, OwnerName: d.Owner, OwnerRef: d.Owner,
		URL: "https://www.kaggle.com/datasets/" + d.ref(), CurrentVersionNumber: kaggle.Int(len(d.Versions)), IsPrivate: d.Private,
		LicenseName: d.License, Description: d.Description,
	}
	if v := d.version(0); v != nil {
		o.LastUpdated = kaggle.At(v.Created)
		files, _ := listFiles(v.Dir) // a folder that cannot be read has size 0; the file list says why
		for _, f := range files {
			o.TotalBytes += kaggle.Int(f.info.Size())
		}
	}
	return o
}

// openDataset finds a dataset and one of its versions for a call; 403 covers what is not there, as for kernels.
func (s *Sandbox) openDataset(who, owner, slug, number string) (*dataset, *dataVersion, error) {
	if owner == "" || slug == "" {
		return nil, nil, refuse(400, "ownerSlug and datasetSlug are required")
	}
	n := 0
	if number != "" {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 {
			return nil, nil, refuse(400, "datasetVersionNumber must be a number, not %q", number)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, _ := s.findDataset(who, owner+"/"+slug)
	if d == nil {
		if strings.EqualFold(owner, who) {
			return nil, nil, refuse(404, "Dataset not found")
		}
		return nil, nil, refuse(403, "Permission 'datasets.get' was denied")
	}
	v := d.version(n)
	if v == nil {
		return nil, nil, refuse(404, "There is no version %d of this dataset", n)
	}
	return d, v, nil
}

func (s *Sandbox) getDataset(c *call, req *kaggle.DatasetRefRequest) (any, error) {
	d, _, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, "")
	if err != nil {
		return nil, err
	}
	return s.datasetObject(d), nil
}

func (s *Sandbox) datasetStatus(c *call, req *kaggle.DatasetRefRequest) (any, error) {
	d, _, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, "")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clockNow().Before(d.ReadyAt) {
		return kaggle.DatasetStatusResponse{Status: kaggle.DatasetBlobsReceived}, nil
	}
	return kaggle.DatasetStatusResponse{Status: kaggle.DatasetReady}, nil
}

// datasetInfo is the part of a dataset's metadata file that the sandbox has.
type datasetInfo struct {
	DatasetID   int64            `json:"datasetId,omitempty"`
	DatasetSlug string           `json:"datasetSlug,omitempty"`
	OwnerUser   string           `json:"ownerUser,omitempty"`
	Title       string           `json:"title,omitempty"`
	Subtitle    string           `json:"subtitle,omitempty"`
	Description string           `json:"description,omitempty"`
	IsPrivate   bool             `json:"isPrivate,omitempty"`
	Keywords    []string         `json:"keywords"`
	Licenses    []datasetLicense `json:"licenses"`
	Data        []struct{}       `json:"data"`
}

type datasetLicense struct {
	Name string `json:"name"`
}

func (s *Sandbox) datasetMetadata(c *call, req *kaggle.DatasetRefRequest) (any, error) {
	d, _, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, "")
	if err != nil {
		return nil, err
	}
	return struct {
		Info         datasetInfo `json:"info"`
		ErrorMessage string      `json:"errorMessage,omitempty"`
	}{Info: datasetInfo{DatasetID: d.ID, DatasetSlug: d.Slug, OwnerUser: d.Owner, Title: d.Title, Subtitle: d.Subtitle, Description: d.Description,
		IsPrivate: d.Private, Keywords: []string{}, Licenses: []datasetLicense{{d.License}}, Data: []struct{}{}}}, nil
}

// dataFiles lists a folder as the file lists of datasets and competitions show it.
func dataFiles(what, ref, dir string) ([]kaggle.DataFileEntry, error) {
	files, err := listFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: its folder cannot be read; check that it is there: %w", what, err)
	}
	out := []kaggle.DataFileEntry{}
	for _, f := range files {
		out = append(out, kaggle.DataFileEntry{Ref: ref, Name: f.name, TotalBytes: kaggle.Int(f.info.Size()),
			CreationDate: kaggle.At(f.info.ModTime()), FileType: path.Ext(f.name)})
	}
	return out, nil
}

func (s *Sandbox) listDatasetFiles(c *call, req *kaggle.ListDatasetFilesRequest) (any, error) {
	d, v, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, req.DatasetVersionNumber)
	if err != nil {
		return nil, err
	}
	files, err := dataFiles("dataset "+d.ref(), d.ref(), v.Dir)
	if err != nil {
		return kaggle.ListDatasetFilesResponse{DatasetFiles: []kaggle.DataFileEntry{}, ErrorMessage: err.Error()}, nil
	}
	part, next, err := page(files, req.PageSize, 20, 200, req.PageToken)
	if err != nil {
		return nil, err
	}
	return kaggle.ListDatasetFilesResponse{DatasetFiles: part, NextPageToken: next}, nil
}

func (s *Sandbox) listTreeDatasetFiles(c *call, req *kaggle.ListTreeDatasetFilesRequest) (any, error) {
	d, v, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, req.DatasetVersionNumber)
	if err != nil {
		return nil, err
	}
	all, err := dataFiles("dataset "+d.ref(), d.ref(), v.Dir)
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(req.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	ans := kaggle.ListTreeDatasetFilesResponse{Files: []kaggle.DataFileEntry{}}
	var files []kaggle.DataFileEntry
	for _, f := range all {
		rest, ok := strings.CutPrefix(f.Name, prefix)
		if !ok {
			continue
		}
		if dir, _, deeper := strings.Cut(rest, "/"); deeper {
			if n := len(ans.Directories); n == 0 || ans.Directories[n-1].Name != prefix+dir {
				ans.Directories = append(ans.Directories, kaggle.DataFileEntry{Ref: d.ref(), Name: prefix + dir})
			}
			continue
		}
		files = append(files, f)
	}
	ans.TotalDirectories, ans.TotalFiles = kaggle.Int(len(ans.Directories)), kaggle.Int(len(files))
	ans.TotalChildren = ans.TotalDirectories + ans.TotalFiles
	ans.Files, ans.NextPageToken, err = page(files, req.PageSize, 20, 200, req.PageToken)
	return ans, err
}

func (s *Sandbox) downloadDataset(c *call, req *kaggle.DownloadDatasetRequest) (any, error) {
	number := ""
	if req.DatasetVersionNumber != 0 {
		number = strconv.Itoa(req.DatasetVersionNumber)
	}
	d, v, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, number)
	if err != nil {
		return nil, err
	}
	if err := hasFile(v.Dir, req.FileName); err != nil {
		return nil, err
	}
	what := "dataset:" + d.ref() + ":" + strconv.Itoa(v.Number)
	if req.FileName == "" {
		return redirect(s.zipURL(c.base, what, d.Slug)), nil
	}
	return redirect(s.dataURL(c.base, what, req.FileName)), nil
}

// hasFile is nil for a name that is there, and for "" (everything).
func hasFile(dir, name string) error {
	files, err := listFiles(dir)
	if err != nil {
		return fmt.Errorf("the folder cannot be read: %w", err)
	}
	if name == "" || slices.ContainsFunc(files, func(f fileInfo) bool { return f.name == name }) {
		return nil
	}
	return refuse(404, "There is no file %q", name)
}

// uploadDir is a folder of a new dataset: uploads by token, and folders in it.
type uploadDir struct {
	Name        string           `json:"name"`
	Files       []kaggle.NewFile `json:"files"`
	Directories []uploadDir      `json:"directories"`
}

// createDatasetRequest is the wire type with the folders it leaves out.
type createDatasetRequest struct {
	kaggle.CreateDatasetRequest
	Directories []uploadDir `json:"directories"`
}

type createVersionRequest struct {
	OwnerSlug   string `json:"ownerSlug"`
	DatasetSlug string `json:"datasetSlug"`
	Body        struct {
		kaggle.CreateDatasetVersionBody
		Subtitle    string      `json:"subtitle"`
		Description string      `json:"description"`
		Directories []uploadDir `json:"directories"`
	} `json:"body"`
}

// createFailed is a refusal inside HTTP 200.
func createFailed(format string, args ...any) (any, error) {
	return kaggle.CreateDatasetResponse{Status: "error", Error: fmt.Sprintf(format, args...), InvalidTags: []string{}}, nil
}

func (s *Sandbox) createDataset(c *call, req *createDatasetRequest) (any, error) {
	n, m := len([]rune(req.Title)), len(req.Slug)
	switch {
	case !strings.EqualFold(req.OwnerSlug, c.who):
		return nil, refuse(403, "Permission 'datasets.create' was denied")
	case n < 6 || n > 50:
		return createFailed("The dataset title must be between 6 and 50 characters")
	case m < 6 || m > 50 || req.Slug != slugify(req.Slug):
		return createFailed("The dataset slug must be between 6 and 50 lower-case letters, digits and hyphens")
	case req.Subtitle != "" && (len([]rune(req.Subtitle)) < 20 || len([]rune(req.Subtitle)) > 80):
		return createFailed("The subtitle must be between 20 and 80 characters")
	case req.LicenseName == "":
		return createFailed("Exactly one license is required")
	}
	ref := c.who + "/" + req.Slug
	s.mu.Lock()
	exists := s.st.Datasets[ref] != nil
	s.mu.Unlock()
	if exists {
		return createFailed("The requested title %q is already in use by a dataset", req.Title)
	}
	return s.newDataVersion(ref, "", uploadDir{Files: req.Files, Directories: req.Directories}, func(st *state) *dataset {
		d := &dataset{ID: st.newID(), Owner: c.who, Slug: req.Slug, Title: req.Title, Subtitle: req.Subtitle, Description: req.Description,
			License: req.LicenseName, Private: req.IsPrivate}
		st.Datasets[ref] = d
		return d
	})
}

func (s *Sandbox) createDatasetVersion(c *call, req *createVersionRequest) (any, error) {
	d, _, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, "")
	if err != nil {
		return nil, err
	}
	if d.Owner != c.who {
		return nil, refuse(403, "Permission 'datasets.update' was denied")
	}
	return s.newDataVersion(d.ref(), req.Body.VersionNotes, uploadDir{Files: req.Body.Files, Directories: req.Body.Directories}, func(st *state) *dataset {
		return st.Datasets[d.ref()]
	})
}

// newDataVersion moves uploads into a folder of their own and makes that the dataset's newest version. Datasets are
// processed for as long as a session takes to start.
func (s *Sandbox) newDataVersion(ref, notes string, top uploadDir, owner func(*state) *dataset) (any, error) {
	dir := filepath.Join(s.home, "datasets", filepath.FromSlash(ref), randomHex(6))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the dataset's folder: %w", err)
	}
	used, err := s.place(top, dir)
	if err == nil && len(used) == 0 {
		err = refuse(400, "A dataset needs at least one file")
	}
	if err == nil {
		err = s.update(func(st *state) error {
			d := owner(st)
			if d == nil {
				return refuse(404, "Dataset not found")
			}
			d.Versions = append(d.Versions, &dataVersion{Number: len(d.Versions) + 1, Dir: dir, Notes: notes, Created: s.now()})
			d.ReadyAt = s.clockNow().Add(s.opt.StartDelay)
			for _, token := range used {
				delete(st.Blobs, token)
			}
			return nil
		})
	}
	if err != nil {
		os.RemoveAll(dir)
		var refused *apiError
		if errors.As(err, &refused) && refused.code == 400 {
			return createFailed("%s", refused.message)
		}
		return nil, err
	}
	for _, token := range used {
		os.Remove(s.blobPath(token))
	}
	return kaggle.CreateDatasetResponse{Ref: "/" + ref, URL: "https://www.kaggle.com/datasets/" + ref, Status: "ok", InvalidTags: []string{}}, nil
}

func (s *Sandbox) deleteDataset(c *call, req *kaggle.DatasetRefRequest) (any, error) {
	d, _, err := s.openDataset(c.who, req.OwnerSlug, req.DatasetSlug, "")
	if err != nil {
		return nil, err
	}
	if d.Owner != c.who {
		return nil, refuse(403, "Permission 'datasets.delete' was denied")
	}
	if err := s.update(func(st *state) error { delete(st.Datasets, d.ref()); return nil }); err != nil {
		return nil, err
	}
	// Only what was uploaded is ours to remove; folders of the person's own stay.
	os.RemoveAll(filepath.Join(s.home, "datasets", filepath.FromSlash(d.ref())))
	return struct{}{}, nil
}
