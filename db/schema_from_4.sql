-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 4 of the schema to version 5: recordings. The result is the same as of
-- db/schema.sql, which documents it.

CREATE TABLE recording (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL REFERENCES image,
	mode INTEGER NOT NULL,
	metric TEXT NOT NULL,
	records INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (epoch, image, mode)
) STRICT, WITHOUT ROWID;

CREATE INDEX recording_image ON recording (image, epoch, mode);

PRAGMA user_version = 5;
