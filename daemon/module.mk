# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += image
image-src := daemon/image_file.c daemon/image_map.c daemon/image_table.c daemon/kallsyms.c \
	daemon/kernel_image.c daemon/mapping_list.c daemon/symbol_list.c

UNIT_TESTS += unit_image_live unit_image_map unit_image_table unit_kernel_image
unit_image_live-src := tests/unit_image_live.c
unit_image_live-archives := image hook util
unit_image_live-pkgs := libelf libxxhash
unit_image_map-src := tests/unit_image_map.c
unit_image_map-archives := image hook util
unit_image_map-pkgs := libelf libxxhash
unit_image_table-src := tests/unit_image_table.c
unit_image_table-archives := image hook util
unit_image_table-pkgs := libelf libxxhash
unit_kernel_image-src := tests/unit_kernel_image.c
unit_kernel_image-archives := image hook util
unit_kernel_image-pkgs := libelf libxxhash

BENCHES += bench_image_map
bench_image_map-src := tests/bench_image_map.c
bench_image_map-archives := image hook util
bench_image_map-pkgs := libelf libxxhash
