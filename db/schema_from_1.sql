-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 1 of the schema to version 2: edges, and the times of events.
-- The result is the same as of db/schema.sql, which documents it.

ALTER TABLE event ADD COLUMN enabled_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN running_ns INTEGER NOT NULL DEFAULT 0;

CREATE TABLE edge (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL REFERENCES image,
	to_image INTEGER NOT NULL REFERENCES image,
	kind INTEGER NOT NULL,
	pairs INTEGER NOT NULL,
	total INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (epoch, image, to_image, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX edge_image ON edge (image, epoch, to_image, kind);
CREATE INDEX edge_to_image ON edge (to_image);

PRAGMA user_version = 2;
