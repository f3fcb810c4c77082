// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/event/event_name.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SPELLINGS 5
#define CACHE_NAME_BYTES 32
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct event_row {
	const char *name;
	const char *other;
	const char *description;
	uint32_t type;
	uint64_t config;
	enum event_scale scale;
} rows[] = {
#define HARDWARE(id, scale) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, EVENT_##scale
#define SOFTWARE(id, scale) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, EVENT_##scale
	{"cycles", "cpu-cycles", "cycles that a CPU was not idle", HARDWARE(CPU_CYCLES, CLOCK)},
	{"instructions", NULL, "instructions that retired", HARDWARE(INSTRUCTIONS, CLOCK)},
	{"cache-references", NULL, "accesses of the last-level cache (usually)",
	 HARDWARE(CACHE_REFERENCES, RARE)},
	{"cache-misses", NULL, "misses of the last-level cache (usually)",
	 HARDWARE(CACHE_MISSES, RARE)},
	{"branches", "branch-instructions", "branches that retired",
	 HARDWARE(BRANCH_INSTRUCTIONS, CLOCK)},
	{"branch-misses", NULL, "branches that were mispredicted", HARDWARE(BRANCH_MISSES, RARE)},
	{"bus-cycles", NULL, "cycles of the bus", HARDWARE(BUS_CYCLES, CLOCK)},
	{"stalled-cycles-frontend", "idle-cycles-frontend", "cycles without instructions to issue",
	 HARDWARE(STALLED_CYCLES_FRONTEND, CLOCK)},
	{"stalled-cycles-backend", "idle-cycles-backend", "cycles in which none could issue",
	 HARDWARE(STALLED_CYCLES_BACKEND, CLOCK)},
	{"ref-cycles", NULL, "cycles at a constant clock", HARDWARE(REF_CPU_CYCLES, CLOCK)},
	{"cpu-clock", NULL, "time of a CPU, in ns", SOFTWARE(CPU_CLOCK, NS)},
	{"task-clock", NULL, "time that a thread ran, in ns", SOFTWARE(TASK_CLOCK, NS)},
	{"page-faults", "faults", "page faults", SOFTWARE(PAGE_FAULTS, SCARCE)},
	{"minor-faults", NULL, "page faults without I/O", SOFTWARE(PAGE_FAULTS_MIN, SCARCE)},
	{"major-faults", NULL, "page faults with I/O", SOFTWARE(PAGE_FAULTS_MAJ, SCARCE)},
	{"context-switches", "cs", "switches of threads", SOFTWARE(CONTEXT_SWITCHES, SCARCE)},
	{"cgroup-switches", NULL, "switches to a thread of another cgroup",
	 SOFTWARE(CGROUP_SWITCHES, SCARCE)},
	{"cpu-migrations", "migrations", "moves of a thread to another CPU",
	 SOFTWARE(CPU_MIGRATIONS, SCARCE)},
	{"alignment-faults", NULL, "unaligned accesses that trapped",
	 SOFTWARE(ALIGNMENT_FAULTS, SCARCE)},
	{"emulation-faults", NULL, "instructions that the kernel emulated",
	 SOFTWARE(EMULATION_FAULTS, SCARCE)},
#undef HARDWARE
#undef SOFTWARE
};

#define OP(id) (1U << PERF_COUNT_HW_CACHE_OP_##id)
#define READ_ONLY OP(READ)
#define READ_PREFETCH (OP(READ) | OP(PREFETCH))
#define ANY_OP (OP(READ) | OP(WRITE) | OP(PREFETCH))

/* Indexed by PERF_COUNT_HW_CACHE_*. */
static const char *const caches[][SPELLINGS] = {
	{"L1-dcache", "l1-d", "l1d", "L1-data"},
	{"L1-icache", "l1-i", "l1i", "L1-instruction"},
	{"LLC", "L2"},
	{"dTLB", "d-tlb", "Data-TLB"},
	{"iTLB", "i-tlb", "Instruction-TLB"},
	{"branch", "branches", "bpu", "btb", "bpc"},
	{"node"},
};

/* Indexed like caches; @ops: the operations that this kind of cache supports. */
static const struct cache_kind {
	unsigned int ops;
	const char *description;
} kinds[COUNT(caches)] = {
	{ANY_OP, "first-level data cache"}, {READ_PREFETCH, "first-level instruction cache"},
	{ANY_OP, "last-level cache"},	    {ANY_OP, "data TLB"},
	{READ_ONLY, "instruction TLB"},	    {READ_ONLY, "branch predictor"},
	{ANY_OP, "local memory"},
};

