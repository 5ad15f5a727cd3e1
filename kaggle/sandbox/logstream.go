package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"sandglass/kaggle"
)

// logWait is how long a stream request is held while its session is queued, in wall time.
const (
	logWait    = 60 * time.Second
	logWaitMax = 300 * time.Second
)

// logStreamGET is the live log as the official tool asks for it.
func (s *Sandbox) logStreamGET(w http.ResponseWriter, r *http.Request) {
	who, err := s.authenticate(r)
	if err != nil || who == "" {
		writeError(w, errUnauthenticated)
		return
	}
	err = s.streamLog(w, r, who, &kaggle.LogsStreamRequest{
		UserName: r.PathValue("owner"), KernelSlug: r.PathValue("slug"), VersionLabel: r.URL.Query().Get("versionLabel"),
	})
	if err != nil {
		s.answer(w, r, nil, err)
	}
}

// logsStream is the same as an RPC.
func (s *Sandbox) logsStream(c *call, req *kaggle.LogsStreamRequest) (any, error) {
	return nil, s.streamLog(c.w, c.r, c.who, req)
}

// streamLog answers with server-sent events from the first record on while the session lives, and with the whole log
// as one JSON array once it is over. A session that stays queued past the wait gets an event stream that ends without
// the sentinel; what Kaggle does then is unknown.
func (s *Sandbox) streamLog(w http.ResponseWriter, r *http.Request, who string, req *kaggle.LogsStreamRequest) error {
	wait := logWait
	if n := req.WaitForLogsURLSeconds; n > 0 {
		wait = min(time.Duration(n)*time.Second, logWaitMax)
	}
	x, l, err := s.logOf(who, req)
	if err != nil {
		return err
	}
	if l != nil {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-l.started:
		case <-l.done:
		case <-timer.C:
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			w.WriteHeader(http.StatusOK)
			return nil
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	if l == nil || l.log == nil {
		recs, err := readLog(s.logPath(x), 0, -1)
		if err != nil {
			return err
		}
		raw := logArray(recs)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
		w.Write(raw)
		return nil
	}
	return s.follow(w, r, x, l.log)
}

// logOf finds the session a stream is asked for, and its live part if it has one.
func (s *Sandbox) logOf(who string, req *kaggle.LogsStreamRequest) (int64, *liveSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := req.KernelSessionID; id != 0 {
		x := s.st.Sessions[id]
		if x == nil || s.st.Kernels[x.Kernel] == nil || s.st.Kernels[x.Kernel].Owner != who {
			return 0, nil, errDenied
		}
		return id, s.live[id], nil
	}
	x, err := s.sessionOf(who, req.UserName, req.KernelSlug, req.VersionLabel)
	if err != nil {
		return 0, nil, err
	}
	return x.ID, s.live[x.ID], nil
}

// follow writes events until the log ends or the client goes.
func (s *Sandbox) follow(w http.ResponseWriter, r *http.Request, id int64, log *sessionLog) error {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	flush.Flush()
	fault, faulty := faultIn(r.Context(), FaultReplayLog)
	sent := 0
	var from int64
	for {
		size, ended, changed := log.at()
		recs, err := readLog(s.logPath(id), from, size)
		if err != nil {
			return nil // the kernel was deleted; the stream just ends
		}
		from = size
		for _, rec := range recs {
			if faulty && sent >= fault.Records {
				return nil
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", rec); err != nil {
				return nil
			}
			sent++
		}
		if ended {
			break
		}
		flush.Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		}
	}
	if !faulty {
		fmt.Fprintf(w, "data: %s\n\n", kaggle.EndOfLog)
	}
	flush.Flush()
	return nil
}
