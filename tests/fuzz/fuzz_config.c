// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of dcpid.conf: accepted values are in range, hold no zero byte, and have the same
 * result when they are read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/config.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"

static bool power_of_two(uint64_t number)
{
	return number != 0 && (number & (number - 1)) == 0;
}

static void check(const struct config *config)
{
#define ENDS(field) require(memchr(config->field, '\0', sizeof(config->field)) != NULL)
	ENDS(db);
	ENDS(events);
	ENDS(source);
	ENDS(image_events);
	ENDS(audit_socket);
	ENDS(socket);
	ENDS(per_process);
	ENDS(per_unit);
	ENDS(label);
	ENDS(log_level);
	ENDS(image_store);
#define RANGE(field, min, max) require(config->field - (min) <= (max) - (min))
	RANGE(drain_interval_ms, 10, 60000);
	RANGE(merge_interval_s, 1, 3600);
	RANGE(mux_interval_ms, 0, 1000);
	RANGE(overhead_percent, 1, 100);
	RANGE(overhead_interval_s, 0, 86400);
	RANGE(memory_limit_mb, 1, 65536);
	RANGE(table_entries, 64, 1048576);
	RANGE(buffer_entries, 64, 1048576);
	RANGE(branch_every, 0, 1000000);
	RANGE(probe_permille, 0, 100);
	RANGE(double_every, 0, 1000000);
	RANGE(double_period, 1, 1000);
	RANGE(handler_times, 0, 1);
	RANGE(units, 0, 1);
	RANGE(image_store_mb, 1, 1048576);
	RANGE(epoch_hours, 0, 8760);
	RANGE(retention_days, 0, 36500);
	RANGE(database_mb, 0, 1048576);
	require(power_of_two(config->table_entries) && power_of_two(config->buffer_entries));
	require(config->double_every != 1);
	config_check(config, NULL);
}

static bool has_zero(const uint8_t *data, size_t bytes)
{
	return bytes > 0 && memchr(data, '\0', bytes) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct config config, again;
	int fd = memfd_create("dcpid.conf", MFD_CLOEXEC);
	struct error err = {.message = ""};
	char path[32];

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	config_init(&config);
	if (config_read(&config, path, &err) == 0) {
		require(!has_zero(data, bytes));
		check(&config);
		again = config;
		require(config_read(&again, path, NULL) == 0);
		require(memcmp(&config, &again, sizeof(config)) == 0);
	} else {
		require(err.message[0] != '\0');
		check(&config);
	}
	close(fd);
	return 0;
}
