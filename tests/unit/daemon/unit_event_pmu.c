// SPDX-License-Identifier: GPL-2.0-only
/* PMUs described by sysfs, in trees made for the tests. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/event/event_pmu.h"
#include "lib/error.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char full[512], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int tree_make(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/dcpi-event-XXXXXX");
	assert_non_null(mkdtemp(root));
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/edge", "config:18\n");
	put("cpu/format/ldlat", "config1:0-15\n");
	put("cpu/format/far", "config2:60-63,0\n");
	put("cpu/format/all", "config1:0-63\n");
	put("cpu/events/cpu-cycles", "event=0x76\n");
	put("cpu/events/cache-misses", "event=0x164,umask=0x09\n");
	put("cpu/events/l2.miss", "event=0x1,edge\n");
	put("cpu/events/l2.miss.scale", "2.5\n");
	put("armv8_cortex_a53/type", "8\n");
	put("armv8_cortex_a53/cpus", "0-3\n");
	put("armv8_cortex_a53/format/event", "config:0-15\n");
	put("armv8_cortex_a53/events/l1i_cache_refill", "event=0x0001\n");
	put("uncore/type", "4294967295\n");
	put("uncore/cpumask", "0\n");
	return 0;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static int tree_remove(void **state)
{
	(void)state;
	return nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static void terms_become_bits(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config[3];
		enum event_scale scale;
	} good[] = {
		{"cpu/cpu-cycles/", 4, {0x76}, EVENT_CLOCK},
		{"cpu/event=0x76/", 4, {0x76}, EVENT_CLOCK},
		{"cpu/event=118/", 4, {0x76}, EVENT_CLOCK},
		{"cpu/r1b7/", 4, {0x1b7}, EVENT_CLOCK},
		{"cpu/cache-misses/", 4, {0x100000964}, EVENT_RARE},
		{"cpu/cache-misses,edge/", 4, {0x100040964}, EVENT_RARE},
		{"cpu/event=0xfff,umask=0xff,edge=1/", 4, {0xf0004ffff}, EVENT_CLOCK},
		{"cpu/event=0x1,ldlat=30/", 4, {1, 30}, EVENT_CLOCK},
		{"cpu/far=0x1f/", 4, {0, 0, 0xf000000000000001}, EVENT_CLOCK},
		{"cpu/far=0x10/", 4, {0, 0, 1}, EVENT_CLOCK},
		{"cpu/all=0xffffffffffffffff/", 4, {0, ~0ULL}, EVENT_CLOCK},
		{"cpu/config=0x76,config1=0x2,config2=3/", 4, {0x76, 2, 3}, EVENT_CLOCK},
		{"cpu/config=0x76,umask=1/", 4, {0x176}, EVENT_CLOCK},
		{"cpu/l2.miss/", 4, {0x40001}, EVENT_RARE},
		{"armv8_cortex_a53/l1i_cache_refill/", 8, {1}, EVENT_RARE},
		{"uncore/config=1/", 4294967295, {1}, EVENT_CLOCK},
	};
	struct event_code code;
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(event_pmu_parse(root, good[i].text, &code, &err), 0);
		assert_int_equal(code.type, good[i].type);
		assert_memory_equal(code.config, good[i].config, sizeof(code.config));
		assert_int_equal(code.scale, good[i].scale);
		assert_int_equal(code.flags, 0);
	}
}

static void nonsense_is_named(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"none/event=1/", "no PMU 'none'"},
		{"../cpu/event=1/", "not of the form PMU/TERMS/"},
		{"../event=1/", "no PMU '..'"},
		{"/event=1/", "no PMU ''"},
		{"cpu/event=1", "not of the form PMU/TERMS/"},
		{"cpu//", "no such"},
		{"cpu/event=1,/", "no such"},
		{"cpu/event=/", "not a number"},
		{"cpu/event=-1/", "not a number"},
		{"cpu/event= 1/", "not a number"},
		{"cpu/event=0x/", "not a number"},
		{"cpu/event=0x1ffffffffffffffff/", "not a number"},
		{"cpu/event=12a/", "not a number"},
		{"cpu/event=0x1000/", "above 4095"},
		{"cpu/edge=2/", "above 1"},
		{"cpu/event=1,event=1/", "the same bits twice"},
		{"cpu/cpu-cycles,event=1/", "the same bits twice"},
		{"cpu/nothing=1/", "no such term"},
		{"cpu/nothing/", "no such event"},
		{"cpu/config3=1/", "no such term"},
		{"cpu/period=1000/", "no such term"},
		{"cpu/l2.miss.scale/", "no such event"},
		{"cpu/cpu-cycles=1/", "no such term"},
	};
	struct event_code code = {.type = 77};
	struct error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(event_pmu_parse(root, bad[i].text, &code, &err), -EINVAL);
		if (strstr(err.message, bad[i].message) == NULL)
			fail_msg("%s: %s", bad[i].text, err.message);
		assert_int_equal(code.type, 77);
	}
}

/* For any contents of the files, the result is an error with a message, or valid. */
static void files_are_not_trusted(void **state)
{
	static const char *const formats[] = {
		"",
		"config",
		"config:",
		"config:64",
		"config:3-1",
		"config:0-99",
		"config3:0-7",
		"config:a",
		"config:0-",
		"config:0-63,0",
		"config:-1",
		"config:0,,1",
		"config: 0-7",
		"config:0-18446744073709551615",
		"nonsense:0-7",
		"config:0-7-9",
	};
	static const char *const events[] = {
		"",	     "event",	    "event=",	   "event=0x1,event=0x2",      "bad=0x1",
		"event=?,x", "event=0x1,,", "event=99999", "event=0x1\nevent=0x2,bad",
	};
	static const char *const types[] = {"", "x", "-1", "4294967296", " 4", "4x"};
	char path[128], huge[5000];
	struct event_code code;
	struct error err;
	size_t i;

	(void)state;
	put("evil/type", "9\n");
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		put("evil/format/event", formats[i]);
		assert_int_equal(event_pmu_parse(root, "evil/event=1/", &code, &err), -EINVAL);
		assert_non_null(strstr(err.message, "malformed"));
	}
	put("evil/format/event", "config:0-7");
	for (i = 0; i < sizeof(events) / sizeof(events[0]) - 1; i++) {
		put("evil/events/some", events[i]);
		if (strcmp(events[i], "event") == 0)
			continue; /* a term without a value is 1 */
		assert_int_equal(event_pmu_parse(root, "evil/some/", &code, &err), -EINVAL);
		assert_int_equal(event_pmu_find(root, "some", &code, &err), -EINVAL);
	}
	put("evil/events/some", events[i]); /* only the first line counts */
	assert_int_equal(event_pmu_parse(root, "evil/some/", &code, &err), 0);
	memset(huge, '1', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	put("evil/events/huge", huge);
	assert_int_equal(event_pmu_parse(root, "evil/huge/", &code, &err), -EINVAL);
	/* A FIFO is neither waited for nor read. */
	snprintf(path, sizeof(path), "%s/evil/events/pipe", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(event_pmu_parse(root, "evil/pipe/", &code, &err), -EINVAL);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		put("evil/type", types[i]);
		assert_int_equal(event_pmu_parse(root, "evil/event=1/", &code, &err), -EINVAL);
		assert_non_null(strstr(err.message, "type of PMU 'evil'"));
	}
}

