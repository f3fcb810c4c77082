// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_swap.h"

#include <linux/perf_event.h>
#include <string.h>

#include "daemon/import/perfdata_event.h"
#include "daemon/import/perfdata_header.h"
#include "daemon/import/perfdata_record.h"
#include "loader-hook/perf/side_band_record.h"

/*
 * Layouts: '2', '4' and '8' are numbers of 2, 4 and 8 bytes, 'b' is a bit-field of 64 bits whose
 * members have one bit each, and '.' eight bytes that remain.
 */
#define LAYOUT_ATTR                                                                                \
	"448888b44888844842244"                                                                    \
	"88"

static const struct {
	uint32_t type;
	const char *layout;
} records[] = {
	{PERF_RECORD_MMAP, "44888"},
	{PERF_RECORD_LOST, "88"},
	{PERF_RECORD_COMM, "44"},
	{PERF_RECORD_EXIT, "44448"},
	{PERF_RECORD_THROTTLE, "888"},
	{PERF_RECORD_UNTHROTTLE, "888"},
	{PERF_RECORD_FORK, "44448"},
	{PERF_RECORD_MMAP2, "44888448844"},
	{PERF_RECORD_LOST_SAMPLES, "8"},
	{PERF_RECORD_KSYMBOL, "8422"},
	{PERFDATA_RECORD_TRACING_DATA, "4"},
	{PERFDATA_RECORD_BUILD_ID, "4"},
	{PERFDATA_RECORD_AUXTRACE, "888"},
	{PERFDATA_RECORD_EVENT_UPDATE, "88"},
	{PERFDATA_RECORD_FEATURE, "8"},
	{PERFDATA_RECORD_COMPRESSED2, "8"},
};

/* The mapping's build-id is in place of the device and the inode. */
#define LAYOUT_MMAP2_BUILD_ID "44888...44"

