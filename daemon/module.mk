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

ARCHIVES += collect
collect-src := $(addprefix daemon/, accumulate.c collector.c config.c control.c control_verbs.c \
	cpu_list.c directory.c event.c host.c log.c loop.c matcher.c merge.c notify.c overhead.c \
	per_process.c perf_slot.c rate_limit.c source_chunk.c source_kmod.c source_perf.c \
	source_select.c tally.c)

daemon-archives := collect image hook db core util
daemon-pkgs := libelf libxxhash sqlite3 zlib

PROGRAMS += dcpid dcpirun dcpictl
dcpid-src := daemon/dcpid.c
dcpid-archives := $(daemon-archives)
dcpid-pkgs := $(daemon-pkgs)
dcpirun-src := daemon/dcpirun.c
dcpirun-archives := $(daemon-archives)
dcpirun-pkgs := $(daemon-pkgs)
dcpictl-src := daemon/dcpictl.c
dcpictl-archives := collect util
dcpictl-pkgs := json-c

UNIT_TESTS += unit_event unit_overhead unit_source_kmod unit_config unit_accumulate unit_control
unit_event-src := tests/unit_event.c
unit_event-archives := collect util
unit_source_kmod-src := tests/unit_source_kmod.c
unit_source_kmod-archives := collect hook core util
unit_source_kmod-ldlibs := -Wl,--wrap=open,--wrap=ioctl,--wrap=mmap,--wrap=munmap

UNIT_TESTS += unit_source_chunk
unit_source_chunk-src := tests/unit_source_chunk.c
unit_source_chunk-archives := collect core util
unit_overhead-src := tests/unit_overhead.c
unit_overhead-archives := collect hook util
unit_config-src := tests/unit_config.c
unit_config-archives := collect hook core util
unit_accumulate-src := tests/unit_accumulate.c
unit_accumulate-archives := collect util
unit_control-src := tests/unit_control.c
unit_control-archives := collect util
