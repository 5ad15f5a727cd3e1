package kaggle

import (
	"context"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// SearchDatasets gives one page of datasets.
func (c *Client) SearchDatasets(ctx context.Context, q DatasetQuery) ([]Dataset, error) {
	req := ListDatasetsRequest{Search: q.Search, User: q.User, SortBy: q.SortBy, Page: max(1, q.Page)}
	switch {
	case q.Mine:
		req.Group = DatasetGroupMy
	case q.User != "":
		req.Group = DatasetGroupUser
	}
	var resp ListDatasetsResponse
	if err := c.call(ctx, rpc{op: "search datasets", path: PathListDatasets, in: req, out: &resp, retry: true}); err != nil {
		return nil, err
	}
	var out []Dataset
	for _, d := range resp.Datasets {
		out = append(out, dataset(d))
	}
	return out, nil
}

// Dataset looks one dataset up.
func (c *Client) Dataset(ctx context.Context, owner, slug string) (Dataset, error) {
	const op = "look up the dataset"
	if err := (Ref{owner, slug}).check(op); err != nil {
		return Dataset{}, err
	}
	var resp DatasetObject
	if err := c.call(ctx, rpc{op: op, path: PathGetDataset, in: DatasetRefRequest{owner, slug}, out: &resp, retry: true}); err != nil {
		return Dataset{}, err
	}
	d := dataset(resp)
	if d.Ref.IsZero() {
		d.Ref = Ref{owner, slug}
	}
	return d, nil
}

func dataset(d DatasetObject) Dataset {
	ref, _ := ParseRef(d.Ref)
	owner := d.OwnerName
	if owner == "" {
		owner = d.CreatorName
	}
	return Dataset{
		ID: int64(d.ID), Ref: ref, Title: d.Title, Subtitle: d.Subtitle, Owner: owner, TotalBytes: int64(d.TotalBytes),
		LastUpdated: d.LastUpdated.Time, CurrentVersion: int(d.CurrentVersionNumber), IsPrivate: d.IsPrivate,
		License: d.LicenseName, Downloads: int64(d.DownloadCount), Votes: int64(d.VoteCount),
	}
}

// datasetStates are the enum's numbers on the wire.
var datasetStates = []string{
	DatasetNotYetPersisted, DatasetBlobsReceived, DatasetBlobsDecompressed, DatasetBlobsCopiedToSDS,
	DatasetIndividualBlobsCompressed, DatasetReady, DatasetFailed, DatasetDeleted, DatasetReprocessing,
}

// DatasetStatus gives the state of a dataset as its enum name, "READY" when it can be attached to a kernel. Missing is
// NOT_YET_PERSISTED; a word this program does not know is passed on.
func (c *Client) DatasetStatus(ctx context.Context, owner, slug string) (string, error) {
	const op = "ask for the dataset's status"
	if err := (Ref{owner, slug}).check(op); err != nil {
		return "", err
	}
	var resp DatasetStatusResponse
	if err := c.call(ctx, rpc{op: op, path: PathDatasetStatus, in: DatasetRefRequest{owner, slug}, out: &resp, retry: true}); err != nil {
		return "", err
	}
	return datasetState(string(resp.Status)), nil
}

func datasetState(word string) string {
	if word == "" {
		return DatasetNotYetPersisted
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 0 && n < len(datasetStates) {
		return datasetStates[n]
	}
	if i := strings.LastIndex(word, "STATUS_"); i >= 0 {
		word = word[i+len("STATUS_"):]
	}
	return word
}

// DatasetFiles lists the files of a dataset, over all pages.
func (c *Client) DatasetFiles(ctx context.Context, owner, slug string) ([]DataFile, error) {
	const op = "list the dataset's files"
	if err := (Ref{owner, slug}).check(op); err != nil {
		return nil, err
	}
	req := ListDatasetFilesRequest{OwnerSlug: owner, DatasetSlug: slug, PageSize: outputPage}
	var out []DataFile
	for pages := (pager{op: op}); ; {
		var resp ListDatasetFilesResponse
		err := c.call(ctx, rpc{op: op, path: PathListDatasetFiles, in: req, out: &resp, retry: true})
		if err = orMessage(op, err, resp.ErrorMessage); err != nil {
			return out, err
		}
		out = append(out, dataFiles(resp.DatasetFiles)...)
		more, err := pages.next(resp.NextPageToken)
		if !more {
			return out, err
		}
		req.PageToken = resp.NextPageToken
	}
}

// SearchCompetitions gives one page of competitions.
func (c *Client) SearchCompetitions(ctx context.Context, q CompetitionQuery) ([]Competition, error) {
	req := ListCompetitionsRequest{Group: CompetitionEverything, Category: HostUnspecified, SortBy: CompetitionSortBest, Search: q.Search, Page: max(1, q.Page)}
	if q.Entered {
		req.Group = CompetitionEntered
	}
	var resp ListCompetitionsResponse
	if err := c.call(ctx, rpc{op: "search competitions", path: PathListCompetitions, in: req, out: &resp, retry: true}); err != nil {
		return nil, err
	}
	var out []Competition
	for _, d := range resp.Competitions {
		out = append(out, Competition{
			ID: int64(d.ID), Slug: lastSegment(d.Ref, d.URL), Title: d.Title, Description: d.Description, Category: d.Category,
			Reward: d.Reward, Organization: d.OrganizationName, URL: d.URL, Deadline: d.Deadline.Time, Teams: int64(d.TeamCount),
			UserHasEntered: d.UserHasEntered, KernelsOnly: d.IsKernelsSubmissionsOnly,
		})
	}
	return out, nil
}

// lastSegment is the slug at the end of the first address that has one: a competition's ref is a full URL.
func lastSegment(addresses ...string) string {
	for _, s := range addresses {
		if u, err := url.Parse(s); err == nil {
			if p := path.Base(strings.TrimRight(u.Path, "/")); p != "." && p != "/" {
				return p
			}
		}
	}
	return ""
}

// CompetitionFiles lists the data files of a competition, over all pages. Without accepted rules it is ErrForbidden.
func (c *Client) CompetitionFiles(ctx context.Context, slug string) ([]DataFile, error) {
	const op = "list the competition's files"
	if !validName(slug) {
		return nil, &Error{Op: op, Kind: ErrRejected, Message: "a competition is named by its slug alone"}
	}
	req := ListDataFilesRequest{CompetitionName: slug, PageSize: outputPage}
	var out []DataFile
	for pages := (pager{op: op}); ; {
		var resp ListDataFilesResponse
		if err := c.call(ctx, rpc{op: op, path: PathListDataFiles, in: req, out: &resp, retry: true}); err != nil {
			return out, err
		}
		out = append(out, dataFiles(resp.Files)...)
		more, err := pages.next(resp.NextPageToken)
		if !more {
			return out, err
		}
		req.PageToken = resp.NextPageToken
	}
}

func dataFiles(list []DataFileEntry) []DataFile {
	var out []DataFile
	for _, f := range list {
		name := f.Name
		if name == "" {
			name = f.Ref
		}
		out = append(out, DataFile{Name: name, Size: int64(f.TotalBytes), Created: f.CreationDate.Time})
	}
	return out
}
