package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandglass/app/runlog"
	"sandglass/kaggle"
)

// placeArtifacts copies artifacts/** of this version to the project. Files that
// are the same are left; one that differs first moves out of the way, so that a
// collect never loses anything. Only what came now is placed once the run has
// been collected before: an old run collected again does not cover a newer one's.
func (j *collectJob) placeArtifacts() error {
	if j.place == "" {
		return nil
	}
	again := !j.r.CollectedAt.IsZero()
	for _, it := range j.items {
		if !it.have || again && !it.fetched || !strings.HasPrefix(it.path, "artifacts/") {
			continue
		}
		dst := filepath.Join(j.place, filepath.FromSlash(it.path))
		same, there, err := sameFile(it.dest, dst)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		if there {
			if err := j.setAside(dst, it.path); err != nil {
				return fmt.Errorf("move the earlier %s out of the way: %w", it.path, err)
			}
			j.a.at("collect: between an old artifact and the new one")
		}
		if err := copyFile(it.dest, dst); err != nil {
			return err
		}
		j.a.at("collect: after an artifact")
	}
	return nil
}

// sameFile compares two files by content.
func sameFile(a, b string) (same, there bool, err error) {
	sa, err := os.Stat(a)
	if err != nil {
		return false, false, err
	}
	sb, err := os.Stat(b)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if sa.Size() != sb.Size() {
		return false, true, nil
	}
	ha, err := fileSHA256(a)
	if err != nil {
		return false, true, err
	}
	hb, err := fileSHA256(b)
	return ha == hb, true, err
}

// setAside moves an artifact that is about to be replaced below the project's
// replaced folder; of several of one name all are kept.
func (j *collectJob) setAside(path, rel string) error {
	to := filepath.Join(j.place, filepath.FromSlash(replacedFolder), versionName(j.r), filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	free := to
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			break
		}
		free = fmt.Sprintf("%s.%d", to, n)
	}
	return os.Rename(path, free)
}

// saveLog keeps the finished log: as records for the log page, and as plain UTF-8
// text beside the outputs. It replaces what was streamed unless it says less.
func (j *collectJob) saveLog(ctx context.Context) error {
	d := kaggle.DecodeLog([]byte(j.log))
	switch d.Condition {
	case kaggle.LogCutOff:
		j.problem = append(j.problem, "Kaggle's log is cut off or damaged; what can be read of it is kept")
	case kaggle.LogPlain:
		j.problem = append(j.problem, "Kaggle's log is plain text without times")
	}
	var have []kaggle.LogRecord
	f, err := j.a.openLog(j.r.ID, func(rec kaggle.LogRecord) { have = append(have, rec) })
	if err != nil {
		return err
	}
	f.f.Close()
	recs := d.Records
	if dataLen(recs) < dataLen(have) {
		recs = have
	} else if len(recs) > 0 {
		if err := writeFile(j.a.logPath(j.r.ID), encodeRecords(recs)); err != nil {
			return fmt.Errorf("keep the log: %w", err)
		}
		j.a.logs.forget(j.r.ID)
	}
	j.a.at("collect: between the log and its text")
	if len(recs) == 0 {
		return nil
	}
	text := strings.Join(kaggle.LogLines(recs), "\n") + "\n"
	if err := writeFile(filepath.Join(j.dir, "kaggle-log.txt"), []byte(text)); err != nil {
		return fmt.Errorf("keep the log: %w", err)
	}
	in := newIngest(j.a, j.r)
	for _, rec := range recs {
		in.add(rec, true)
	}
	return in.store(ctx, len(recs))
}

func dataLen(recs []kaggle.LogRecord) int {
	n := 0
	for _, r := range recs {
		n += len(r.Data)
	}
	return n
}

// collectOn says whether ended runs are collected by themselves: the setting
// "collect.auto", on unless it says "off".
func (a *App) collectOn(ctx context.Context) bool { return a.Setting(ctx, "collect.auto") != "off" }

// willCollect says whether the watcher is going to collect the run, so that
// "finished" can wait until its files are home.
func (w *watcher) willCollect(r runlog.Run) bool {
	return ended(r.State) && (r.Origin == originPush || r.Origin == originFolder) && r.CollectedAt.IsZero() && w.a.collectOn(w.a.ctx)
}
