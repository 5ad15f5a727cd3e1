package kaggle

import "encoding/json"

// Paths of the kernel methods, relative to the API base. Every method is a POST.
const (
	kernelsService = "kernels.KernelsApiService/"

	PathSaveKernel        = kernelsService + "SaveKernel"
	PathStatus            = kernelsService + "GetKernelSessionStatus"
	PathOutputs           = kernelsService + "ListKernelSessionOutput"
	PathKernelFiles       = kernelsService + "ListKernelFiles"
	PathDownloadOutput    = kernelsService + "DownloadKernelOutput"
	PathDownloadOutputZip = kernelsService + "DownloadKernelOutputZip"
	PathListKernels       = kernelsService + "ListKernels"
	PathGetKernel         = kernelsService + "GetKernel"
	PathDeleteKernel      = kernelsService + "DeleteKernel"
	PathCancelSession     = kernelsService + "CancelKernelSession"
	PathCreateSession     = kernelsService + "CreateKernelSession"
	PathLogsStream        = kernelsService + "GetKernelSessionLogsStream"
	PathQuota             = kernelsService + "GetAcceleratorQuotaStatistics"
	PathGetOperation      = "common.OperationsService/GetOperation"

	// PathLogStreamGET is the one plain GET of the surface: PathLogStreamGET + "owner/slug", optionally with
	// "?versionLabel=v3". It answers with server-sent events while the session lives.
	PathLogStreamGET = "kernels/logs/stream/"
)

// EndOfLog is the payload of the last event of a live log stream. It is not JSON.
const EndOfLog = "END_OF_LOG"

// Status words of a session as the service writes them. QUEUED is value 0 and is normally left out: {} means queued.
const (
	StatusQueued             = "QUEUED"
	StatusRunning            = "RUNNING"
	StatusComplete           = "COMPLETE"
	StatusError              = "ERROR"
	StatusCancelRequested    = "CANCEL_REQUESTED"
	StatusCancelAcknowledged = "CANCEL_ACKNOWLEDGED"
	StatusNewScript          = "NEW_SCRIPT"
)

// Execution types of a push. Absent means: save and run.
const (
	ExecSaveAndRunAll = "SAVE_AND_RUN_ALL"
	ExecInteractive   = "INTER_ACTIVE"
	ExecQuickSave     = "QUICK_SAVE" // save without running
)

// Groups of ListKernels.
const (
	GroupProfile               = "PROFILE"
	GroupUpvoted               = "UPVOTED"
	GroupEveryone              = "EVERYONE"
	GroupCollaboration         = "COLLABORATION"
	GroupFork                  = "FORK"
	GroupBookmarked            = "BOOKMARKED"
	GroupRecentlyViewed        = "RECENTLY_VIEWED"
	GroupPublicAndUsersPrivate = "PUBLIC_AND_USERS_PRIVATE"
)

// Orders of ListKernels. HOTNESS is value 0 and left out.
const (
	SortHotness         = "HOTNESS"
	SortCommentCount    = "COMMENT_COUNT"
	SortDateCreated     = "DATE_CREATED"
	SortDateRun         = "DATE_RUN"
	SortRelevance       = "RELEVANCE"
	SortScoreAscending  = "SCORE_ASCENDING"
	SortScoreDescending = "SCORE_DESCENDING"
	SortViewCount       = "VIEW_COUNT"
	SortVoteCount       = "VOTE_COUNT"
)

