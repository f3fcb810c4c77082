// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_stack.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "daemon/import/perfdata_record.h"
#include "lib/bounded_reader.h"

#define WORD sizeof(uint64_t)

uint64_t perfdata_word(const struct perfdata_words *words, size_t index)
{
	uint64_t word;

	memcpy(&word, words->bytes + index * WORD, WORD);
	return word;
}

bool perfdata_stack_is_branches(const struct perfdata_event *event)
{
	return (event->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 &&
	       (event->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
}

bool perfdata_branches_recorded(const struct perfdata_event *event)
{
	return (event->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 &&
	       (event->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK) == 0;
}

bool perfdata_stack_recorded(const struct perfdata_event *event)
{
	const uint64_t copied = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (event->sample_type & PERF_SAMPLE_CALLCHAIN) != 0 ||
	       (event->sample_type & copied) == copied || perfdata_stack_is_branches(event);
}

/* Take a number of words, which is not trusted. */
static struct perfdata_words words_take(struct bounded_reader *reader, uint64_t count)
{
	struct perfdata_words words = {NULL, 0};

	if (count > bounded_reader_left(reader) / WORD) {
		bounded_reader_bytes(reader, bounded_reader_left(reader) + 1);
		return words;
	}
	words.bytes = bounded_reader_bytes(reader, count * WORD);
	words.count = words.bytes != NULL ? count : 0;
	return words;
}

/* The values of a counter, or of a group of them. */
static void read_skip(struct bounded_reader *reader, uint64_t format)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	uint64_t time_words = (uint64_t)__builtin_popcountll(format & times);
	uint64_t words =
		1 + ((format & PERF_FORMAT_ID) != 0) + ((format & PERFDATA_READ_LOST) != 0);

	if ((format & PERF_FORMAT_GROUP) != 0) {
		uint64_t counters = bounded_reader_u64(reader);

		/* No record has more words; the product cannot overflow. */
		words *= counters <= UINT16_MAX ? counters : UINT16_MAX;
	}
	words_take(reader, time_words + words);
}

static void branches_take(struct perfdata_stack *ret, struct bounded_reader *reader,
			  uint64_t branch_type)
{
	uint64_t count = bounded_reader_u64(reader);

	if (count > UINT16_MAX)
		count = UINT16_MAX;
	if ((branch_type & PERFDATA_BRANCH_HW_INDEX) != 0)
		bounded_reader_u64(reader);
	ret->branches = words_take(reader, count * PERFDATA_BRANCH_WORDS);
	if ((branch_type & PERFDATA_BRANCH_COUNTERS) != 0)
		words_take(reader, count);
}

static void copy_take(struct perfdata_stack *ret, struct bounded_reader *reader)
{
	uint64_t room = bounded_reader_u64(reader), valid;

	if (room == 0)
		return;
	if (room > bounded_reader_left(reader))
		room = bounded_reader_left(reader) + 1; /* Fails below. */
	ret->stack = bounded_reader_bytes(reader, room);
	ret->stack_room = room;
	valid = bounded_reader_u64(reader);
	ret->stack_bytes = valid < room ? valid : room;
}

int perfdata_stack_parse(struct perfdata_stack *ret, const struct perfdata_event *event,
			 const struct perf_event_header *record, size_t rest)
{
	uint64_t type = event->sample_type;
	struct perfdata_stack stack = {.abi = PERF_SAMPLE_REGS_ABI_NONE};
	struct bounded_reader reader;

	if (rest > record->size)
		return -EBADMSG;
	bounded_reader_init(&reader, (const uint8_t *)record + rest, record->size - rest);
	if ((type & PERF_SAMPLE_READ) != 0)
		read_skip(&reader, event->read_format);
	if ((type & PERF_SAMPLE_CALLCHAIN) != 0)
		stack.chain = words_take(&reader, bounded_reader_u64(&reader));
	if ((type & PERF_SAMPLE_RAW) != 0)
		bounded_reader_bytes(&reader, bounded_reader_u32(&reader));
	if ((type & PERF_SAMPLE_BRANCH_STACK) != 0)
		branches_take(&stack, &reader, event->branch_type);
	if ((type & PERF_SAMPLE_REGS_USER) != 0) {
		stack.abi = bounded_reader_u64(&reader);
		if (stack.abi != PERF_SAMPLE_REGS_ABI_NONE)
			stack.registers = words_take(
				&reader, (uint64_t)__builtin_popcountll(event->user_registers));
	}
	if ((type & PERF_SAMPLE_STACK_USER) != 0)
		copy_take(&stack, &reader);
	if (bounded_reader_failed(&reader))
		return -EBADMSG;
	*ret = stack;
	return 0;
}
