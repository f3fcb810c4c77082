# SPDX-License-Identifier: GPL-2.0-only
#
# file_digest.c: whoever calls it needs the pkg-config module libxxhash.
ARCHIVES += util
util-src := lib/array.c lib/bounded_reader.c lib/cache_folder.c lib/control_client.c lib/error.c \
	lib/file_digest.c lib/file_read.c lib/host.c lib/image_store.c lib/local_socket.c lib/options.c lib/ordered_work.c lib/u64_map.c \
	lib/wake_set.c

UNIT_TESTS += unit_array
unit_array-src := tests/unit_array.c
unit_array-archives := util

UNIT_TESTS += unit_cache_folder
unit_cache_folder-src := tests/unit_cache_folder.c
unit_cache_folder-archives := util

UNIT_TESTS += unit_wake_set
unit_wake_set-src := tests/unit_wake_set.c
unit_wake_set-archives := util

UNIT_TESTS += unit_ordered_work
unit_ordered_work-src := tests/unit_ordered_work.c
unit_ordered_work-archives := util