// SaveKernelRequest creates a kernel or a new version of it and, unless KernelExecutionType says otherwise, starts a run.
// The four switches are always sent: what the server assumes when one is missing is not documented. MachineShape is left
// out when empty.
type SaveKernelRequest struct {
	ID                     int64    `json:"id,omitempty"`   // numeric kernel id; wins over Slug
	Slug                   string   `json:"slug,omitempty"` // "owner/kernel-slug"
	NewTitle               string   `json:"newTitle,omitempty"`
	Text                   string   `json:"text"`       // the script, or the notebook's JSON as one string
	Language               string   `json:"language"`   // python, r, rmarkdown
	KernelType             string   `json:"kernelType"` // script, notebook
	DatasetDataSources     []string `json:"datasetDataSources,omitempty"`
	KernelDataSources      []string `json:"kernelDataSources,omitempty"`
	CompetitionDataSources []string `json:"competitionDataSources,omitempty"`
	CategoryIDs            []string `json:"categoryIds,omitempty"`
	IsPrivate              bool     `json:"isPrivate"`
	EnableGPU              bool     `json:"enableGpu"`
	EnableInternet         bool     `json:"enableInternet"`
	DockerImagePinningType string   `json:"dockerImagePinningType,omitempty"` // original, latest
	ModelDataSources       []string `json:"modelDataSources,omitempty"`
	EnableTPU              bool     `json:"enableTpu"`
	SessionTimeoutSeconds  int      `json:"sessionTimeoutSeconds,omitempty"`
	DockerImage            string   `json:"dockerImage,omitempty"`
	MachineShape           string   `json:"machineShape,omitempty"` // NvidiaTeslaT4, TpuV5E8, …
	KernelExecutionType    string   `json:"kernelExecutionType,omitempty"`
	Priority               int      `json:"priority,omitempty"`
}

// SaveKernelResponse answers a push, with HTTP 200 also when it was refused. See [ClassifyPush].
type SaveKernelResponse struct {
	Ref                       string   `json:"ref"` // "/code/owner/kernel-slug"
	URL                       string   `json:"url"`
	VersionNumber             Int      `json:"versionNumber,omitempty"` // 1, 2, 3 …; 0 = nothing was saved
	KernelID                  Int      `json:"kernelId"`
	Error                     string   `json:"error"` // non-empty = refused
	InvalidTags               []string `json:"invalidTags"`
	InvalidDatasetSources     []string `json:"invalidDatasetSources"`
	InvalidCompetitionSources []string `json:"invalidCompetitionSources"`
	InvalidKernelSources      []string `json:"invalidKernelSources"`
	InvalidModelSources       []string `json:"invalidModelSources"`
}

// StatusRequest asks for a session's state; VersionLabel ("v3") pins a version, "" follows the newest.
type StatusRequest struct {
	UserName     string `json:"userName"`
	KernelSlug   string `json:"kernelSlug"`
	VersionLabel string `json:"versionLabel,omitempty"`
}

// StatusResponse is kept raw: the status was seen as a word in several spellings, as a number, as null and missing.
// [ParseSessionState] reads it.
type StatusResponse struct {
	Status         json.RawMessage `json:"status,omitempty"`
	FailureMessage string          `json:"failureMessage,omitempty"`
}

// OutputsRequest lists what a finished session saved, and carries its log along.
type OutputsRequest struct {
	UserName     string `json:"userName"`
	KernelSlug   string `json:"kernelSlug"`
	PageSize     int    `json:"pageSize,omitempty"`
	PageToken    string `json:"pageToken,omitempty"`
	VersionLabel string `json:"versionLabel,omitempty"`
}

// OutputsResponse is one page. Log is a JSON array inside a string; it comes whole with every page.
type OutputsResponse struct {
	Files         []OutputEntry `json:"files"`
	Log           string        `json:"log,omitempty"`
	NextPageToken string        `json:"nextPageToken,omitempty"`
}

// OutputEntry is a file a session left, with a signed URL that expires.
type OutputEntry struct {
	FileName string `json:"fileName"`
	URL      string `json:"url"`
}

// KernelFilesRequest lists output files with sizes.
type KernelFilesRequest struct {
	UserName     string `json:"userName"`
	KernelSlug   string `json:"kernelSlug"`
	PageSize     int    `json:"pageSize,omitempty"`
	PageToken    string `json:"pageToken,omitempty"`
	VersionLabel string `json:"versionLabel,omitempty"`
}

// KernelFilesResponse is one page of output files.
type KernelFilesResponse struct {
	Files         []KernelFileEntry `json:"files"`
	NextPageToken string            `json:"nextPageToken,omitempty"`
}

