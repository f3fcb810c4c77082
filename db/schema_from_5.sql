-- SPDX-License-Identifier: GPL-2.0-only
--
-- From version 5 of the schema to version 6: identities of images that contain a digest of their
-- contents, which readers of version 5 report as damage. The tables do not change.

PRAGMA user_version = 6;