/* Fields of a sample before the variable ones, and of a trailer, in their order. */
static const struct {
	uint64_t field;
	const char *layout;
} sample_fields[] =
	{
		{PERF_SAMPLE_IDENTIFIER, "8"}, {PERF_SAMPLE_IP, "8"},	{PERF_SAMPLE_TID, "44"},
		{PERF_SAMPLE_TIME, "8"},       {PERF_SAMPLE_ADDR, "8"}, {PERF_SAMPLE_ID, "8"},
		{PERF_SAMPLE_STREAM_ID, "8"},  {PERF_SAMPLE_CPU, "44"}, {PERF_SAMPLE_PERIOD, "8"},
},
  trailer_fields[] = {
	  {PERF_SAMPLE_TID, "44"},	{PERF_SAMPLE_TIME, "8"}, {PERF_SAMPLE_ID, "8"},
	  {PERF_SAMPLE_STREAM_ID, "8"}, {PERF_SAMPLE_CPU, "44"}, {PERF_SAMPLE_IDENTIFIER, "8"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bits of the members of struct perf_branch_entry after its addresses. */
static const uint8_t branch_bits[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};

struct cursor {
	uint8_t *at;
	size_t left;
};

/* Return the next @bytes; NULL if they are incomplete; then nothing is left. */
static uint8_t *take(struct cursor *cursor, size_t bytes)
{
	uint8_t *at = cursor->at;

	if (bytes > cursor->left) {
		cursor->left = 0;
		return NULL;
	}
	cursor->at += bytes;
	cursor->left -= bytes;
	return at;
}

/* Convert a number and return it; 0 if it is incomplete. */
static uint64_t swap_u64(struct cursor *cursor)
{
	uint8_t *at = take(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (at != NULL) {
		memcpy(&value, at, sizeof(value));
		value = __builtin_bswap64(value);
		memcpy(at, &value, sizeof(value));
	}
	return value;
}

static uint32_t swap_u32(struct cursor *cursor)
{
	uint8_t *at = take(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (at != NULL) {
		memcpy(&value, at, sizeof(value));
		value = __builtin_bswap32(value);
		memcpy(at, &value, sizeof(value));
	}
	return value;
}

static void swap_u16(struct cursor *cursor)
{
	uint8_t *at = take(cursor, sizeof(uint16_t));
	uint16_t value;

	if (at == NULL)
		return;
	memcpy(&value, at, sizeof(value));
	value = __builtin_bswap16(value);
	memcpy(at, &value, sizeof(value));
}

/* Members of one bit: bytes keep their order, and the bits of each are reversed. */
static void swap_bits(struct cursor *cursor)
{
	uint8_t *at = take(cursor, sizeof(uint64_t));

	for (size_t i = 0; at != NULL && i < sizeof(uint64_t); i++) {
		unsigned int byte = at[i], reversed = 0;

		for (unsigned int bit = 0; bit < 8; bit++)
			reversed |= (byte >> bit & 1) << (7 - bit);
		at[i] = (uint8_t)reversed;
	}
}

static void swap_layout(struct cursor *cursor, const char *layout)
{
	for (; *layout != '\0'; layout++) {
		switch (*layout) {
		case '2':
			swap_u16(cursor);
			break;
		case '4':
			swap_u32(cursor);
			break;
		case '8':
			swap_u64(cursor);
			break;
		case 'b':
			swap_bits(cursor);
			break;
		default:
			take(cursor, sizeof(uint64_t));
		}
	}
}

static void swap_u64s(struct cursor *cursor, uint64_t count)
{
	while (count-- > 0 && cursor->left > 0)
		swap_u64(cursor);
}

void perfdata_swap_words(void *data, size_t bytes)
{
	struct cursor cursor = {data, bytes};

	swap_u64s(&cursor, bytes / sizeof(uint64_t));
}

void perfdata_swap_attr(void *attr, size_t bytes)
{
	struct cursor cursor = {attr, bytes};

	swap_layout(&cursor, LAYOUT_ATTR);
}

void perfdata_swap_head(struct perf_event_header *head)
{
	head->type = __builtin_bswap32(head->type);
	head->misc = __builtin_bswap16(head->misc);
	head->size = __builtin_bswap16(head->size);
}

static void swap_string(struct cursor *cursor)
{
	take(cursor, swap_u32(cursor));
}

static void swap_events(struct cursor *cursor)
{
	uint32_t count = swap_u32(cursor), attr_bytes = swap_u32(cursor);

	while (count-- > 0 && cursor->left > 0) {
		uint8_t *attr = take(cursor, attr_bytes);
		uint32_t ids = swap_u32(cursor);

		if (attr != NULL)
			perfdata_swap_attr(attr, attr_bytes);
		swap_string(cursor);
		swap_u64s(cursor, ids);
	}
}

static void swap_build_ids(struct cursor *cursor)
{
	while (cursor->left >= sizeof(struct perf_event_header)) {
		struct perf_event_header head;
		uint8_t *at = take(cursor, sizeof(head)), *body = NULL;
		struct cursor inner;

		memcpy(&head, at, sizeof(head));
		perfdata_swap_head(&head);
		memcpy(at, &head, sizeof(head));
		if (head.size >= sizeof(head))
			body = take(cursor, head.size - sizeof(head));
		if (body == NULL)
			return;
		inner = (struct cursor){body, head.size - sizeof(head)};
		swap_u32(&inner); /* pid; the build-id and the path are bytes */
	}
}

void perfdata_swap_feature(unsigned int feature, void *data, size_t bytes)
{
	struct cursor cursor = {data, bytes};
	uint32_t count;

	switch (feature) {
	case PERFDATA_BUILD_ID:
		swap_build_ids(&cursor);
		break;
	case PERFDATA_HOSTNAME:
	case PERFDATA_RELEASE:
	case PERFDATA_ARCH:
	case PERFDATA_CPU:
	case PERFDATA_CPU_ID:
		swap_string(&cursor);
		break;
	case PERFDATA_CPUS:
		swap_layout(&cursor, "44");
		break;
	case PERFDATA_COMMAND:
		for (count = swap_u32(&cursor); count > 0 && cursor.left > 0; count--)
			swap_string(&cursor);
		break;
	case PERFDATA_EVENTS:
		swap_events(&cursor);
		break;
	default:
		break;
	}
}

static void swap_read(struct cursor *cursor, uint64_t format)
{
	const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	uint64_t words =
		1 + ((format & PERF_FORMAT_ID) != 0) + ((format & PERFDATA_READ_LOST) != 0);

	if ((format & PERF_FORMAT_GROUP) != 0) {
		uint64_t counters = swap_u64(cursor);

		words *= counters <= UINT16_MAX ? counters : UINT16_MAX;
	}
	swap_u64s(cursor, (uint64_t)__builtin_popcountll(format & times) + words);
}

/* Members of several bits: each keeps its value, at the other end of the word. */
static void swap_branch_flags(struct cursor *cursor)
{
	uint8_t *at = cursor->at;
	uint64_t value = swap_u64(cursor), converted = 0;
	unsigned int position = 0;

	for (size_t i = 0; i < COUNT(branch_bits); i++) {
		uint64_t mask = (UINT64_C(1) << branch_bits[i]) - 1;

		converted |= (value >> (64 - position - branch_bits[i]) & mask) << position;
		position += branch_bits[i];
	}
	if (cursor->at != at)
		memcpy(at, &converted, sizeof(converted));
}

static void swap_branches(struct cursor *cursor, uint64_t branch_type)
{
	uint64_t count = swap_u64(cursor);

	if ((branch_type & PERFDATA_BRANCH_HW_INDEX) != 0)
		swap_u64(cursor);
	for (uint64_t i = 0; i < count && cursor->left > 0; i++) {
		swap_layout(cursor, "88");
		swap_branch_flags(cursor);
	}
	if ((branch_type & PERFDATA_BRANCH_COUNTERS) != 0)
		swap_u64s(cursor, count);
}

/* The fields of a sample that follow its period. */
static void swap_variable(struct cursor *cursor, const struct perfdata_event *event)
{
	uint64_t type = event->sample_type;

	if ((type & PERF_SAMPLE_READ) != 0)
		swap_read(cursor, event->read_format);
	if ((type & PERF_SAMPLE_CALLCHAIN) != 0)
		swap_u64s(cursor, swap_u64(cursor));
	if ((type & PERF_SAMPLE_RAW) != 0)
		take(cursor, swap_u32(cursor));
	if ((type & PERF_SAMPLE_BRANCH_STACK) != 0)
		swap_branches(cursor, event->branch_type);
	if ((type & PERF_SAMPLE_REGS_USER) != 0 && swap_u64(cursor) != PERF_SAMPLE_REGS_ABI_NONE)
		swap_u64s(cursor, (uint64_t)__builtin_popcountll(event->user_registers));
	if ((type & PERF_SAMPLE_STACK_USER) != 0) {
		uint64_t room = swap_u64(cursor);

		if (room > 0 && take(cursor, room) != NULL)
			swap_u64(cursor);
	}
}

static void swap_sample(struct cursor *cursor, const struct perfdata_events *events)
{
	int event = -1;

	if (events->count > 0)
		event = perfdata_sample_event(events, cursor->at, cursor->left, true);
	if (event < 0)
		return;
	for (size_t i = 0; i < COUNT(sample_fields); i++)
		if ((events->event[event].sample_type & sample_fields[i].field) != 0)
			swap_layout(cursor, sample_fields[i].layout);
	swap_variable(cursor, &events->event[event]);
}

/* The fields at the end of the kernel's records. */
static void swap_trailer(struct perf_event_header *record, const struct perfdata_events *events)
{
	uint64_t type = 0;
	size_t bytes = 0, excess;
	struct cursor cursor;

	if (events->count > 0 && events->event[0].has_trailer)
		type = events->event[0].sample_type;
	for (size_t i = 0; i < COUNT(trailer_fields); i++)
		bytes += (type & trailer_fields[i].field) != 0 ? sizeof(uint64_t) : 0;
	if (bytes > record->size - sizeof(*record))
		return;
	excess = side_band_record_excess(record, bytes);
	cursor = (struct cursor){(uint8_t *)record + record->size - bytes - excess, bytes};
	for (size_t i = 0; i < COUNT(trailer_fields); i++)
		if ((type & trailer_fields[i].field) != 0)
			swap_layout(&cursor, trailer_fields[i].layout);
}

static const char *layout_of(const struct perf_event_header *record)
{
	if (record->type == PERF_RECORD_MMAP2 &&
	    (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0)
		return LAYOUT_MMAP2_BUILD_ID;
	for (size_t i = 0; i < COUNT(records); i++)
		if (records[i].type == record->type)
			return records[i].layout;
	return "";
}

/* An event and its ids. */
static void swap_attr_record(struct cursor *cursor)
{
	uint32_t bytes = 0;

	if (cursor->left < 2 * sizeof(bytes))
		return;
	memcpy(&bytes, cursor->at + sizeof(bytes), sizeof(bytes));
	bytes = bytes == 0 ? PERF_ATTR_SIZE_VER0 : __builtin_bswap32(bytes);
	if (bytes > cursor->left)
		return;
	perfdata_swap_attr(take(cursor, bytes), bytes);
	perfdata_swap_words(cursor->at, cursor->left);
}

static void swap_feature_record(struct cursor *cursor)
{
	uint64_t feature = swap_u64(cursor);

	if (feature < PERFDATA_FEATURES)
		perfdata_swap_feature((unsigned int)feature, cursor->at, cursor->left);
}

void perfdata_swap_record(struct perf_event_header *record, const struct perfdata_events *events)
{
	struct cursor cursor = {(uint8_t *)(record + 1), record->size - sizeof(*record)};

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		swap_sample(&cursor, events);
		break;
	case PERFDATA_RECORD_ATTR:
		swap_attr_record(&cursor);
		break;
	case PERFDATA_RECORD_FEATURE:
		swap_feature_record(&cursor);
		break;
	default:
		swap_layout(&cursor, layout_of(record));
		if (record->type < PERFDATA_RECORD_KERNEL_END)
			swap_trailer(record, events);
	}
}
