-- SPDX-License-Identifier: GPL-2.0-only
--
-- The state of dcpiship for one destination. Times are nanoseconds since the Unix epoch.

PRAGMA application_id = 1145262163; -- "DCPS"
PRAGMA user_version = 2;

-- The destination and the host's id that the rest belongs to.
CREATE TABLE setting (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Epochs of the database. end_ns and interrupts are those of the last look. delivered is the number
-- of interrupts of slices in batches. Slices up to cursor_ns have been put into batches.
CREATE TABLE epoch (
	uuid BLOB PRIMARY KEY,
	host BLOB NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	cursor_ns INTEGER NOT NULL,
	interrupts INTEGER NOT NULL,
	delivered INTEGER NOT NULL,
	finished INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Slices in batches, of epochs that are not finished: a slice that was merged from these and others
-- replaces them.
CREATE TABLE slice (
	epoch BLOB NOT NULL REFERENCES epoch ON DELETE CASCADE,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	interrupts INTEGER NOT NULL,
	PRIMARY KEY (epoch, start_ns, end_ns)
) STRICT, WITHOUT ROWID;

-- Digests of descriptions as they were last put into a batch: images, labels, ...
CREATE TABLE description (
	key BLOB PRIMARY KEY,
	digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Batches that are not delivered, or quarantined with the reason in message. AUTOINCREMENT: numbers
-- are never used again.
CREATE TABLE batch (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	interrupts INTEGER NOT NULL,
	quarantined INTEGER NOT NULL DEFAULT 0,
	message TEXT NOT NULL DEFAULT ''
) STRICT;

-- Requests of batches, by sequence. Each is sent again with the same bytes until it succeeds.
-- expect: the response to a check; '' otherwise. compressed: body is in the format of gzip.
CREATE TABLE request (
	sequence INTEGER PRIMARY KEY,
	batch INTEGER NOT NULL REFERENCES batch ON DELETE CASCADE,
	sent INTEGER NOT NULL DEFAULT 0,
	target TEXT NOT NULL,
	expect TEXT NOT NULL,
	entries INTEGER NOT NULL,
	compressed INTEGER NOT NULL DEFAULT 0,
	body BLOB NOT NULL
) STRICT;

CREATE INDEX request_batch ON request (batch, sequence);
