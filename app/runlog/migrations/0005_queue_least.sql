-- +goose Up
-- A run may be let start with a shorter cap, from this one on, so that hours do not expire; 0 = with its own only.
ALTER TABLE queue ADD COLUMN least INTEGER NOT NULL DEFAULT 0;
-- It goes on with a run that was stopped: it is put before what has not begun.
ALTER TABLE queue ADD COLUMN follow_up INTEGER NOT NULL DEFAULT 0;
