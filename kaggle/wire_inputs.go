package kaggle

// Paths of the dataset, competition, model and upload methods, relative to the API base.
const (
	datasetService     = "datasets.DatasetApiService/"
	competitionService = "competitions.CompetitionApiService/"

	PathListDatasets         = datasetService + "ListDatasets"
	PathGetDataset           = datasetService + "GetDataset"
	PathDatasetStatus        = datasetService + "GetDatasetStatus"
	PathDatasetMetadata      = datasetService + "GetDatasetMetadata"
	PathListDatasetFiles     = datasetService + "ListDatasetFiles"
	PathListTreeDatasetFiles = datasetService + "ListTreeDatasetFiles"
	PathDownloadDataset      = datasetService + "DownloadDataset"
	PathCreateDataset        = datasetService + "CreateDataset"
	PathCreateDatasetVersion = datasetService + "CreateDatasetVersion"
	PathDeleteDataset        = datasetService + "DeleteDataset"
	PathListCompetitions     = competitionService + "ListCompetitions"
	PathListDataFiles        = competitionService + "ListDataFiles"
	PathDownloadDataFile     = competitionService + "DownloadDataFile"
	PathDownloadDataFiles    = competitionService + "DownloadDataFiles"
	PathListModels           = "models.ModelApiService/ListModels"
	PathStartBlobUpload      = "blobs.BlobApiService/StartBlobUpload"
)

// States of a dataset. NOT_YET_PERSISTED is value 0 and may be left out; READY can be attached to a kernel.
const (
	DatasetNotYetPersisted           = "NOT_YET_PERSISTED"
	DatasetBlobsReceived             = "BLOBS_RECEIVED"
	DatasetBlobsDecompressed         = "BLOBS_DECOMPRESSED"
	DatasetBlobsCopiedToSDS          = "BLOBS_COPIED_TO_SDS"
	DatasetIndividualBlobsCompressed = "INDIVIDUAL_BLOBS_COMPRESSED"
	DatasetReady                     = "READY"
	DatasetFailed                    = "FAILED"
	DatasetDeleted                   = "DELETED"
	DatasetReprocessing              = "REPROCESSING"
)

// Groups and orders of ListDatasets. The public group and the hottest order are value 0 and left out.
const (
	DatasetGroupMy        = "DATASET_SELECTION_GROUP_MY"
	DatasetGroupUser      = "DATASET_SELECTION_GROUP_USER"
	DatasetSortVotes      = "DATASET_SORT_BY_VOTES"
	DatasetSortUpdated    = "DATASET_SORT_BY_UPDATED"
	DatasetSortRelevance  = "DATASET_SORT_BY_RELEVANCE"
	CompetitionEverything = "COMPETITION_LIST_TAB_EVERYTHING"
	CompetitionEntered    = "COMPETITION_LIST_TAB_ENTERED"
	CompetitionSortBest   = "COMPETITION_SORT_BY_BEST"
	HostUnspecified       = "HOST_SEGMENT_UNSPECIFIED"
	BlobTypeDataset       = "DATASET"
)

// ListDatasetsRequest searches datasets. Page counts from 1; 20 a page unless PageSize says otherwise.
type ListDatasetsRequest struct {
	Group     string `json:"group,omitempty"`
	SortBy    string `json:"sortBy,omitempty"`
	Search    string `json:"search,omitempty"`
	User      string `json:"user,omitempty"`
	TagIDs    string `json:"tagIds,omitempty"`
	FileType  string `json:"fileType,omitempty"`
	License   string `json:"license,omitempty"`
	MinSize   int64  `json:"minSize,omitempty"` // bytes
	MaxSize   int64  `json:"maxSize,omitempty"` // bytes
	Page      int    `json:"page,omitempty"`
	PageSize  int    `json:"pageSize,omitempty"`
	PageToken string `json:"pageToken,omitempty"`
}

// ListDatasetsResponse is one page of datasets.
type ListDatasetsResponse struct {
	Datasets      []DatasetObject `json:"datasets"`
	NextPageToken string          `json:"nextPageToken,omitempty"`
}

// DatasetObject describes a dataset.
type DatasetObject struct {
	ID                   Int       `json:"id,omitempty"`
	Ref                  string    `json:"ref,omitempty"` // "owner/slug"
	Title                string    `json:"title,omitempty"`
	Subtitle             string    `json:"subtitle,omitempty"`
	CreatorName          string    `json:"creatorName,omitempty"`
	OwnerName            string    `json:"ownerName,omitempty"`
	OwnerRef             string    `json:"ownerRef,omitempty"`
	URL                  string    `json:"url,omitempty"`
	TotalBytes           Int       `json:"totalBytes,omitempty"`
	LastUpdated          Timestamp `json:"lastUpdated,omitzero"`
	DownloadCount        Int       `json:"downloadCount,omitempty"`
	VoteCount            Int       `json:"voteCount,omitempty"`
	UsabilityRating      Float     `json:"usabilityRating,omitempty"`
	CurrentVersionNumber Int       `json:"currentVersionNumber,omitempty"`
	IsPrivate            bool      `json:"isPrivate,omitempty"`
	LicenseName          string    `json:"licenseName,omitempty"`
	Description          string    `json:"description,omitempty"`
}

