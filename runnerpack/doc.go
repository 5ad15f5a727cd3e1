// Package runnerpack packs a training project into a Kaggle kernel folder and
// reads back what a session saved.
//
// Start with Pack: it turns a Spec (a project folder, a command, hours, folds)
// into one self-contained Python script with its kernel-metadata.json. The
// script carries the session runner (session/, Python, embedded in this
// package), the person's code and the frozen folds, and is the same to the
// byte whenever its input is the same.
//
// ReadFolder accepts any kernel folder, one of ours or anybody's, and makes it
// fit to push: switches given as strings become booleans, notebooks become the
// shape Kaggle accepts, pins and accelerator blocks that contradict the request
// go, and everything that was changed is named.
//
// ReadOutputs reads the folder of a finished session. A session can be killed
// at any moment, so every part of it may be missing, cut short or damaged:
// each such part is a named problem and never stops the rest from being read.
//
// The package knows nothing of HTTP, accounts or screens, and runs no code of
// the person's.
package runnerpack
