-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 2 of the schema to version 3: labels, the hosts of images without identity, and code
-- generated at run time. The result is the same as of db/schema.sql, which documents it.

ALTER TABLE image ADD COLUMN host INTEGER NOT NULL DEFAULT 0;

-- If several hosts share an image without identity, the first host keeps it.
UPDATE image SET host = ifnull((
	SELECT min(epoch.host) FROM profile JOIN epoch ON epoch.id = profile.epoch
	WHERE profile.image = image.id), 0)
WHERE identity_kind = 0 AND kind <> 5;

DROP INDEX image_path;
CREATE UNIQUE INDEX image_path ON image (kind, path, host) WHERE identity_kind = 0;

CREATE TABLE label (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	number INTEGER NOT NULL CHECK (number > 0),
	unit TEXT NOT NULL,
	container TEXT NOT NULL,
	PRIMARY KEY (epoch, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE share (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL,
	event INTEGER NOT NULL,
	label INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	PRIMARY KEY (epoch, image, event, label),
	FOREIGN KEY (epoch, label) REFERENCES label (epoch, number)
) STRICT, WITHOUT ROWID;

ALTER TABLE process ADD COLUMN label INTEGER NOT NULL DEFAULT 0;

CREATE TABLE code (
	image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE,
	offset INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (image, offset)
) STRICT, WITHOUT ROWID;

CREATE VIEW dcpi_units AS
SELECT
	share.epoch AS epoch,
	label.unit AS unit,
	label.container AS container,
	event.name AS event,
	image.path AS path,
	share.samples AS samples
FROM share
	JOIN label ON label.epoch = share.epoch AND label.number = share.label
	JOIN event ON event.epoch = share.epoch AND event.number = share.event
	JOIN image ON image.id = share.image;

PRAGMA user_version = 3;
