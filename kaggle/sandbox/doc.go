// Package sandbox is an embedded Kaggle: it speaks the public API's protocol on a loopback port or in process, keeps
// kernels, versions, sessions, outputs, datasets, competitions, slots and weekly quota of its own, and really executes
// the kernels that are pushed to it, as Python processes on this machine.
//
// Start with [New]. [Sandbox.Listen] and [Sandbox.Serve] put it on a port; [Sandbox.Transport] is the same thing as an
// http.RoundTripper without any socket, so that testing/synctest can run days of queueing in milliseconds.
//
// What the sandbox's clock does: Options.Speed makes the waits in its queue, the burning of quota and the weekly reset
// faster. It never touches the process that runs, its time limit, or any time shown about it (lastRunTime, log
// times, file dates), which are the wall's.
//
// What it does not do: it gives no GPU and no TPU (it can only pretend to, see Options.FakeGPUs), has no Docker image
// and therefore only the packages of this machine's Python, does not make inputs read-only, and does not map the
// absolute folder /kaggle: a kernel finds its folders through KAGGLE_INPUT, KAGGLE_WORKING and its working directory.
// A kernel runs with the rights of the person who started the sandbox: push only what you would run yourself.
//
// Server behaviour that cannot be read from the official client's source (error texts, orders of checks, what a
// refused push leaves behind) follows public reports, and is marked "reported" where it is decided.
package sandbox
