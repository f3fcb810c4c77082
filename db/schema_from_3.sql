-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 3 of the schema to version 4: exact counts. What it leaves is what
-- db/schema.sql makes; see there for what it means.

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
