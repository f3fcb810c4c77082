-- SPDX-License-Identifier: GPL-2.0-only
-- Tables for one server: dcpiship --schema single

CREATE TABLE IF NOT EXISTS dcpi_epochs (
	day Date,
	host UUID,
	epoch UUID,
	name String,
	start_ns Int64,
	end_ns Int64,
	open UInt8,
	cpu_model String,
	cpus UInt32,
	kernel String,
	source String,
	source_reason String,
	label String,
	interrupts UInt64,
	version UInt64
) ENGINE = ReplacingMergeTree(version) PARTITION BY toMonday(day) ORDER BY (host, epoch);

CREATE TABLE IF NOT EXISTS dcpi_events (
	day Date,
	host UUID,
	epoch UUID,
	event UInt32,
	name String,
	unit String,
	period_min UInt64,
	period_max UInt64,
	enabled_ns UInt64,
	running_ns UInt64,
	version UInt64
) ENGINE = ReplacingMergeTree(version) PARTITION BY toMonday(day) ORDER BY (host, epoch, event);

CREATE TABLE IF NOT EXISTS dcpi_labels (
	day Date,
	host UUID,
	epoch UUID,
	label UInt32,
	unit String,
	container String
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, label);

CREATE TABLE IF NOT EXISTS dcpi_processes (
	day Date,
	host UUID,
	epoch UUID,
	pid Int64,
	command String,
	label UInt32,
	version UInt64
) ENGINE = ReplacingMergeTree(version) PARTITION BY toMonday(day) ORDER BY (host, epoch, pid);

CREATE TABLE IF NOT EXISTS dcpi_images (
	host UUID,
	image UUID,
	kind String,
	build_id String,
	identity String,
	path String,
	version UInt64
) ENGINE = ReplacingMergeTree(version) ORDER BY (host, image);

CREATE TABLE IF NOT EXISTS dcpi_procedures (
	image UUID,
	offset UInt64,
	name String,
	bytes UInt64,
	position UInt32
) ENGINE = ReplacingMergeTree() ORDER BY (image, offset, name);

CREATE TABLE IF NOT EXISTS dcpi_samples (
	day Date,
	host UUID,
	epoch UUID,
	start_ns Int64,
	end_ns Int64,
	image UUID,
	event UInt32,
	pid Int64,
	label UInt32,
	offset UInt64,
	samples UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, start_ns, end_ns, image, event, pid, label, offset);

CREATE TABLE IF NOT EXISTS dcpi_shares (
	day Date,
	host UUID,
	epoch UUID,
	start_ns Int64,
	end_ns Int64,
	image UUID,
	event UInt32,
	label UInt32,
	samples UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, start_ns, end_ns, image, event, label);

CREATE TABLE IF NOT EXISTS dcpi_losses (
	day Date,
	host UUID,
	epoch UUID,
	start_ns Int64,
	end_ns Int64,
	name String,
	count UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, start_ns, end_ns, name);

CREATE TABLE IF NOT EXISTS dcpi_edges (
	day Date,
	host UUID,
	epoch UUID,
	image UUID,
	to_image UUID,
	kind UInt8,
	from_offset UInt64,
	to_offset UInt64,
	count UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, image, to_image, kind, from_offset, to_offset);

CREATE TABLE IF NOT EXISTS dcpi_executions (
	day Date,
	host UUID,
	epoch UUID,
	image UUID,
	kind UInt8,
	from_offset UInt64,
	to_offset UInt64,
	count UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, image, kind, from_offset, to_offset);

CREATE TABLE IF NOT EXISTS dcpi_stacks (
	day Date,
	host UUID,
	epoch UUID,
	node UInt64,
	parent UInt64,
	image UUID,
	offset UInt64,
	stacks UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY toMonday(day) ORDER BY (host, epoch, node);

CREATE TABLE IF NOT EXISTS dcpi_slices (
	day Date,
	host UUID,
	epoch UUID,
	start_ns Int64,
	end_ns Int64,
	interrupts UInt64,
	samples UInt64,
	lost UInt64,
	live UInt8,
	version UInt8
) ENGINE = ReplacingMergeTree(version) PARTITION BY toMonday(day) ORDER BY (host, epoch, start_ns, end_ns);

-- Views of what is delivered completely. A slice is live if its batch is complete, and no longer
-- slice has replaced it. Rows are grouped by their keys, so a repeated row counts once.

CREATE VIEW IF NOT EXISTS dcpi_live AS
SELECT
	host, epoch, start_ns, end_ns,
	max(interrupts) AS interrupts, max(samples) AS samples, max(lost) AS lost
FROM dcpi_slices
GROUP BY host, epoch, start_ns, end_ns
HAVING min(live) = 1;

CREATE VIEW IF NOT EXISTS dcpi_live_samples AS
SELECT
	host, epoch, start_ns, end_ns, image, event, pid, label, offset,
	max(samples) AS samples
FROM dcpi_samples
WHERE (host, epoch, start_ns, end_ns) GLOBAL IN
	(SELECT host, epoch, start_ns, end_ns FROM dcpi_live)
GROUP BY host, epoch, start_ns, end_ns, image, event, pid, label, offset;

CREATE VIEW IF NOT EXISTS dcpi_live_shares AS
SELECT
	host, epoch, start_ns, end_ns, image, event, label,
	max(samples) AS samples
FROM dcpi_shares
WHERE (host, epoch, start_ns, end_ns) GLOBAL IN
	(SELECT host, epoch, start_ns, end_ns FROM dcpi_live)
GROUP BY host, epoch, start_ns, end_ns, image, event, label;

CREATE VIEW IF NOT EXISTS dcpi_live_losses AS
SELECT
	host, epoch, start_ns, end_ns, name,
	max(count) AS count
FROM dcpi_losses
WHERE (host, epoch, start_ns, end_ns) GLOBAL IN
	(SELECT host, epoch, start_ns, end_ns FROM dcpi_live)
GROUP BY host, epoch, start_ns, end_ns, name;

-- For each epoch: interrupts = samples + lost.
CREATE VIEW IF NOT EXISTS dcpi_accounts AS
SELECT
	host, epoch,
	sum(interrupts) AS interrupts, sum(samples) AS samples, sum(lost) AS lost
FROM (
	SELECT host, epoch, interrupts, toUInt64(0) AS samples, toUInt64(0) AS lost FROM dcpi_live
	UNION ALL
	SELECT host, epoch, toUInt64(0) AS interrupts, samples, toUInt64(0) AS lost FROM dcpi_live_samples
	UNION ALL
	SELECT host, epoch, toUInt64(0) AS interrupts, toUInt64(0) AS samples, count AS lost FROM dcpi_live_losses
)
GROUP BY host, epoch;
