// SPDX-License-Identifier: GPL-2.0-only
#include "ship/ship_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "db/ship_state.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/delivery.h"
#include "ship/ship_config.h"

static void print(FILE *stream, const char *name, const char *type, const char *help,
		  uint64_t value)
{
	fprintf(stream, "# HELP dcpiship_%s %s\n# TYPE dcpiship_%s %s\ndcpiship_%s %" PRIu64 "\n",
		name, help, name, type, name, value);
}

static void print_all(FILE *stream, const struct delivery *delivery, int64_t end_ns,
		      uint64_t quarantined, uint64_t interrupts)
{
	print(stream, "requests_total", "counter", "Requests that succeeded.", delivery->requests);
	print(stream, "rows_total", "counter", "Rows or samples in these requests.",
	      delivery->entries);
	print(stream, "bytes_total", "counter", "Bytes of the bodies of these requests.",
	      delivery->bytes);
	print(stream, "batches_total", "counter", "Batches delivered.", delivery->batches);
	print(stream, "interrupts_total", "counter",
	      "Samples and losses in the slices of these batches.", delivery->interrupts);
	print(stream, "retries_total", "counter", "Requests that failed and were repeated.",
	      delivery->retries);
	print(stream, "recounts_total", "counter",
	      "Batches sent again because rows were missing at the destination.",
	      delivery->recounts);
	print(stream, "abandoned_requests_total", "counter",
	      "Requests without a known result that must not be repeated.", delivery->abandoned);
	print(stream, "rejected_profiles_total", "counter",
	      "Profiles that the destination has not accepted.", delivery->rejected);
	print(stream, "failures", "gauge", "Failed requests since the last success.",
	      delivery->failures);
	print(stream, "quarantined_batches", "gauge", "Batches that the destination refuses.",
	      quarantined);
	print(stream, "quarantined_interrupts", "gauge", "Samples and losses in these batches.",
	      interrupts);
	print(stream, "last_slice_timestamp_seconds", "gauge",
	      "End of the last slice that was taken from the database.",
	      end_ns > 0 ? (uint64_t)end_ns / 1000000000 : 0);
}

int ship_metrics_write(const struct delivery *delivery, int64_t end_ns, struct error *err)
{
	const char *path = delivery->config->metrics_file;
	_cleanup_free_ char *temporary = NULL;
	uint64_t quarantined = 0, interrupts = 0;
	FILE *stream;
	int r;

	if (path[0] == '\0')
		return 0;
	r = ship_state_quarantined(delivery->state, &quarantined, &interrupts, err);
	if (r < 0)
		return r;
	if (asprintf(&temporary, "%s.new", path) < 0) {
		temporary = NULL;
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	stream = fopen(temporary, "we");
	if (stream == NULL)
		return error_set_errno(err, ERROR_CREATE, temporary);
	print_all(stream, delivery, end_ns, quarantined, interrupts);
	if (fclose(stream) != 0 || chmod(temporary, 0644) < 0 || rename(temporary, path) < 0)
		return error_set_errno(err, ERROR_WRITE, path);
	return 0;
}
