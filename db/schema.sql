-- SPDX-License-Identifier: GPL-2.0-only
--
-- The profile database. Times are nanoseconds since the Unix epoch; counts are
-- samples; enumerations have the values of db/profile.h.

PRAGMA application_id = 1145262153; -- "DCPI"
PRAGMA user_version = 8;

-- The hosts of samples. machine_id distinguishes hosts with the same name.
CREATE TABLE host (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	machine_id TEXT NOT NULL,
	UNIQUE (name, machine_id)
) STRICT;

-- An interval of collection with one configuration. end_ns of an open epoch is
-- the time of its last merge.
CREATE TABLE epoch (
	id INTEGER PRIMARY KEY,
	host INTEGER NOT NULL REFERENCES host,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL CHECK (end_ns >= start_ns),
	open INTEGER NOT NULL CHECK (open IN (0, 1)),
	cpu_model TEXT NOT NULL,
	cpus INTEGER NOT NULL,
	kernel TEXT NOT NULL,
	source TEXT NOT NULL,
	source_reason TEXT NOT NULL,
	label TEXT NOT NULL,
	interrupts INTEGER NOT NULL CHECK (interrupts >= 0)
) STRICT;

CREATE UNIQUE INDEX epoch_open ON epoch (open) WHERE open = 1;
CREATE INDEX epoch_start ON epoch (start_ns);
CREATE INDEX epoch_host ON epoch (host);

-- Events that were sampled in an epoch. Periods are drawn from [period_min, period_max]. Times are
-- summed over CPUs: how long the event was to be counted, and how long it was counted, which is
-- less if perf rotated events. Both 0: unknown.
CREATE TABLE event (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	number INTEGER NOT NULL,
	name TEXT NOT NULL,
	unit TEXT NOT NULL,
	period_min INTEGER NOT NULL,
	period_max INTEGER NOT NULL,
	enabled_ns INTEGER NOT NULL DEFAULT 0,
	running_ns INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (epoch, number)
) STRICT, WITHOUT ROWID;

-- Named counts. For each epoch:
--     interrupts = sum of profile.samples + sum of counts in group "loss"
CREATE TABLE counter (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	counter_group TEXT NOT NULL,
	name TEXT NOT NULL,
	count INTEGER NOT NULL CHECK (count >= 0),
	PRIMARY KEY (epoch, counter_group, name)
) STRICT, WITHOUT ROWID;

