// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/bursts/streams_report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/profile/report_text.h"
#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define HEADING "heat,references,length,frequency,signature\n"

static void print_csv(FILE *out, const struct data_streams *streams,
		      const struct data_stream *stream)
{
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",", stream->heat,
		streams->references, stream->length, stream->frequency);
	for (uint32_t i = 0; i < stream->length; i++)
		fprintf(out, "%s%#" PRIx64, i > 0 ? " " : "",
			streams->instructions[stream->first + i]);
	fputc('\n', out);
}

static void print_row(FILE *out, const struct bursts_map *map, const struct data_streams *streams,
		      const struct data_stream *stream)
{
	const struct bursts_procedure *procedure =
		&map->procedures[bursts_map_find(map, stream->reference)];

	fprintf(out, "%12" PRIu64 "  %5.1f%%  %6" PRIu32 "  %9" PRIu64 "  %#12" PRIx64 "  ",
		stream->heat, 100 * (double)stream->heat / (double)streams->references,
		stream->length, stream->frequency, streams->instructions[stream->first]);
	report_text_procedure(out, procedure->name, false);
	fputc('\n', out);
}

void streams_report_print(FILE *out, const struct bursts_map *map,
			  const struct data_streams *streams, size_t limit, bool csv)
{
	size_t shown = limit > 0 && limit < streams->count ? limit : streams->count;

	if (csv) {
		fputs(HEADING, out);
	} else {
		report_text_name(out, map->path, false);
		fprintf(out,
			": %zu hot data streams, %.1f%% of %" PRIu64 " references; "
			"each is %" PRIu64 " at least\n\n"
			"        heat       %%  length  frequency         first  procedure\n",
			streams->count,
			100 * (double)streams->covered / (double)streams->references,
			streams->references, streams->threshold);
	}
	for (size_t i = 0; i < shown; i++) {
		if (csv)
			print_csv(out, streams, &streams->all[i]);
		else
			print_row(out, map, streams, &streams->all[i]);
	}
	if (!csv && shown < streams->count)
		fprintf(out, "... %zu more\n", streams->count - shown);
}

/* --- reading -------------------------------------------------------------- */

/* Parse a number that is followed by @end. */
static bool take_number(const char **text, int base, char end, uint64_t *ret)
{
	char *rest;

	errno = 0;
	*ret = strtoull(*text, &rest, base);
	if (errno != 0 || **text < '0' || **text > '9' || *rest != end)
		return false;
	*text = rest + 1;
	return true;
}

static int add_stream(struct data_streams *streams, const char *text)
{
	struct data_stream stream = {.first = streams->instruction_count};
	uint64_t references, length;

	if (!take_number(&text, 10, ',', &stream.heat) ||
	    !take_number(&text, 10, ',', &references) || !take_number(&text, 10, ',', &length) ||
	    !take_number(&text, 10, ',', &stream.frequency) || length == 0 ||
	    length > DATA_STREAMS_LENGTH_MAX || references == 0 || stream.heat > references ||
	    (streams->count > 0 && references != streams->references))
		return -EBADMSG;
	streams->references = references;
	stream.length = (uint32_t)length;
	if (array_reserve(&streams->all, &streams->capacity, streams->count + 1,
			  sizeof(*streams->all)) < 0 ||
	    array_reserve(&streams->instructions, &streams->instruction_capacity,
			  streams->instruction_count + length, sizeof(*streams->instructions)) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < length; i++) {
		if (!take_number(&text, 0, i + 1 < length ? ' ' : '\n',
				 &streams->instructions[streams->instruction_count++]))
			return -EBADMSG;
	}
	streams->all[streams->count++] = stream;
	return 0;
}

static int streams_report_read_all(struct data_streams *streams, FILE *file)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int r = 0;

	if (getline(&line, &room, file) < 0 || strcmp(line, HEADING) != 0)
		return -EBADMSG;
	while (r == 0 && getline(&line, &room, file) >= 0) {
		r = add_stream(streams, line);
		streams->covered += r == 0 ? streams->all[streams->count - 1].heat : 0;
	}
	return r == 0 && (ferror(file) || streams->covered > streams->references) ? -EBADMSG : r;
}

int streams_report_read(struct data_streams *ret, const char *path, struct error *err)
{
	int r = broker_open(BROKER_OPERAND, path, O_RDONLY, 0);
	_cleanup_file_ FILE *file = r >= 0 ? fdopen(r, "r") : NULL;

	*ret = (struct data_streams){0};
	if (r < 0)
		return error_set(err, -r, ERROR_OPEN ": %s", path, strerror(-r));
	if (file == NULL)
		return error_set_errno(err, ERROR_OPEN, path);
	r = streams_report_read_all(ret, file);
	if (r < 0)
		data_streams_deinit(ret);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r < 0 ? error_set(err, EBADMSG, "'%s' is not an output of --streams --csv", path)
		     : 0;
}
