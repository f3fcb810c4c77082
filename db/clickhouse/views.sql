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