-- Executables, libraries, the kernel. Images are identified by kind and identity; images without
-- identity by kind, path and host. The host is 0 for all others. Identities of files that users
-- other than the superuser may have written contain a digest of the contents and the owner, see
-- db/profile.h: a build-id alone can be copied into another file.
CREATE TABLE image (
	id INTEGER PRIMARY KEY,
	kind INTEGER NOT NULL,
	identity_kind INTEGER NOT NULL,
	identity BLOB NOT NULL CHECK (length(identity) <= 32),
	path TEXT NOT NULL,
	host INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX image_identity ON image (kind, identity_kind, identity)
	WHERE identity_kind <> 0;
CREATE UNIQUE INDEX image_path ON image (kind, path, host) WHERE identity_kind = 0;

-- Symbols taken at collection time, in the form of db/symbol_blob.h.
CREATE TABLE symbol (
	image INTEGER PRIMARY KEY REFERENCES image ON DELETE CASCADE,
	symbols INTEGER NOT NULL,
	data BLOB NOT NULL
) STRICT;

-- Code generated at run time, by procedure, in the form of db/code_blob.h.
CREATE TABLE code (
	image INTEGER NOT NULL REFERENCES image ON DELETE CASCADE,
	offset INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (image, offset)
) STRICT, WITHOUT ROWID;

-- Profiles: the samples of an event in an image in an epoch, in the form of db/profile_blob.h, with
-- their number and the number of different offsets. pid is a process id if the image is profiled by
-- process, -1 - label if it is profiled by unit, -4294967296 for processes of the profiler, and -1
-- otherwise. A sample is in one row only. The data comes last, so that totals never read it.
CREATE TABLE profile (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL REFERENCES image,
	event INTEGER NOT NULL,
	pid INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	offsets INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (epoch, image, event, pid),
	FOREIGN KEY (epoch, event) REFERENCES event (epoch, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX profile_image ON profile (image, epoch, event, pid);

-- Edges: how often control went from an offset in an image to one in to_image, in the form of
-- db/edge_blob.h, with their number and the sum of their counts. Edges are not samples: they are
-- included in no sum of samples.
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

-- How often code of an image was executed, counted by dcpix: neither samples nor estimates. Ranges
-- with a count each, in the form of db/edge_blob.h, with their number and the sum of their counts.
-- They are included in no sum of samples.
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

-- Data that rewritten programs (dcpix) or dcpid (register pairs, call stacks) recorded in addition:
-- for one mode, with the measured quantity, in the form of db/recording_blob.h, with its number of rows.
-- db/profile_recording.h defines the contents. They are included in no sum of samples.
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

-- The systemd unit and the container that the control group of processes belongs to, '' if it
-- belongs to none.
CREATE TABLE label (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	number INTEGER NOT NULL CHECK (number > 0),
	unit TEXT NOT NULL,
	container TEXT NOT NULL,
	PRIMARY KEY (epoch, number)
) STRICT, WITHOUT ROWID;

-- How many samples of an image and event belong to a label, in any row of profile. Samples that are
-- missing in the sum over labels have no label. If there is a share, there is a profile, which
-- refers to the image: no foreign key, and no index for it.
CREATE TABLE share (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	image INTEGER NOT NULL,
	event INTEGER NOT NULL,
	label INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	PRIMARY KEY (epoch, image, event, label),
	FOREIGN KEY (epoch, label) REFERENCES label (epoch, number)
) STRICT, WITHOUT ROWID;

-- Names of processes with separate profiles, and their labels, or 0.
CREATE TABLE process (
	epoch INTEGER NOT NULL REFERENCES epoch ON DELETE CASCADE,
	pid INTEGER NOT NULL,
	command TEXT NOT NULL,
	label INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (epoch, pid)
) STRICT, WITHOUT ROWID;

-- Slices: parts of an epoch, from one drain of all samples to another. They are some seconds long at
-- first; slices of older times are merged into longer ones. Their samples are also in the profiles
-- of their epoch. An epoch has slices for all its samples, or none. Slices without epoch are being
-- deleted. bytes is the size of the slice's profiles and shares. For each slice:
--     interrupts = sum of slice_profile.samples + sum of counts in group "loss"
CREATE TABLE slice (
	id INTEGER PRIMARY KEY,
	epoch INTEGER REFERENCES epoch ON DELETE CASCADE,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL CHECK (end_ns >= start_ns),
	interrupts INTEGER NOT NULL CHECK (interrupts >= 0),
	bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;

CREATE INDEX slice_epoch ON slice (epoch, start_ns);

-- Counters of the groups "loss" and "unknown"; those of the epoch are their sums.
CREATE TABLE slice_counter (
	slice INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
	counter_group TEXT NOT NULL,
	name TEXT NOT NULL,
	count INTEGER NOT NULL CHECK (count >= 0),
	PRIMARY KEY (slice, counter_group, name)
) STRICT, WITHOUT ROWID;

-- As the tables profile and share. The epoch has a profile with the same image, event and pid,
-- which refers to the image: no foreign key, and no index for it.
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

-- Views for people; the extension dcpi_sqlite.so adds dcpi_samples, dcpi_edges and
-- dcpi_symbols.
CREATE VIEW dcpi_epochs AS
SELECT
	epoch.id AS epoch,
	strftime('%Y-%m-%d %H:%M:%S', epoch.start_ns / 1000000000, 'unixepoch') AS start_utc,
	strftime('%Y-%m-%d %H:%M:%S', epoch.end_ns / 1000000000, 'unixepoch') AS end_utc,
	(epoch.end_ns - epoch.start_ns) / 1000000000 AS seconds,
	epoch.open AS open,
	host.name AS host,
	epoch.source AS source,
	(SELECT group_concat(name, ' ') FROM event WHERE event.epoch = epoch.id) AS events,
	epoch.interrupts AS interrupts,
	(SELECT ifnull(sum(samples), 0) FROM profile WHERE profile.epoch = epoch.id) AS samples,
	(SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter.epoch = epoch.id AND counter_group = 'loss') AS lost,
	epoch.label AS label
FROM epoch JOIN host ON host.id = epoch.host
ORDER BY epoch.start_ns;

CREATE VIEW dcpi_images AS
SELECT
	image.id AS image,
	CASE image.kind
		WHEN 0 THEN 'file' WHEN 1 THEN 'kernel' WHEN 2 THEN 'module'
		WHEN 3 THEN 'vdso' WHEN 4 THEN 'jit' WHEN 5 THEN 'unknown'
	END AS kind,
	image.path AS path,
	lower(hex(image.identity)) AS identity,
	event.name AS event,
	sum(profile.samples) AS samples,
	sum(profile.offsets) AS offsets,
	sum(length(profile.data)) AS bytes,
	count(DISTINCT profile.epoch) AS epochs
FROM profile
	JOIN image ON image.id = profile.image
	JOIN event ON event.epoch = profile.epoch AND event.number = profile.event
GROUP BY image.id, event.name
ORDER BY sum(profile.samples) DESC;

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
