-- +goose Up
-- What could be run next: ideas with their expected hours and gain. Plan chooses from those that are ready.
CREATE TABLE backlog (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	name       TEXT    NOT NULL,
	project    TEXT    NOT NULL, -- folder, '' = none
	command    TEXT    NOT NULL,
	dir        TEXT    NOT NULL, -- build folder, '' = not built yet
	pool       TEXT    NOT NULL, -- gpu, tpu, cpu
	hours      REAL    NOT NULL, -- it will probably burn; 0 = not known
	gain       REAL,             -- expected, above zero is better; NULL = not known
	gain_sd    REAL,
	validated  INTEGER NOT NULL, -- ready to start: the script ran, and the idea is worth its hours
	divisible  INTEGER NOT NULL, -- saves checkpoints, so a part of it is worth its part
	state      TEXT    NOT NULL, -- todo, done, dropped
	note       TEXT    NOT NULL,
	added_at   INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
);
CREATE INDEX backlog_by_state ON backlog (state, id);
