-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 6 of the schema to version 7: recordings of call stacks, which readers of version 6
-- report as damage. The tables do not change.

PRAGMA user_version = 7;