/* Indexed by PERF_COUNT_HW_CACHE_OP_* and PERF_COUNT_HW_CACHE_RESULT_*. */
static const char *const ops[][SPELLINGS] = {
	{"load", "loads", "read"},
	{"store", "stores", "write"},
	{"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
static const char *const results[][SPELLINGS] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};

static bool row_find(const char *name, struct event_code *ret)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		if (strcmp(rows[i].name, name) != 0 &&
		    (rows[i].other == NULL || strcmp(rows[i].other, name) != 0))
			continue;
		*ret = (struct event_code){
			.type = rows[i].type,
			.config = {rows[i].config},
			.scale = rows[i].scale,
		};
		return true;
	}
	return false;
}

/*
 * Return: the length of @spelling if @text starts with it, followed by "-" or the end; otherwise 0.
 */
static size_t spelling_length(const char *text, const char *spelling)
{
	size_t length = spelling != NULL ? strlen(spelling) : 0;

	if (length == 0 || strncasecmp(text, spelling, length) != 0 ||
	    (text[length] != '-' && text[length] != '\0'))
		return 0;
	return length;
}

/*
 * Find the longest match, because some spellings are prefixes of others. Return: -1 if none
 * matches.
 */
static int part_find(const char *text, const char *const (*parts)[SPELLINGS], size_t count,
		     size_t *length)
{
	int found = -1;
	size_t i, j, here;

	*length = 0;
	for (i = 0; i < count; i++) {
		for (j = 0; j < SPELLINGS; j++) {
			here = spelling_length(text, parts[i][j]);
			if (here > *length) {
				*length = here;
				found = (int)i;
			}
		}
	}
	return found;
}

static struct event_code cache_code(int cache, int op, int result)
{
	return (struct event_code){
		.type = PERF_TYPE_HW_CACHE,
		.config = {(uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16},
		.scale = result == PERF_COUNT_HW_CACHE_RESULT_MISS ? EVENT_RARE : EVENT_CLOCK,
	};
}

static bool cache_name_find(const char *name, struct event_code *ret)
{
	int op = -1, result = -1, cache, part;
	size_t length;

	cache = part_find(name, caches, COUNT(caches), &length);
	if (cache < 0)
		return false;
	for (name += length; *name == '-'; name += length) {
		name++;
		part = part_find(name, ops, COUNT(ops), &length);
		if (part >= 0 && op < 0) {
			op = part;
			continue;
		}
		part = part_find(name, results, COUNT(results), &length);
		if (part < 0 || result >= 0)
			return false;
		result = part;
	}
	op = op < 0 ? PERF_COUNT_HW_CACHE_OP_READ : op;
	result = result < 0 ? PERF_COUNT_HW_CACHE_RESULT_ACCESS : result;
	if ((kinds[cache].ops >> op & 1) == 0)
		return false;
	*ret = cache_code(cache, op, result);
	return true;
}

bool event_name_find(const char *name, struct event_code *ret)
{
	return row_find(name, ret) || cache_name_find(name, ret);
}

bool event_name_raw(const char *name, struct event_code *ret)
{
	size_t length = strlen(name), i;
	uint64_t code = 0;

	if (length < 2 || length > 17 || name[0] != 'r')
		return false;
	for (i = 1; i < length; i++) {
		int digit = tolower((unsigned char)name[i]);

		if (!isxdigit(digit))
			return false;
		code = code << 4 | (uint64_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
	}
	*ret = (struct event_code){.type = PERF_TYPE_RAW, .config = {code}, .scale = EVENT_CLOCK};
	return true;
}

static void cache_visit(int cache, int op, event_visit_fn visit, void *context)
{
	/* Spelled like in perf's list: "loads" and "load-misses", but "prefetches". */
	static const char *const plural[] = {"loads", "stores", "prefetches"};
	static const char *const single[] = {"load", "store", "prefetch"};
	char name[CACHE_NAME_BYTES], description[64];
	struct event_code code = cache_code(cache, op, 0);

	snprintf(name, sizeof(name), "%s-%s", caches[cache][0], plural[op]);
	snprintf(description, sizeof(description), "%s, %s", kinds[cache].description, plural[op]);
	visit(context, name, &code, description);
	code = cache_code(cache, op, 1);
	snprintf(name, sizeof(name), "%s-%s-misses", caches[cache][0], single[op]);
	snprintf(description, sizeof(description), "%s, %s that missed", kinds[cache].description,
		 plural[op]);
	visit(context, name, &code, description);
}

void event_name_visit(event_visit_fn visit, void *context)
{
	struct event_code code;
	size_t i;
	int op;

	for (i = 0; i < COUNT(rows); i++) {
		if (row_find(rows[i].name, &code))
			visit(context, rows[i].name, &code, rows[i].description);
	}
	for (i = 0; i < COUNT(caches); i++) {
		for (op = 0; op < (int)COUNT(ops); op++) {
			if ((kinds[i].ops >> op & 1) != 0)
				cache_visit((int)i, op, visit, context);
		}
	}
}
