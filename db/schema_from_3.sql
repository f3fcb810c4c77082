-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 3 of the schema to version 4: exact counts. The result is the same as of
-- db/schema.sql, which documents it.

CREATE TABLE execution (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL REFERENCES image,
	kind INTEGER NOT NULL,
	ranges INTEGER NOT NULL,
	total INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (epoch, image, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX execution_image ON execution (image, epoch, kind);

PRAGMA user_version = 4;
