package runnerpack

// Metadata is a kernel-metadata.json with every switch decided.
type Metadata struct {
	ID             string // owner/slug
	IDNo           int64  // numeric kernel id, 0 when not given; wins over ID at Kaggle
	Title          string
	CodeFile       string
	Language       string // python, r, rmarkdown, julia
	KernelType     string // script or notebook
	IsPrivate      bool
	EnableGPU      bool
	EnableTPU      bool
	EnableInternet bool
	MachineShape   string // "" is a CPU machine and is left out of the file
	DatasetSources, CompetitionSources,
	KernelSources, ModelSources []string
	Keywords               []string
	DockerImage            string
	DockerImagePinningType string
}

// Identity is a kernel's name, checked.
type Identity struct {
	Owner, Slug, Title string
	Notes              []string // what was normalised
}

// ID is owner/slug.
func (i Identity) ID() string { return i.Owner + "/" + i.Slug }

// Folder is a kernel folder made fit to push.
type Folder struct {
	Dir      string
	Metadata Metadata
	Source   string       // the script, or the normalised notebook as JSON
	Record   *BuildRecord // of a folder that Pack wrote, else nil
	Warnings []string
	Fixed    []string // what was changed on the way, each a sentence
}

// Folds is what a folds file says.
type Folds struct {
	Folds    []int    // ascending, never negative
	Rows     int      // data rows, held-out ones included
	HeldOut  []string // ids (or "row N" without an id column) of rows with a negative fold
	Warnings []string
	Counts   map[int]int // rows a fold
}
