// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of events on a simulated machine without PMU descriptions, where the test chooses the
 * events that can be sampled. libpfm4 is set to encode for processors that are not present, so that
 * its names are the same on every machine.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/event/event_alias.h"
#include "daemon/event/event_catalog.h"
#include "daemon/event/event_spec.h"
#include "lib/error.h"

static uint32_t refused_type;

static bool sampled(const struct event_code *code)
{
	return code->type != refused_type;
}

static const struct event_machine machine = {.devices = "/nonexistent", .sampled = sampled};

static int parse(struct event_spec *spec, const char *text, struct error *err)
{
	return event_spec_parse(spec, &machine, text, strlen(text), err);
}

struct known {
	const char *text;
	uint32_t type;
	uint64_t config;
	uint32_t flags;
	enum event_scale scale;
};

static void known_check(const struct known *known)
{
	struct event_spec spec;
	struct error err;

	if (parse(&spec, known->text, &err) != 0)
		fail_msg("%s", err.message);
	assert_int_equal(spec.code.type, known->type);
	assert_int_equal(spec.code.config[0], known->config);
	assert_int_equal(spec.code.flags, known->flags);
	assert_int_equal(spec.code.scale, known->scale);
	assert_string_equal(spec.name, known->text);
	assert_false(spec.has_period);
}

static void names_are_perf_s(void **state)
{
	static const struct known known[] = {
		{"cycles", 0, 0, 0, EVENT_CLOCK},
		{"cpu-cycles", 0, 0, 0, EVENT_CLOCK},
		{"branch-instructions", 0, 4, 0, EVENT_CLOCK},
		{"branch-misses", 0, 5, 0, EVENT_RARE},
		{"idle-cycles-frontend", 0, 7, 0, EVENT_CLOCK},
		{"ref-cycles", 0, 9, 0, EVENT_CLOCK},
		{"faults", 1, 2, 0, EVENT_SCARCE},
		{"cs", 1, 3, 0, EVENT_SCARCE},
		{"migrations", 1, 4, 0, EVENT_SCARCE},
		{"minor-faults", 1, 5, 0, EVENT_SCARCE},
		{"major-faults", 1, 6, 0, EVENT_SCARCE},
		{"alignment-faults", 1, 7, 0, EVENT_SCARCE},
		{"emulation-faults", 1, 8, 0, EVENT_SCARCE},
		{"cgroup-switches", 1, 11, 0, EVENT_SCARCE},
		{"L1-dcache-loads", 3, 0, 0, EVENT_CLOCK},
		{"L1-dcache-load-misses", 3, 0x10000, 0, EVENT_RARE},
		{"L1-dcache", 3, 0, 0, EVENT_CLOCK},
		{"l1d-read-miss", 3, 0x10000, 0, EVENT_RARE},
		{"l1-d-misses", 3, 0x10000, 0, EVENT_RARE},
		{"L1-dcache-store-refs", 3, 0x100, 0, EVENT_CLOCK},
		{"L1-icache-load-misses", 3, 0x10001, 0, EVENT_RARE},
		{"L1-icache-prefetch-misses", 3, 0x10201, 0, EVENT_RARE},
		{"LLC-speculative-read", 3, 0x202, 0, EVENT_CLOCK},
		{"LLC-load-misses", 3, 0x10002, 0, EVENT_RARE},
		{"dTLB-store-misses", 3, 0x10103, 0, EVENT_RARE},
		{"iTLB-load-misses", 3, 0x10004, 0, EVENT_RARE},
		{"branch-load-misses", 3, 0x10005, 0, EVENT_RARE},
		{"bpu-loads", 3, 5, 0, EVENT_CLOCK},
		{"node-load-misses", 3, 0x10006, 0, EVENT_RARE},
		{"rc0", 4, 0xc0, 0, EVENT_CLOCK},
		{"r1A2b3c4d5e6f7890", 4, 0x1a2b3c4d5e6f7890, 0, EVENT_CLOCK},
		{"cycles:u", 0, 0, DCPI_EVENT_EXCLUDE_KERNEL, EVENT_CLOCK},
		{"cycles:k", 0, 0, DCPI_EVENT_EXCLUDE_USER, EVENT_CLOCK},
		{"cycles:uk", 0, 0, 0, EVENT_CLOCK},
		{"imiss:u", 3, 0x10001, DCPI_EVENT_EXCLUDE_KERNEL, EVENT_RARE},
		{"imiss", 3, 0x10001, 0, EVENT_RARE},
		{"dmiss", 3, 0x10000, 0, EVENT_RARE},
		{"branchmp", 0, 5, 0, EVENT_RARE},
		{"itb", 3, 0x10004, 0, EVENT_RARE},
		{"itbmiss", 3, 0x10004, 0, EVENT_RARE},
		{"dtbmiss", 3, 0x10003, 0, EVENT_RARE},
	};
	size_t i;

	(void)state;
	refused_type = UINT32_MAX;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		known_check(&known[i]);
}

