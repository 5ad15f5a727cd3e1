-- +goose Up
-- Times are milliseconds since 1970 UTC (0 = has not happened), durations are milliseconds, lists are JSON.
PRAGMA application_id = 0x53474c47;

CREATE TABLE accounts (
	id            INTEGER PRIMARY KEY,
	username      TEXT    NOT NULL COLLATE NOCASE,
	kind          TEXT    NOT NULL,
	endpoint      TEXT    NOT NULL,
	auth_kind     TEXT    NOT NULL,
	store         TEXT    NOT NULL,
	speed         REAL    NOT NULL,
	added_at      INTEGER NOT NULL,
	used_at       INTEGER NOT NULL,
	signed_out_at INTEGER NOT NULL,
	UNIQUE (kind, endpoint, username)
);

CREATE TABLE runs (
	id                INTEGER PRIMARY KEY AUTOINCREMENT,
	account           INTEGER REFERENCES accounts (id),
	kernel            TEXT    NOT NULL,
	name              TEXT    NOT NULL,
	project           TEXT    NOT NULL,
	build_dir         TEXT    NOT NULL,
	artifacts_dir     TEXT    NOT NULL,
	command           TEXT    NOT NULL,
	accelerator       TEXT    NOT NULL,
	build_id          TEXT    NOT NULL,
	source_sha256     TEXT    NOT NULL,
	url               TEXT    NOT NULL,
	version           INTEGER NOT NULL,
	kernel_id         INTEGER NOT NULL,
	cap               INTEGER NOT NULL,
	folds             TEXT    NOT NULL,
	jobs              TEXT    NOT NULL,
	inputs            TEXT    NOT NULL,
	state             TEXT    NOT NULL,
	status            TEXT    NOT NULL,
	failure           TEXT    NOT NULL,
	outcome           TEXT    NOT NULL,
	metric            TEXT    NOT NULL,
	greater           INTEGER NOT NULL,
	score             REAL,
	baseline_name     TEXT    NOT NULL,
	baseline_score    REAL,
	prune_margin      REAL    NOT NULL,
	prune_min_frac    REAL    NOT NULL,
	created_at        INTEGER NOT NULL,
	pushed_at         INTEGER NOT NULL,
	queued_at         INTEGER NOT NULL,
	started_at        INTEGER NOT NULL,
	ended_at          INTEGER NOT NULL,
	collected_at      INTEGER NOT NULL,
	seen_at           INTEGER NOT NULL,
	unreachable_since INTEGER NOT NULL,
	burned            INTEGER NOT NULL,
	log_records       INTEGER NOT NULL,
	consent           TEXT    NOT NULL,
	note              TEXT    NOT NULL,
	origin            TEXT    NOT NULL,
	internet          INTEGER NOT NULL,
	script_bytes      INTEGER NOT NULL,
	parts             TEXT    NOT NULL
);
CREATE INDEX runs_by_time ON runs (created_at DESC, id DESC);
CREATE INDEX runs_by_state ON runs (state, created_at DESC, id DESC);
-- Not unique: a kernel that was deleted at Kaggle and pushed again starts over at version 1.
CREATE INDEX runs_by_kernel ON runs (kernel, version);
CREATE INDEX runs_by_account ON runs (account);

CREATE TABLE tasks (
	id      INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	job     TEXT    NOT NULL,
	fold    INTEGER NOT NULL, -- -1 = a job without folds
	state   TEXT    NOT NULL,
	device  TEXT    NOT NULL,
	error   TEXT    NOT NULL,
	seconds REAL    NOT NULL,
	best    REAL,
	epochs  INTEGER NOT NULL,
	UNIQUE (run, job, fold)
);

CREATE TABLE curves (
	id      INTEGER PRIMARY KEY,
	run     INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	series  TEXT    NOT NULL,
	job     TEXT    NOT NULL,
	fold    INTEGER NOT NULL,
	epochs  INTEGER NOT NULL,
	greater INTEGER NOT NULL,
	UNIQUE (run, series, job, fold)
);

CREATE TABLE points (
	curve   INTEGER NOT NULL REFERENCES curves (id) ON DELETE CASCADE,
	epoch   INTEGER NOT NULL,
	score   REAL, -- NULL = not a number
	seconds REAL, -- NULL = not known
	PRIMARY KEY (curve, epoch)
) WITHOUT ROWID;

CREATE TABLE util (
	run    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	device TEXT    NOT NULL,
	t      INTEGER NOT NULL, -- milliseconds since the session's start
	util   REAL,
	mem    REAL,
	power  REAL,
	n      INTEGER NOT NULL, -- samples merged into this one
	PRIMARY KEY (run, device, t)
) WITHOUT ROWID;

CREATE TABLE findings (
	run    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	n      INTEGER NOT NULL,
	code   TEXT    NOT NULL,
	level  TEXT    NOT NULL,
	text   TEXT    NOT NULL,
	detail TEXT    NOT NULL,
	fix    TEXT    NOT NULL,
	PRIMARY KEY (run, n)
) WITHOUT ROWID;

CREATE TABLE files (
	run    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	path   TEXT    NOT NULL,
	size   INTEGER NOT NULL,
	sha256 TEXT    NOT NULL,
	state  TEXT    NOT NULL,
	local  TEXT    NOT NULL,
	PRIMARY KEY (run, path)
) WITHOUT ROWID;

CREATE TABLE quota (
	id           INTEGER PRIMARY KEY,
	account      INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
	at           INTEGER NOT NULL,
	gpu_used     INTEGER, -- all three NULL = the pool was not reported
	gpu_reserved INTEGER,
	gpu_total    INTEGER,
	tpu_used     INTEGER,
	tpu_reserved INTEGER,
	tpu_total    INTEGER,
	refresh_at   INTEGER NOT NULL
);
CREATE INDEX quota_by_time ON quota (account, at, id);

CREATE TABLE events (
	seq  INTEGER PRIMARY KEY AUTOINCREMENT,
	kind TEXT    NOT NULL,
	run  INTEGER NOT NULL,
	at   INTEGER NOT NULL,
	data TEXT    NOT NULL
);

CREATE TABLE once (
	key TEXT PRIMARY KEY,
	at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;
