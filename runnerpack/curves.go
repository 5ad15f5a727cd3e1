package runnerpack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	maxCurveBytes = 16 << 20
	maxEpochs     = 1 << 20
)

func curveName(fold int) string { return fmt.Sprintf("curve_fold%d.json", fold) }

// curveFold is the fold of a curve's file name.
func curveFold(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "curve_fold")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, ".json"); !ok {
		return 0, false
	}
	k, err := strconv.Atoi(digits)
	return k, err == nil && k >= 0 && name == curveName(k)
}

// ReadCurves reads the curve_fold<k>.json files of a folder, by fold. The job is
// the folder's name. Files that cannot be read are joined into the error; the
// curves that can be are returned all the same.
func ReadCurves(dir string) ([]Curve, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, newPathError(dir, err)
	}
	var curves []Curve
	var bad []error
	for _, e := range entries {
		fold, ok := curveFold(e.Name())
		if !ok {
			continue
		}
		c, err := readCurve(filepath.Join(dir, e.Name()))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		c.Job, c.Fold = filepath.Base(dir), fold
		curves = append(curves, c)
	}
	slices.SortFunc(curves, func(a, b Curve) int { return a.Fold - b.Fold })
	return curves, errors.Join(bad...)
}

func readCurve(path string) (Curve, error) {
	raw, err := readFile(path, maxCurveBytes)
	if err != nil {
		return Curve{}, err
	}
	var file struct {
		Epochs  int   `json:"epochs"`
		Greater *bool `json:"greater_is_better"`
		Points  []struct {
			Epoch   int      `json:"epoch"`
			Score   *float64 `json:"score"`
			Seconds *float64 `json:"seconds"`
		} `json:"points"`
	}
	if err := unmarshalPython(raw, &file); err != nil {
		return Curve{}, fmt.Errorf("%s: %w", path, err)
	}
	c := Curve{Epochs: file.Epochs, Greater: file.Greater == nil || *file.Greater}
	for _, p := range file.Points {
		if p.Epoch < 0 || p.Epoch > maxEpochs {
			return Curve{}, fmt.Errorf("%s: epoch %d", path, p.Epoch)
		}
		point := Point{Epoch: p.Epoch, Score: math.NaN()}
		if p.Score != nil {
			point.Score = *p.Score
		}
		if p.Seconds != nil {
			point.Seconds = *p.Seconds
		}
		c.Points = append(c.Points, point)
	}
	return c, nil
}

// unmarshalPython reads JSON as Python writes it: NaN and the infinities, which
// a diverged loss leaves behind, become null.
func unmarshalPython(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	return json.Unmarshal(nullNaN(raw), v)
}

var notNumbers = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// nullNaN replaces NaN, Infinity and -Infinity outside of texts.
func nullNaN(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	quoted := false
next:
	for i := 0; i < len(raw); i++ {
		if quoted {
			out = append(out, raw[i])
			if raw[i] == '\\' && i+1 < len(raw) {
				i++
				out = append(out, raw[i])
			} else {
				quoted = raw[i] != '"'
			}
			continue
		}
		for _, word := range notNumbers {
			if bytes.HasPrefix(raw[i:], word) {
				out = append(out, "null"...)
				i += len(word) - 1
				continue next
			}
		}
		quoted = raw[i] == '"'
		out = append(out, raw[i])
	}
	return out
}

// isMissing: a file that is not there, as opposed to one that cannot be read.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
