// Package kaggle is a client of Kaggle's public API: sign-in, quota, pushing kernels, following them, fetching what they
// saved, and looking up inputs.
//
// The wire is Kaggle's RPC surface: POST {base}/{package.Service}/{Method} with a JSON object, reads included. Field names,
// enum names and error shapes follow the official command line tool and SDK; what those do not show (server behaviour) is
// treated as hearsay, and decoders accept every form that has been reported.
//
// The package knows nothing of runs, folds or screens. It never prints a credential: see [Secret].
package kaggle
