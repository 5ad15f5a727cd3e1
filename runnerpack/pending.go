package runnerpack

import (
	"context"
	"errors"
)

var errPending = errors.New("runnerpack: under construction")

// Pack builds the kernel folder that spec asks for.
func Pack(ctx context.Context, spec Spec) (*Build, error) { return nil, errPending }

// ReadFolder reads a kernel folder and makes it fit to push.
func ReadFolder(dir string) (*Folder, error) { return nil, errPending }

// ParseMetadata reads a kernel-metadata.json.
func ParseMetadata(raw []byte) (Metadata, []string, error) { return Metadata{}, nil, errPending }

// CheckIdentity checks a title against an id.
func CheckIdentity(title, id string) (Identity, error) { return Identity{}, errPending }

// Slugify is Kaggle's way from a title to a slug.
func Slugify(title string) string { return "" }

// CheckAccelerator checks the switches of m against each other and corrects spelling.
func CheckAccelerator(m *Metadata) (fixed, warnings []string, err error) { return nil, nil, errPending }

// NormaliseNotebook makes a notebook fit to push.
func NormaliseNotebook(raw []byte) ([]byte, []string, error) { return nil, nil, errPending }

// ReadOutputs reads a session's output folder.
func ReadOutputs(dir string) (*Outputs, error) { return nil, errPending }

// ReadCurves reads the curve_fold<k>.json files of a folder.
func ReadCurves(dir string) ([]Curve, error) { return nil, errPending }

// ParseTelemetry reads a log line of the runner.
func ParseTelemetry(line string) (Telemetry, bool) { return Telemetry{}, false }

// CheckManifest compares a folder with its manifest.json.
func CheckManifest(dir string) ([]ManifestProblem, error) { return nil, errPending }

// ReadNpy reads a numeric .npy file.
func ReadNpy(path string) (Array, error) { return Array{}, errPending }
