-- SPDX-License-Identifier: GPL-2.0-only
-- Joins, sorts and aggregates, for cost_guest.sh.
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO item SELECT i, i * 7919 % 97, i * 31 % 1009 / 7.0, printf('item %06d', i * 7907 % 20011) FROM n;
CREATE INDEX item_kind ON item (kind, price);
SELECT kind, count(*), sum(price), min(name) FROM item GROUP BY kind ORDER BY 3 DESC;
SELECT count(*) FROM item AS a JOIN item AS b ON b.kind = a.kind + 1 AND b.price < a.price
	WHERE a.id % 50 = 0;
SELECT name FROM item WHERE name LIKE '%99%' ORDER BY name LIMIT 50;
SELECT sum(length(name) * price) FROM item WHERE id % 3 = 1;
