package runnerpack

import (
	"context"
	"errors"
)

var errPending = errors.New("runnerpack: under construction")

// Pack builds the kernel folder that spec asks for.
func Pack(ctx context.Context, spec Spec) (*Build, error) { return nil, errPending }

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