// KernelFileEntry is one output file. CreationDate is prose ("3:38 pm, Saturday 6 June 2026 UTC"), not a timestamp.
type KernelFileEntry struct {
	Name         string `json:"name"`
	Size         Int    `json:"size,omitempty"` // bytes
	CreationDate string `json:"creationDate,omitempty"`
}

// DownloadOutputRequest asks for one file, or everything when FilePath is empty; the answer is a redirect to a signed URL.
// Mind the names: ownerSlug and versionNumber here, userName and versionLabel elsewhere.
type DownloadOutputRequest struct {
	OwnerSlug     string `json:"ownerSlug"`
	KernelSlug    string `json:"kernelSlug"`
	FilePath      string `json:"filePath,omitempty"`
	VersionNumber int    `json:"versionNumber,omitempty"`
}

// DownloadOutputZipRequest asks for a session's whole archive by session id.
type DownloadOutputZipRequest struct {
	KernelSessionID int64 `json:"kernelSessionId"`
}

// ListKernelsRequest lists kernels. Page counts from 1; the official tool asks for at most 100 a page.
type ListKernelsRequest struct {
	Group        string `json:"group,omitempty"`
	SortBy       string `json:"sortBy,omitempty"` // leave HOTNESS out
	User         string `json:"user,omitempty"`
	Search       string `json:"search,omitempty"`
	Dataset      string `json:"dataset,omitempty"`
	Competition  string `json:"competition,omitempty"`
	ParentKernel string `json:"parentKernel,omitempty"`
	Language     string `json:"language,omitempty"`
	KernelType   string `json:"kernelType,omitempty"`
	OutputType   string `json:"outputType,omitempty"`
	Page         int    `json:"page,omitempty"`
	PageSize     int    `json:"pageSize,omitempty"`
	PageToken    string `json:"pageToken,omitempty"`
}

// ListKernelsResponse holds sparsely filled metadata.
type ListKernelsResponse struct {
	Kernels       []KernelMetadata `json:"kernels"`
	NextPageToken string           `json:"nextPageToken,omitempty"`
}

// GetKernelRequest pulls metadata and source.
type GetKernelRequest struct {
	UserName     string `json:"userName"`
	KernelSlug   string `json:"kernelSlug"`
	VersionLabel string `json:"versionLabel,omitempty"`
}

// GetKernelResponse carries the whole source every time: nothing to poll with.
type GetKernelResponse struct {
	Metadata KernelMetadata `json:"metadata"`
	Blob     KernelBlob     `json:"blob"`
}

// KernelMetadata describes a kernel. MachineShape is that of the last session.
type KernelMetadata struct {
	ID                     Int       `json:"id,omitempty"`
	Ref                    string    `json:"ref,omitempty"` // "owner/slug"
	Title                  string    `json:"title,omitempty"`
	Author                 string    `json:"author,omitempty"`
	Slug                   string    `json:"slug,omitempty"`
	LastRunTime            Timestamp `json:"lastRunTime,omitzero"`
	Language               string    `json:"language,omitempty"`
	KernelType             string    `json:"kernelType,omitempty"`
	IsPrivate              bool      `json:"isPrivate,omitempty"`
	EnableGPU              bool      `json:"enableGpu,omitempty"`
	EnableTPU              bool      `json:"enableTpu,omitempty"`
	EnableInternet         bool      `json:"enableInternet,omitempty"`
	CategoryIDs            []string  `json:"categoryIds,omitempty"`
	DatasetDataSources     []string  `json:"datasetDataSources,omitempty"`
	KernelDataSources      []string  `json:"kernelDataSources,omitempty"`
	CompetitionDataSources []string  `json:"competitionDataSources,omitempty"`
	ModelDataSources       []string  `json:"modelDataSources,omitempty"`
	TotalVotes             Int       `json:"totalVotes,omitempty"`
	CurrentVersionNumber   Int       `json:"currentVersionNumber,omitempty"`
	DockerImage            string    `json:"dockerImage,omitempty"`
	MachineShape           string    `json:"machineShape,omitempty"`
}

