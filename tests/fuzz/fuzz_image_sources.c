// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the readers of /proc/PID/maps, /proc/kallsyms, perf's side-band records, records of the BPF
 * hook, ELF notes, and mapped files. The first byte chooses.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/perf_event.h>

#include "daemon/image/image_file.h"
#include "daemon/image/kallsyms.h"
#include "loader-hook/build_id.h"
#include "loader-hook/bpf/hook_record.h"
/* Input for the readers of a single line. */
#include "loader-hook/proc/process_scan.c"
#include "loader-hook/perf/side_band_record.h"
#include "tests/fuzz/fuzz.h"

static void maps_line(const uint8_t *data, size_t bytes)
{
	char exact[PATH_MAX], *line = malloc(bytes + 1);
	/* A process that does not exist has no map_files directory to read. */
	struct image_event event = {.pid = UINT32_MAX};

	require(line != NULL);
	memcpy(line, data, bytes);
	line[bytes] = '\0';
	if (parse_mapping(line, &event, exact)) {
		require(event.bytes > 0);
		require(event.path >= line && event.path + strlen(event.path) <= line + bytes);
	}
	free(line);
}

static void symbol_check(void *context, const struct kallsyms_symbol *symbol)
{
	(void)context;
	require(symbol->name[0] != '\0');
	require(strchr(symbol->name, '\n') == NULL && strchr(symbol->module, '\n') == NULL);
	kallsyms_is_text(symbol);
}

static int file_of(const uint8_t *data, size_t bytes, char path[32])
{
	int fd = memfd_create("fuzz", 0);

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void side_band(const uint8_t *data, size_t bytes)
{
	struct side_band_record record;
	struct perf_event_header *header;
	const char *path;

	if (bytes < sizeof(*header) || bytes > UINT16_MAX)
		return;
	header = malloc(bytes);
	require(header != NULL);
	memcpy(header, data, bytes);
	header->size = (uint16_t)bytes;
	side_band_record_parse(&record, header);
	path = record.event.path;
	if (record.kind == SIDE_BAND_EVENT && path != NULL)
		require(path > (char *)header && path + strlen(path) < (char *)header + bytes);
	require(record.event.build_id_bytes <= sizeof(record.event.build_id));
	free(header);
}

static void hook_record(const uint8_t *data, size_t bytes)
{
	struct image_event event;
	char path[HOOK_RECORD_PATH_BYTES];
	uint64_t *record = malloc(bytes);

	require(bytes == 0 || record != NULL);
	if (bytes > 0)
		memcpy(record, data, bytes);
	if (hook_record_parse(&event, path, record, bytes)) {
		require(event.path == NULL || strlen(event.path) < sizeof(path));
		require(event.type != IMAGE_EVENT_MAP || event.bytes > 0);
	}
	free(record);
}

static void file(const uint8_t *data, size_t bytes)
{
	struct profile_image image = {.path = "fuzz"};
	struct image_file_key key = {.bytes = bytes};
	char path[32];
	int fd = file_of(data, bytes, path);

	image_file_identify(&image, fd, &key);
	require(image.identity_bytes <= sizeof(image.identity));
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct build_id build_id;
	char path[32];
	int fd;

	if (bytes < 1)
		return 0;
	switch (data[0] % 6) {
	case 0:
		maps_line(data + 1, bytes - 1);
		break;
	case 1:
		fd = file_of(data + 1, bytes - 1, path);
		require(kallsyms_walk(path, symbol_check, NULL, NULL) == 0);
		close(fd);
		break;
	case 2:
		side_band(data + 1, bytes - 1);
		break;
	case 3:
		if (build_id_from_notes(&build_id, data + 1, bytes - 1, data[0] & 8 ? 8 : 4) == 0)
			require(build_id.bytes <= sizeof(build_id.data));
		break;
	case 4:
		hook_record(data + 1, bytes - 1);
		break;
	default:
		file(data + 1, bytes - 1);
	}
	return 0;
}
