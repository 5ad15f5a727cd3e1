package runnerpack

import (
	"encoding/json"
	"math"
	"strings"
)

// telemetryMark begins a line of the runner's in the log.
const telemetryMark = "::sandglass "

// maxTelemetryLine bounds a line: points come in batches, not whole runs.
const maxTelemetryLine = 1 << 20

// ParseTelemetry reads a log line of the runner, "::sandglass {json}". ok is
// false for any other line, for a line cut short and for a kind that this
// version does not know. What stands before the mark on the line (a prefix of
// the log's own) is ignored.
func ParseTelemetry(line string) (Telemetry, bool) {
	at := strings.Index(line, telemetryMark)
	if at < 0 || len(line) > maxTelemetryLine {
		return Telemetry{}, false
	}
	return parseTelemetry([]byte(line[at+len(telemetryMark):]))
}

// parseTelemetry reads the JSON of a line, in the log or in telemetry.jsonl.
func parseTelemetry(raw []byte) (Telemetry, bool) {
	var head struct {
		Kind string   `json:"k"`
		T    *float64 `json:"t"`
	}
	if unmarshalPython(raw, &head) != nil || head.T == nil || *head.T < 0 {
		return Telemetry{}, false
	}
	t := Telemetry{Kind: head.Kind, T: *head.T}
	var err error
	switch head.Kind {
	case "session":
		t.Session = new(TelemetrySession)
		err = unmarshalPython(raw, t.Session)
	case "task":
		t.Task = new(TelemetryTask)
		err = unmarshalPython(raw, t.Task)
	case "point":
		t.Points, err = parsePoints(raw)
	case "util":
		t.Util, err = parseUtil(raw, t.T)
	case "note":
		t.Note = &Note{T: t.T}
		err = unmarshalPython(raw, &struct {
			Level *string `json:"level"`
			Text  *string `json:"text"`
		}{&t.Note.Level, &t.Note.Text})
	case "end":
		t.End = new(TelemetryEnd)
		err = unmarshalPython(raw, t.End)
	default:
		return Telemetry{}, false
	}
	if err != nil {
		return Telemetry{}, false
	}
	return t, true
}

func parsePoints(raw []byte) (*Curve, error) {
	var line struct {
		Job     string       `json:"job"`
		Fold    int          `json:"fold"`
		Epochs  int          `json:"epochs"`
		Greater *bool        `json:"greater"`
		Points  [][]*float64 `json:"pts"`
	}
	if err := unmarshalPython(raw, &line); err != nil {
		return nil, err
	}
	c := &Curve{Job: line.Job, Fold: line.Fold, Epochs: line.Epochs, Greater: line.Greater == nil || *line.Greater}
	for _, p := range line.Points {
		if len(p) < 2 || p[0] == nil || *p[0] < 0 || *p[0] > maxEpochs || *p[0] != math.Trunc(*p[0]) {
			continue
		}
		point := Point{Epoch: int(*p[0]), Score: math.NaN()}
		if p[1] != nil {
			point.Score = *p[1]
		}
		if len(p) > 2 && p[2] != nil {
			point.Seconds = *p[2]
		}
		c.Points = append(c.Points, point)
	}
	return c, nil
}

func parseUtil(raw json.RawMessage, t float64) ([]UtilSample, error) {
	var line struct {
		Dev []struct {
			Device string   `json:"d"`
			Util   *float64 `json:"util"`
			Mem    *float64 `json:"mem"`
			Power  *float64 `json:"power"`
		} `json:"dev"`
	}
	if err := unmarshalPython(raw, &line); err != nil {
		return nil, err
	}
	var out []UtilSample
	for _, d := range line.Dev {
		if d.Device == "" || d.Util == nil {
			continue // a device that gave nothing is no sample of zero
		}
		s := UtilSample{T: t, Device: d.Device, Util: *d.Util}
		if d.Mem != nil {
			s.MemMB = *d.Mem
		}
		if d.Power != nil {
			s.PowerW, s.HasPower = *d.Power, true
		}
		out = append(out, s)
	}
	return out, nil
}