// KernelBlob is the source of a kernel.
type KernelBlob struct {
	Source     string `json:"source,omitempty"`
	Language   string `json:"language,omitempty"`
	KernelType string `json:"kernelType,omitempty"`
	Slug       string `json:"slug,omitempty"`
}

// DeleteKernelRequest deletes a kernel with all versions and outputs.
type DeleteKernelRequest struct {
	UserName   string `json:"userName"`
	KernelSlug string `json:"kernelSlug"`
}

// ErrorMessageResponse answers DeleteKernel and CancelKernelSession; a non-empty text is a failure inside HTTP 200.
type ErrorMessageResponse struct {
	ErrorMessage string `json:"errorMessage,omitempty"`
}

// CancelSessionRequest stops a session by its id, which is not a version number and is in no public answer.
type CancelSessionRequest struct {
	KernelSessionID int64 `json:"kernelSessionId"`
}

// CreateSessionRequest starts an interactive session.
type CreateSessionRequest struct {
	Slug           string `json:"slug"`
	Language       string `json:"language,omitempty"`
	KernelType     string `json:"kernelType,omitempty"`
	DockerImage    string `json:"dockerImage,omitempty"`
	MachineShape   string `json:"machineShape,omitempty"`
	EnableInternet bool   `json:"enableInternet,omitempty"`
}

// GetOperationRequest polls an operation.
type GetOperationRequest struct {
	Name string `json:"name"`
}

// Operation is the answer to CreateKernelSession and GetOperation.
type Operation struct {
	Name     string          `json:"name,omitempty"`
	Done     bool            `json:"done,omitempty"`
	Error    *EnvelopeError  `json:"error,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// LogsStreamRequest is the RPC form of the live log. WaitForLogsURLSeconds (default 60, at most 300) is how long the
// server holds the request while the session is queued.
type LogsStreamRequest struct {
	UserName              string `json:"userName,omitempty"`
	KernelSlug            string `json:"kernelSlug,omitempty"`
	VersionLabel          string `json:"versionLabel,omitempty"`
	KernelSessionID       int64  `json:"kernelSessionId,omitempty"`
	WaitForLogsURLSeconds int    `json:"waitForLogsUrlSeconds,omitempty"`
}

// LogEntry is one record of a log as it is written: an element of the array, or the payload of one event.
type LogEntry struct {
	StreamName string  `json:"stream_name"` // stdout, stderr
	Time       float64 `json:"time"`        // seconds since the start
	Data       string  `json:"data"`        // a chunk, not a line
}

// QuotaResponse is the weekly accelerator quota; every field may be missing.
type QuotaResponse struct {
	QuotaRefreshTime Timestamp     `json:"quotaRefreshTime,omitzero"`
	GPUQuota         *QuotaPoolDoc `json:"gpuQuota,omitempty"`
	TPUQuota         *QuotaPoolDoc `json:"tpuQuota,omitempty"`
}

// QuotaPoolDoc is one pool. The durations are text ("5400s"); [ParseDuration] reads and [DurationJSON] writes them.
type QuotaPoolDoc struct {
	TimeUsed            json.RawMessage `json:"timeUsed,omitempty"`
	TimeReserved        json.RawMessage `json:"timeReserved,omitempty"`
	TotalTimeAllowed    json.RawMessage `json:"totalTimeAllowed,omitempty"`
	MinimumTimeAllowed  json.RawMessage `json:"minimumTimeAllowed,omitempty"`
	IsPayToScaleEnabled bool            `json:"isPayToScaleEnabled,omitempty"`
	HasEverRun          bool            `json:"hasEverRun,omitempty"`
}

// ErrorEnvelope is the error shape of the RPC surface, sent with the matching HTTP status.
type ErrorEnvelope struct {
	Error EnvelopeError `json:"error"`
}

// EnvelopeError is the inner part of [ErrorEnvelope].
type EnvelopeError struct {
	Code    Int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Status  string `json:"status,omitempty"` // NOT_FOUND, …
}

// PlainError is the error shape of the older surface. A code of 400 or more is an error even inside HTTP 200.
type PlainError struct {
	Code    Int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}
