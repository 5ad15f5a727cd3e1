-- +goose Up
-- The launch queue: one row a run that may be pushed by itself, with exactly what the person agreed to. A run that waits
-- without such a row must never be pushed without being asked about again.
CREATE TABLE queue (
	run           INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	account       INTEGER NOT NULL,
	place         INTEGER NOT NULL, -- order within the account, the smallest first
	since         INTEGER NOT NULL, -- when it was authorised
	consent       TEXT    NOT NULL, -- by what: a button, the terminal, --yes
	dir           TEXT    NOT NULL, -- the build folder
	cap           INTEGER NOT NULL,
	accelerator   TEXT    NOT NULL,
	source_sha256 TEXT    NOT NULL,
	tried_at      INTEGER NOT NULL, -- last look or try
	not_before    INTEGER NOT NULL, -- Kaggle asked for a pause until then
	code          TEXT    NOT NULL, -- what it waits for: slots, quota, inputs, behind, pace, …
	why           TEXT    NOT NULL,
	stopped_at    INTEGER NOT NULL, -- the authorisation ended, and why and advice say how; 0 = it stands
	advice        TEXT    NOT NULL
);
CREATE INDEX queue_by_place ON queue (account, place, run);

-- Runs that waited before there was this table had been agreed to, except those that came back from a push whose outcome
-- was unclear: of these nothing says that the person wanted them to go out by themselves.
INSERT INTO queue
SELECT id, account, id, created_at, consent, build_dir, cap, accelerator, source_sha256, 0, 0, '', note, 0, ''
FROM runs WHERE state = 'waiting' AND account IS NOT NULL AND note NOT LIKE 'The push did not reach Kaggle%';
UPDATE runs SET state = 'refused', failure = 'not pushed: Kaggle has no such version; push again'
WHERE state = 'waiting' AND id NOT IN (SELECT run FROM queue);