// DatasetRefRequest names a dataset; GetDataset and GetDatasetStatus take it.
type DatasetRefRequest struct {
	OwnerSlug   string `json:"ownerSlug"`
	DatasetSlug string `json:"datasetSlug"`
}

// DatasetStatusResponse is lenient like a session's status: word, number, missing.
type DatasetStatusResponse struct {
	Status EnumWord `json:"status,omitempty"`
}

// ListDatasetFilesRequest lists the files of a dataset.
type ListDatasetFilesRequest struct {
	OwnerSlug            string `json:"ownerSlug"`
	DatasetSlug          string `json:"datasetSlug"`
	DatasetVersionNumber string `json:"datasetVersionNumber,omitempty"`
	PageToken            string `json:"pageToken,omitempty"`
	PageSize             int    `json:"pageSize,omitempty"`
}

// ListDatasetFilesResponse: the list is called datasetFiles here, and files elsewhere.
type ListDatasetFilesResponse struct {
	DatasetFiles  []DataFileEntry `json:"datasetFiles"`
	ErrorMessage  string          `json:"errorMessage,omitempty"`
	NextPageToken string          `json:"nextPageToken,omitempty"`
}

// DataFileEntry is a file of a dataset or a competition. CreationDate is a timestamp here.
type DataFileEntry struct {
	Ref          string    `json:"ref,omitempty"`
	Name         string    `json:"name,omitempty"`
	TotalBytes   Int       `json:"totalBytes,omitempty"`
	CreationDate Timestamp `json:"creationDate,omitzero"`
	FileType     string    `json:"fileType,omitempty"`
	URL          string    `json:"url,omitempty"`
	Description  string    `json:"description,omitempty"`
}

// ListTreeDatasetFilesRequest lists one folder of a dataset.
type ListTreeDatasetFilesRequest struct {
	ListDatasetFilesRequest
	Path string `json:"path,omitempty"`
}

// ListTreeDatasetFilesResponse is one page of a folder.
type ListTreeDatasetFilesResponse struct {
	Directories      []DataFileEntry `json:"directories,omitempty"`
	Files            []DataFileEntry `json:"files"`
	TotalChildren    Int             `json:"totalChildren,omitempty"`
	TotalDirectories Int             `json:"totalDirectories,omitempty"`
	TotalFiles       Int             `json:"totalFiles,omitempty"`
	NextPageToken    string          `json:"nextPageToken,omitempty"`
}

// DownloadDatasetRequest answers with a redirect to a signed URL; without FileName the whole set as a zip.
type DownloadDatasetRequest struct {
	OwnerSlug            string `json:"ownerSlug"`
	DatasetSlug          string `json:"datasetSlug"`
	FileName             string `json:"fileName,omitempty"`
	DatasetVersionNumber int    `json:"datasetVersionNumber,omitempty"`
	Raw                  bool   `json:"raw,omitempty"`
}

// StartBlobUploadRequest opens an upload.
type StartBlobUploadRequest struct {
	Type                     string `json:"type,omitempty"`
	Name                     string `json:"name"`
	ContentLength            int64  `json:"contentLength"`
	LastModifiedEpochSeconds int64  `json:"lastModifiedEpochSeconds"`
	ContentType              string `json:"contentType,omitempty"`
}

// StartBlobUploadResponse says where the bytes go (a PUT without Authorization) and what to quote afterwards.
type StartBlobUploadResponse struct {
	Token     string `json:"token,omitempty"`
	CreateURL string `json:"createUrl,omitempty"`
}

// NewFile is an uploaded blob that becomes a file of a dataset.
type NewFile struct {
	Token       string `json:"token"`
	Description string `json:"description,omitempty"`
}

// CreateDatasetRequest makes a dataset. IsPrivate false is left out, and missing means public.
type CreateDatasetRequest struct {
	OwnerSlug   string    `json:"ownerSlug"`
	Slug        string    `json:"slug"`
	Title       string    `json:"title"`
	LicenseName string    `json:"licenseName,omitempty"`
	IsPrivate   bool      `json:"isPrivate,omitempty"`
	Files       []NewFile `json:"files,omitempty"`
	Subtitle    string    `json:"subtitle,omitempty"`
	Description string    `json:"description,omitempty"`
	CategoryIDs []string  `json:"categoryIds,omitempty"`
}

// CreateDatasetVersionRequest adds a version to a dataset.
type CreateDatasetVersionRequest struct {
	OwnerSlug   string                   `json:"ownerSlug"`
	DatasetSlug string                   `json:"datasetSlug"`
	Body        CreateDatasetVersionBody `json:"body"`
}

