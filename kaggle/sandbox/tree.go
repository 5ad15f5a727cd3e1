package sandbox

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"
)

// tree is a running session process with everything it starts.
type tree struct {
	cmd   *exec.Cmd
	mark  string
	waits chan error
	pipes []*os.File
	pumps sync.WaitGroup
	end   func() // ends every process of the tree; set by start
	free  func() // gives back what start took from the system; may be nil
}

// startTree starts cmd as the head of a process tree of its own, with its output pumped into the job's log.
func startTree(cmd *exec.Cmd, job Job, say func(string, ...any)) (*tree, error) {
	t := &tree{cmd: cmd, mark: job.Mark, waits: make(chan error, 1)}
	var ends []*os.File
	for _, stream := range []string{"stdout", "stderr"} {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(ends, t.pipes...))
			return nil, err
		}
		t.pipes, ends = append(t.pipes, r), append(ends, w)
		if stream == "stdout" {
			cmd.Stdout = w
		} else {
			cmd.Stderr = w
		}
	}
	started := make(chan error)
	go func() {
		// Linux ties the parent-death signal to the thread that started the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := t.start(job, say)
		started <- err
		if err == nil {
			t.waits <- t.cmd.Wait()
		}
	}()
	err := <-started
	closeAll(ends)
	if err != nil {
		closeAll(t.pipes)
		return nil, err
	}
	for i, stream := range []string{"stdout", "stderr"} {
		t.pumps.Go(func() { pump(t.pipes[i], stream, job.Log) })
	}
	return t, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// kill ends the whole tree and returns when it is gone.
func (t *tree) kill() { t.end() }

// wait returns when the head of the tree has ended.
func (t *tree) wait() error { return <-t.waits }

// drain reads what is left in the pipes. A process that escaped the kill must not hold the session open, hence the
// limit.
func (t *tree) drain(limit time.Duration) {
	done := make(chan struct{})
	go func() { t.pumps.Wait(); close(done) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	closeAll(t.pipes)
	<-done
	if t.free != nil {
		t.free()
	}
}

// settle is how long a chunk without a line end waits for the rest of its line: print writes text and line end apart.
const settle = 20 * time.Millisecond

// pump turns a stream into log chunks: whole UTF-8, joined when they come at once.
func pump(r *os.File, stream string, log func(stream, data string)) {
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			b := make([]byte, 32<<10)
			n, err := r.Read(b)
			if n > 0 {
				chunks <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	var held []byte
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case b, ok := <-chunks:
			if !ok {
				log(stream, string(held))
				return
			}
			held = append(held, b...)
			if len(held) < 64<<10 && held[len(held)-1] != '\n' {
				timer.Reset(settle)
				continue
			}
		case <-timer.C:
		}
		n := wholeRunes(held)
		log(stream, string(held[:n]))
		held = append([]byte(nil), held[n:]...)
	}
}

// wholeRunes is the length of b without a character that is cut off at its end.
func wholeRunes(b []byte) int {
	for i := 1; i <= 3 && i <= len(b); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return len(b) - i
			}
			break
		}
	}
	return len(b)
}
