-- +goose Up
-- Where ended_at comes from: the session's own record, its cap, or the moment it was seen to be over.
ALTER TABLE runs ADD COLUMN ended_from TEXT NOT NULL DEFAULT '';

-- A kernel on a sandbox has no page at Kaggle.
UPDATE runs SET url = '' WHERE account IN (SELECT id FROM accounts WHERE kind = 'sandbox');