// CreateDatasetVersionBody is the content of a new version.
type CreateDatasetVersionBody struct {
	VersionNotes      string    `json:"versionNotes"`
	DeleteOldVersions bool      `json:"deleteOldVersions,omitempty"`
	Files             []NewFile `json:"files,omitempty"`
}

// CreateDatasetResponse: any Status but "ok", and any Error, is a failure inside HTTP 200.
type CreateDatasetResponse struct {
	Ref         string   `json:"ref,omitempty"`
	URL         string   `json:"url,omitempty"`
	Status      string   `json:"status,omitempty"`
	Error       string   `json:"error,omitempty"`
	InvalidTags []string `json:"invalidTags,omitempty"`
}

// ListCompetitionsRequest searches competitions.
type ListCompetitionsRequest struct {
	Group     string `json:"group,omitempty"`
	Category  string `json:"category,omitempty"`
	SortBy    string `json:"sortBy,omitempty"`
	Search    string `json:"search,omitempty"`
	Page      int    `json:"page,omitempty"`
	PageSize  int    `json:"pageSize,omitempty"`
	PageToken string `json:"pageToken,omitempty"`
}

// ListCompetitionsResponse is one page of competitions.
type ListCompetitionsResponse struct {
	Competitions  []CompetitionObject `json:"competitions"`
	NextPageToken string              `json:"nextPageToken,omitempty"`
}

// CompetitionObject describes a competition; Ref is a full URL whose last segment is the slug.
type CompetitionObject struct {
	ID                       Int       `json:"id,omitempty"`
	Ref                      string    `json:"ref,omitempty"`
	Title                    string    `json:"title,omitempty"`
	URL                      string    `json:"url,omitempty"`
	Description              string    `json:"description,omitempty"`
	Category                 string    `json:"category,omitempty"`
	Reward                   string    `json:"reward,omitempty"`
	Deadline                 Timestamp `json:"deadline,omitzero"`
	TeamCount                Int       `json:"teamCount,omitempty"`
	KernelCount              Int       `json:"kernelCount,omitempty"`
	UserHasEntered           bool      `json:"userHasEntered,omitempty"`
	UserRank                 Int       `json:"userRank,omitempty"`
	IsKernelsSubmissionsOnly bool      `json:"isKernelsSubmissionsOnly,omitempty"`
	SubmissionsDisabled      bool      `json:"submissionsDisabled,omitempty"`
	MaxDailySubmissions      Int       `json:"maxDailySubmissions,omitempty"`
	OrganizationName         string    `json:"organizationName,omitempty"`
}

// ListDataFilesRequest lists the files of a competition.
type ListDataFilesRequest struct {
	CompetitionName string `json:"competitionName"`
	PageSize        int    `json:"pageSize,omitempty"`
	PageToken       string `json:"pageToken,omitempty"`
}

// ListDataFilesResponse is one page of a competition's files.
type ListDataFilesResponse struct {
	Files               []DataFileEntry `json:"files"`
	NextPageToken       string          `json:"nextPageToken,omitempty"`
	ChildrenFetchTimeMs Int             `json:"childrenFetchTimeMs,omitempty"`
}

// DownloadDataFileRequest answers with a redirect; without FileName (DownloadDataFiles) everything as a zip.
type DownloadDataFileRequest struct {
	CompetitionName string `json:"competitionName"`
	FileName        string `json:"fileName,omitempty"`
}

// ListModelsRequest searches models.
type ListModelsRequest struct {
	Search    string `json:"search,omitempty"`
	SortBy    string `json:"sortBy,omitempty"`
	Owner     string `json:"owner,omitempty"`
	PageSize  int    `json:"pageSize,omitempty"`
	PageToken string `json:"pageToken,omitempty"`
}

// ListModelsResponse is one page of models.
type ListModelsResponse struct {
	Models        []ModelObject `json:"models"`
	NextPageToken string        `json:"nextPageToken,omitempty"`
	TotalResults  Int           `json:"totalResults,omitempty"`
}

// ModelObject describes a model.
type ModelObject struct {
	ID        Int             `json:"id,omitempty"`
	Ref       string          `json:"ref,omitempty"` // "owner/model"
	Title     string          `json:"title,omitempty"`
	Subtitle  string          `json:"subtitle,omitempty"`
	Author    string          `json:"author,omitempty"`
	Slug      string          `json:"slug,omitempty"`
	Instances []ModelInstance `json:"instances,omitempty"`
}

// ModelInstance is one framework variation of a model.
type ModelInstance struct {
	Slug          string `json:"slug,omitempty"`
	Framework     string `json:"framework,omitempty"`
	VersionNumber Int    `json:"versionNumber,omitempty"`
	URL           string `json:"url,omitempty"`
}