/* For random formats and values, the result equals that of a model that sets bits one by one. */
static void bits_go_where_formats_say(void **state)
{
	uint64_t seed = 11;
	int round;

	(void)state;
	put("model/type", "10\n");
	for (round = 0; round < 2000; round++) {
		uint64_t value = unit_random(&seed), config = 0;
		unsigned int word = unit_random(&seed) % 3, bit = 0, width = 0;
		char format[256], text[64];
		struct event_code code;
		size_t at;

		at = (size_t)snprintf(format, sizeof(format),
				      word > 0 ? "config%u:" : "config:", word);
		while (bit < 64 && at < sizeof(format) - 16) {
			unsigned int last = bit + unit_random(&seed) % (64 - bit), i;

			at += (size_t)snprintf(format + at, sizeof(format) - at,
					       last > bit ? "%s%u-%u" : "%s%u",
					       width > 0 ? "," : "", bit, last);
			for (i = bit; i <= last; i++, width++)
				config |= (value >> width & 1) << i;
			bit = last + 1 + unit_random(&seed) % 8;
		}
		if (width < 64)
			value &= (1ULL << width) - 1;
		put("model/format/term", format);
		snprintf(text, sizeof(text), "model/term=0x%llx/", (unsigned long long)value);
		assert_int_equal(event_pmu_parse(root, text, &code, NULL), 0);
		assert_int_equal(code.config[word], config);
		assert_int_equal(code.config[(word + 1) % 3], 0);
		assert_int_equal(code.type, 10);
	}
}

static void name_append(void *context, const char *name, const struct event_code *code,
			const char *description)
{
	struct event_code again;

	assert_non_null(description);
	assert_int_equal(event_pmu_parse(root, name, &again, NULL), 0);
	assert_memory_equal(&again, code, sizeof(again));
	strcat(context, name);
	strcat(context, " ");
}

static void pmu_append(void *context, const char *pmu)
{
	strcat(context, pmu);
	strcat(context, " ");
}

static void events_are_found(void **state)
{
	struct event_code code;
	char names[1024] = "";

	(void)state;
	assert_int_equal(event_pmu_find(root, "l1i_cache_refill", &code, NULL), 0);
	assert_int_equal(code.type, 8);
	assert_int_equal(event_pmu_find(root, "nothing", &code, NULL), -ENOENT);
	assert_int_equal(event_pmu_find(root, "../type", &code, NULL), -ENOENT);
	assert_int_equal(event_pmu_find("/nonexistent", "cpu-cycles", &code, NULL), -ENOENT);
	event_pmu_visit(root, name_append, names);
	assert_string_equal(names, "armv8_cortex_a53/l1i_cache_refill/ cpu/cache-misses/ "
				   "cpu/cpu-cycles/ cpu/l2.miss/ ");
	names[0] = '\0';
	event_pmu_of(root, 0, pmu_append, names);
	assert_string_equal(names, "armv8_cortex_a53 cpu ");
	names[0] = '\0';
	event_pmu_of(root, 8, pmu_append, names);
	assert_string_equal(names, "armv8_cortex_a53 ");
	names[0] = '\0';
	event_pmu_of(root, 1, pmu_append, names);
	assert_string_equal(names, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(terms_become_bits, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(nonsense_is_named, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(files_are_not_trusted, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(bits_go_where_formats_say, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(events_are_found, tree_make, tree_remove),
	};

	return cmocka_run_group_tests_name("event_pmu", tests, NULL, NULL);
}
