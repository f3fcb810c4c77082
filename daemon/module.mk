# SPDX-License-Identifier: GPL-2.0-only
ARCHIVES += image
image-src := daemon/image_file.c daemon/image_map.c daemon/image_table.c daemon/kallsyms.c \
	daemon/kernel_image.c daemon/mapping_list.c daemon/symbol_list.c
