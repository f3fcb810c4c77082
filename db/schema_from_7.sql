-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 7 of the schema to version 8: slices. Epochs that exist have none. The result is the
-- same as of db/schema.sql, which documents it.

CREATE TABLE slice (
	id INTEGER PRIMARY KEY,
	epoch INTEGER REFERENCES epoch ON DELETE CASCADE,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL CHECK (end_ns >= start_ns),
	interrupts INTEGER NOT NULL CHECK (interrupts >= 0),
	bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;

CREATE INDEX slice_epoch ON slice (epoch, start_ns);

CREATE TABLE slice_counter (
	slice INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
	counter_group TEXT NOT NULL,
	name TEXT NOT NULL,
	count INTEGER NOT NULL CHECK (count >= 0),
	PRIMARY KEY (slice, counter_group, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE slice_profile (
	slice INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
	image INTEGER NOT NULL,
	event INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	offsets INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (slice, image, event, pid)
) STRICT, WITHOUT ROWID;

CREATE TABLE slice_share (
	slice INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
	image INTEGER NOT NULL,
	event INTEGER NOT NULL,
	label INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	PRIMARY KEY (slice, image, event, label)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 8;