/* libpfm4 supports the processors of one architecture at a time. */
static void names_are_libpfm4_s(void **state)
{
	static const struct known known[] = {
#if defined(__x86_64__)
		{"amd64_fam17h_zen1::RETIRED_INSTRUCTIONS", 4, 0xc0, 0, EVENT_CLOCK},
		{"amd64_fam17h_zen1::RETIRED_INSTRUCTIONS:u", 4, 0xc0, DCPI_EVENT_EXCLUDE_KERNEL,
		 EVENT_CLOCK},
		{"skl::INST_RETIRED", 4, 0xc0, 0, EVENT_CLOCK},
		{"skl::INST_RETIRED:k", 4, 0xc0, DCPI_EVENT_EXCLUDE_USER, EVENT_CLOCK},
		{"skl::ITLB_MISSES:MISS_CAUSES_A_WALK", 4, 0x185, 0, EVENT_RARE},
		{"skl::ITLB_MISSES:MISS_CAUSES_A_WALK:c=1", 4, 0x1000185, 0, EVENT_RARE},
#elif defined(__aarch64__)
		{"arm_ac53::CPU_CYCLES", 4, 0x11, 0, EVENT_CLOCK},
		{"arm_ac53::L1I_CACHE_REFILL", 4, 0x1, 0, EVENT_RARE},
#endif
		{"perf::PERF_COUNT_SW_PAGE_FAULTS", 1, 2, 0, EVENT_CLOCK},
	};
	struct event_spec spec;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		known_check(&known[i]);
#if defined(__x86_64__)
	assert_int_equal(
		parse(&spec, "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:5000", &err), 0);
	assert_int_equal(spec.code.config[0], 0x1b7);
	assert_int_equal(spec.code.config[1], 0x10001);
	assert_int_equal(spec.period_min, 5000);
	assert_string_equal(spec.name, "skl::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE");
	/* A unit mask that begins with a digit is not a period. */
	assert_int_equal(parse(&spec, "skl::FP_ARITH:256B_PACKED_DOUBLE:70000", &err), 0);
	assert_string_equal(spec.name, "skl::FP_ARITH:256B_PACKED_DOUBLE");
	assert_int_equal(parse(&spec, "skl::INST_RETIRED:NONSENSE", &err), -EINVAL);
	assert_non_null(strstr(err.message, "'skl::INST_RETIRED:NONSENSE'"));
	assert_int_equal(parse(&spec, "perf::cycles:mg=1", &err), -EINVAL);
#endif
	assert_int_equal(parse(&spec, "nothing::NOTHING", &err), -EINVAL);
}

