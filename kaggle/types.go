package kaggle

import (
	"context"
	"time"
)

// Identity is whose token this is.
type Identity struct {
	Active   bool // false: revoked, expired, or without an account name
	Username string
	UserID   int64
	ClientID string
	Scope    string    // space separated
	Expires  time.Time // zero: not said
}

// LogRecord is one chunk of a session's output. Data is not a line: it may hold half a line or several.
type LogRecord struct {
	Stream string  // stdout or stderr
	Time   float64 // seconds since the start
	Data   string
}

// LogCondition says how a log came.
type LogCondition int

// Conditions of a log.
const (
	LogOK     LogCondition = iota
	LogEmpty               // nothing yet; normal while a run is queued or running
	LogCutOff              // damaged or cut off: what could be read is there, the log is incomplete
	LogPlain               // not JSON: shown as plain text
)

// String names the condition.
func (c LogCondition) String() string {
	switch c {
	case LogOK:
		return "ok"
	case LogEmpty:
		return "empty"
	case LogCutOff:
		return "cut off"
	default:
		return "plain"
	}
}

// DecodedLog is a log that was read as far as it goes.
type DecodedLog struct {
	Records   []LogRecord // in the order received
	Condition LogCondition
}

// LogEnd is how a followed log stopped.
type LogEnd int

// Ends of a followed log.
const (
	LogDropped LogEnd = iota // no sentinel was seen: ask for the status; not terminal means follow again
	LogEnded                 // END_OF_LOG, or the whole log of a finished session
)

// String names the end.
func (e LogEnd) String() string {
	if e == LogEnded {
		return "ended"
	}
	return "dropped"
}

// OutputFile is a file a session saved. Name is a path with slashes relative to the working folder, as the run chose it:
// give it to [CleanOutputPath] before it touches a disk. URL is signed and expires.
type OutputFile struct{ Name, URL string }

// OutputListing is everything a session saved. Log is what [DecodeLog] takes.
type OutputListing struct {
	Files      []OutputFile // each name once, in the order of the first mention
	Log        string
	Incomplete bool // not every page could be read
}

// KernelFile is an output file with its size in bytes. Created is prose, as the service writes it.
type KernelFile struct {
	Name    string
	Size    int64
	Created string
}

// DownloadOptions are optional.
type DownloadOptions struct {
	// Progress is called as bytes arrive; total is -1 while unknown.
	Progress func(done, total int64)
	// Refresh gives a new URL after 401, 403 or 404: signed URLs expire.
	Refresh func(ctx context.Context) (string, error)
	// SHA256 is the expected digest in hex, checked before the file gets its name.
	SHA256 string
}

// DownloadResult tells what was fetched.
type DownloadResult struct {
	Path     string
	Bytes    int64
	Resumed  bool   // an earlier part file was continued
	Verified string // the strongest check made: "sha256", "md5", "crc32c", "size", or "" when the server gave nothing to check
	ModTime  time.Time
}

// KernelMeta describes a kernel. Lists fill it sparsely.
type KernelMeta struct {
	ID                        int64
	Ref                       Ref
	Title, Author             string
	Language, KernelType      string
	MachineShape, DockerImage string // of the last session
	LastRunTime               time.Time
	CurrentVersion            int
	IsPrivate                 bool
	EnableGPU, EnableTPU      bool
	EnableInternet            bool
	DatasetSources            []string
	CompetitionSources        []string
	KernelSources             []string
	ModelSources              []string
}

// Kernel is a kernel with its source.
type Kernel struct {
	Meta   KernelMeta
	Source string
}

// DatasetQuery searches datasets. Page counts from 1; 0 is the first.
type DatasetQuery struct {
	Search string
	User   string
	Mine   bool
	SortBy string // a DATASET_SORT_BY_… name; "" is the server's own order
	Page   int
}

// Dataset is a dataset that a kernel can take as input.
type Dataset struct {
	ID             int64
	Ref            Ref
	Title          string
	Subtitle       string
	Owner          string // display name
	TotalBytes     int64
	LastUpdated    time.Time
	CurrentVersion int
	IsPrivate      bool
	License        string
	Downloads      int64
	Votes          int64
}

// CompetitionQuery searches competitions.
type CompetitionQuery struct {
	Search  string
	Entered bool // only those whose rules the account accepted
	Page    int  // from 1; 0 is the first
}

// Competition is a competition. A kernel can take its data only when UserHasEntered.
type Competition struct {
	ID             int64
	Slug           string
	Title          string
	Description    string
	Category       string
	Reward         string
	Organization   string
	URL            string
	Deadline       time.Time // zero: not said
	Teams          int64
	UserHasEntered bool
	KernelsOnly    bool
}

// DataFile is a file of a dataset or a competition; sizes are in bytes.
type DataFile struct {
	Name    string
	Size    int64
	Created time.Time
}
