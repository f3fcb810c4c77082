// SPDX-License-Identifier: GPL-2.0-only
/* The header as one line, for terminals. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/text_wrap.h"
#include "tools/base/time_spec.h"
#include "tools/report/report_header.h"

#define EVENTS_NAMED 3
#define PART_BYTES 200
/* Bytes of "2026-11-20 14:30", the beginning of time_spec_local()'s text. */
#define MINUTE_BYTES 16

/* Parts of the line, in order. */
enum {
	PART_SAMPLES,
	PART_HOST,
	PART_TIME,
	PART_LOST,
	PART_UNKNOWN,
	PART_EXCLUDED,
	PART_IDLE,
	PART_OPTION,
	PARTS,
};

/* Parts that may be omitted, the least important first. */
static const unsigned char omitted[] = {PART_OPTION, PART_HOST, PART_EXCLUDED, PART_TIME,
					PART_IDLE};

static double share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Events with several periods are several events of the header. */
static bool is_repeated(const struct report_header *header, size_t event)
{
	for (size_t i = 0; i < event; i++) {
		if (strcmp(header->events[i].name, header->events[event].name) == 0)
			return true;
	}
	return false;
}

static void describe_samples(char part[PART_BYTES], const struct report_header *header)
{
	int used = snprintf(part, PART_BYTES, "%" PRIu64 " samples of", header->samples);
	int names = used;
	size_t named = 0, more = 0;

	for (size_t i = 0; i < header->event_count; i++) {
		int room = PART_BYTES - used, length;

		if (is_repeated(header, i))
			continue;
		length = snprintf(NULL, 0, "%s %s", named > 0 ? "," : "", header->events[i].name);
		if (more > 0 || named == EVENTS_NAMED || length >= room / 2) {
			more++;
			continue;
		}
		used += snprintf(part + used, (size_t)room, "%s %s", named > 0 ? "," : "",
				 header->events[i].name);
		named++;
	}
	if (named == 0)
		snprintf(part + names, (size_t)(PART_BYTES - names), " %zu event%s", more,
			 more == 1 ? "" : "s");
	else if (more > 0)
		snprintf(part + used, (size_t)(PART_BYTES - used), " and %zu more", more);
}

/* All epochs are of the host, or the host is not described. */
static void describe_host(char part[PART_BYTES], const struct report_header *header)
{
	const char *host = header->epoch_count > 0 ? header->epochs[0].host : "";

	for (size_t i = 1; i < header->epoch_count; i++) {
		if (strcmp(header->epochs[i].host, host) != 0)
			return;
	}
	if (*host != '\0' && snprintf(part, PART_BYTES, " on %s", host) >= PART_BYTES)
		part[0] = '\0';
}

static void describe_time(char part[PART_BYTES], const struct report_header *header)
{
	int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
	char start[TIME_SPEC_BYTES], length[32];
	double seconds;

	for (size_t i = 0; i < header->epoch_count; i++) {
		const struct profile_epoch *epoch = &header->epochs[i];

		start_ns = epoch->start_ns < start_ns ? epoch->start_ns : start_ns;
		end_ns = epoch->end_ns > end_ns ? epoch->end_ns : end_ns;
	}
	if (header->epoch_count == 0)
		return;
	seconds = ((double)end_ns - (double)start_ns) / 1e9;
	if (seconds < 120)
		snprintf(length, sizeof(length), "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(length, sizeof(length), "%.0f min", seconds / 60);
	else if (seconds < 172800)
		snprintf(length, sizeof(length), "%.1f h", seconds / 3600);
	else
		snprintf(length, sizeof(length), "%.1f days", seconds / 86400);
	time_spec_local(start, start_ns);
	snprintf(part, PART_BYTES, ", %.*s (%s)", MINUTE_BYTES, start, length);
}

static void describe_losses(char part[PART_BYTES], const struct report_header *header)
{
	uint64_t lost = report_header_losses(header), handed;
	bool exact = header->samples + lost == header->interrupts;

	if (header->has_edges)
		exact &= header->edges + report_header_edges_lost(header, &handed) == handed;
	snprintf(part, PART_BYTES, exact ? "; %" PRIu64 " lost" : "; %" PRIu64 " lost, NOT EXACT",
		 lost);
}

void report_header_print_brief(FILE *stream, const struct report_header *header, size_t width)
{
	char parts[PARTS][PART_BYTES] = {0};
	size_t length = 0;

	describe_samples(parts[PART_SAMPLES], header);
	describe_host(parts[PART_HOST], header);
	describe_time(parts[PART_TIME], header);
	describe_losses(parts[PART_LOST], header);
	snprintf(parts[PART_UNKNOWN], PART_BYTES, ", %.1f%% unknown",
		 share(header->unknown, header->samples));
	if (header->excluded > 0)
		snprintf(parts[PART_EXCLUDED], PART_BYTES, ", %.1f%% of the profiler excluded",
			 share(header->excluded, header->samples));
	if (header->idle > 0)
		snprintf(parts[PART_IDLE], PART_BYTES, ", %.1f%% idle excluded",
			 share(header->idle, header->samples));
	if (header->excluded_stacks > 0)
		snprintf(parts[PART_EXCLUDED], PART_BYTES,
			 ", %.1f%% of call stacks of the profiler excluded",
			 share(header->excluded_stacks, header->stacks));
	snprintf(parts[PART_OPTION], PART_BYTES, " (--header: more)");
	for (size_t i = 0; i < PARTS; i++)
		length += text_width(parts[i]);
	for (size_t i = 0; width > 0 && length > width && i < sizeof(omitted); i++) {
		length -= text_width(parts[omitted[i]]);
		parts[omitted[i]][0] = '\0';
	}
	for (size_t i = 0; i < PARTS; i++)
		fputs(parts[i], stream);
	fputc('\n', stream);
}