static void aliases_take_what_there_is(void **state)
{
	struct event_code code;

	(void)state;
	/*
	 * Without generic cache events, the next candidate is used, or the generic event if there
	 * is none.
	 */
	refused_type = 3;
	assert_true(event_alias_find(&machine, "dmiss", &code));
#if defined(__aarch64__)
	assert_int_equal(code.type, 4);
	assert_int_equal(code.config[0], 3);
#endif
	assert_int_equal(code.scale, EVENT_RARE);
	refused_type = 0;
	assert_true(event_alias_find(&machine, "branchmp", &code));
	assert_int_equal(code.type, 3);
	assert_int_equal(code.config[0], 0x10005);
	assert_false(event_alias_find(&machine, "miss", &code));
	refused_type = UINT32_MAX;
}

static void near_names_are_suggested(void **state)
{
	static const struct {
		const char *word, *meant;
	} near[] = {
		{"cycels", "mean 'cycles'"},
		{"Cpu-Clock", "mean 'cpu-clock'"},
		{"imis", "mean 'imiss'"},
		{"L1-icache-load-mises", "mean 'L1-icache-load-misses'"},
		{"zzzzzzzzzzzzz", NULL},
	};
	struct event_spec spec;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		int rc = parse(&spec, near[i].word, &err);

		/* (libpfm4 accepts perf's names in upper and lower case.) */
		if (rc == 0 && strcmp(near[i].word, "Cpu-Clock") == 0)
			continue;
		assert_int_equal(rc, -EINVAL);
		assert_non_null(strstr(err.message, near[i].word));
		if (near[i].meant != NULL && strstr(err.message, near[i].meant) == NULL)
			fail_msg("%s", err.message);
		if (near[i].meant == NULL)
			assert_null(strstr(err.message, "did you mean"));
	}
}

static void no_event_of_another_kind(void **state)
{
	static const char *const bad[] = {
		"iTLB-stores",
		"L1-icache-stores",
		"L1-dcache-load-load",
		"L1-dcache-misses-miss",
		"L1-dcache-",
		"L1-dcache--loads",
		"bpu-stores",
		"dummy",
		"cycles:",
		"cycles:uu",
		"cycles:U",
		"cycles:p",
		"cycles::u",
		"a\tb",
		"cycles/",
		"//",
		"/",
		"an-event-whose-name-is-so-long-that-there-is-no-room-for-it-anywhere",
	};
	struct event_spec spec;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(&spec, bad[i], &err) != -EINVAL)
			fail_msg("%s is accepted", bad[i]);
		assert_true(err.message[0] != '\0');
	}
}

static void again_visit(void *context, const char *name, const struct event_code *code,
			const char *description)
{
	struct event_spec spec;
	size_t *count = context;

	(void)description;
	++*count;
	if (strlen(name) >= SOURCE_EVENT_NAME_BYTES)
		return;
	assert_int_equal(parse(&spec, name, NULL), 0);
	assert_memory_equal(spec.code.config, code->config, sizeof(code->config));
	assert_int_equal(spec.code.type, code->type);
	assert_int_equal(spec.code.flags, code->flags);
	assert_int_equal(spec.code.scale, code->scale);
}

/* Every listed event can be requested, and has the listed encoding. */
static void catalog_is_true(void **state)
{
	size_t count = 0;

	(void)state;
	event_catalog_visit(&machine, again_visit, &count);
	assert_true(count >= 50);
}

static void lists_end_outside_slashes(void **state)
{
	static const struct {
		const char *list;
		size_t end;
	} lists[] = {
		{"cycles,imiss", 6},
		{"cpu/a,b/,imiss", 8},
		{"cpu/a,b/u:1-2,x", 13},
		{"cycles", 6},
		{",", 0},
		{"a/b,c", 5},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_int_equal(event_spec_end(lists[i].list) - lists[i].list, lists[i].end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_perf_s),
		cmocka_unit_test(names_are_libpfm4_s),
		cmocka_unit_test(aliases_take_what_there_is),
		cmocka_unit_test(near_names_are_suggested),
		cmocka_unit_test(no_event_of_another_kind),
		cmocka_unit_test(catalog_is_true),
		cmocka_unit_test(lists_end_outside_slashes),
	};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests_name("event_spec", tests, NULL, NULL);
}
