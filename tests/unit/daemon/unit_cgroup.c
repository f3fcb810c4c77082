// SPDX-License-Identifier: GPL-2.0-only
/* Units and containers derived from control groups, and the table of their numbers. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/cgroup.h"
#include "daemon/collect/label_table.h"
#include "lib/error.h"

#define ID "3f2a9c0d51e7b86420fedcba98765432100123456789abcdef0123456789abcd"

struct example {
	const char *text;
	const char *unit;
	const char *container;
};

static const struct example examples[] = {
	/* version 2, systemd */
	{"0::/system.slice/nginx.service\n", "nginx.service", ""},
	{"0::/system.slice/system-postgresql.slice/postgresql@15-main.service\n",
	 "postgresql@15-main.service", ""},
	{"0::/init.scope\n", "init.scope", ""},
	{"0::/system.slice/nginx.service (deleted)\n", "nginx.service", ""},
	{"0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", "user@1000.service", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-4711.scope\n",
	 "user@1000.service/app-firefox-4711.scope", ""},
	{"0::/system.slice/_cpu.service\n", "cpu.service", ""},
	{"0::/\n", "", ""},
	{"0::/some/group\n", "", ""},
	{"", "", ""},
	/* containers, cgroup drivers of systemd */
	{"0::/system.slice/docker-" ID ".scope\n", "docker-" ID ".scope", ID},
	{"0::/kubepods.slice/kubepods-burstable.slice/"
	 "kubepods-burstable-pod2f6b1c2e_9f1e_4c8b_8d7a_111213141516.slice/"
	 "cri-containerd-" ID ".scope\n",
	 "cri-containerd-" ID ".scope", ID},
	{"0::/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope/container\n",
	 "crio-" ID ".scope", ID},
	{"0::/kubepods.slice/kubepods-pod1.slice/crio-conmon-" ID ".scope\n",
	 "crio-conmon-" ID ".scope", ""},
	{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	 ".scope/container\n",
	 "libpod-" ID ".scope", ID},
	{"0::/machine.slice/libpod-conmon-" ID ".scope\n", "libpod-conmon-" ID ".scope", ""},
	/* containers, plain control groups */
	{"0::/docker/" ID "\n", "", ID},
	{"0::/kubepods/burstable/pod2f6b1c2e-9f1e-4c8b-8d7a-111213141516/" ID "\n", "", ID},
	{"0::/system.slice/containerd.service/kubepods-besteffort-pod1.slice:cri-containerd:" ID
	 "\n",
	 "containerd.service", ID},
	{"0::/libpod_parent/libpod-" ID "\n", "", ID},
	/* containers that run a whole system */
	{"0::/lxc.payload.web/system.slice/nginx.service\n", "nginx.service", "web"},
	{"0::/lxc.payload/web/init.scope\n", "init.scope", "web"},
	{"0::/lxc.monitor.web\n", "", ""},
	{"0::/machine.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service\n",
	 "nginx.service", "web"},
	{"0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n",
	 "machine-qemu\\x2d1\\x2dweb.scope", "qemu-1-web"},
	{"0::/docker/" ID "/system.slice/docker.service/docker/0000" ID "\n", "docker.service", ID},
	/* version 1, and both */
	{"12:memory:/docker/" ID "\n11:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID
	 "\n0::/system.slice/containerd.service\n",
	 "containerd.service", ID},
	{"9:pids:/user.slice/user-0.slice/session-1.scope\n8:memory:/user.slice\n"
	 "1:name=systemd:/user.slice/user-0.slice/session-1.scope\n0::/\n",
	 "session-1.scope", ""},
	{"5:devices:/lxc/web\n1:name=systemd:/\n", "", "web"},
	{"4:memory:/system.slice/a.service\n1:name=systemd:/system.slice/b.service\n", "b.service",
	 ""},
	{"1:name=systemd:/system.slice/b.service\n4:memory:/system.slice/a.service\n", "b.service",
	 ""},
	/* malformed input */
	{"0::no path\n::::\n0\n\n:\n0::/../../x.service", "x.service", ""},
	{"0::/a\tb\033[2J.service\n", "a?b?[2J.service", ""},
	{"0::/.service/.scope\n", "", ""},
	{"0::/machine.slice/machine-a\\x0ab\\xzz.scope\n", "machine-a\\x0ab\\xzz.scope",
	 "a?b\\xzz"},
	{"0::/docker/X" ID "\n", "", ""},
};

static void parses_examples(void **state)
{
	struct cgroup cgroup;

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		cgroup_parse(&cgroup, examples[i].text, strlen(examples[i].text));
		if (strcmp(cgroup.unit, examples[i].unit) != 0 ||
		    strcmp(cgroup.container, examples[i].container) != 0)
			fail_msg("%s: unit \"%s\", container \"%s\"", examples[i].text, cgroup.unit,
				 cgroup.container);
	}
}

/* Truncated or modified text may give another unit, but never an invalid one. */
static void survives_damage(void **state)
{
	struct cgroup cgroup;
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 200000; round++) {
		const char *text =
			examples[unit_random(&random) % (sizeof(examples) / sizeof(examples[0]))]
				.text;
		size_t bytes = strlen(text), cut;
		char *copy = malloc(bytes > 0 ? bytes : 1);

		assert_non_null(copy);
		/*
		 * NOLINTNEXTLINE(bugprone-not-null-terminated-result): the parser must not read
		 * past the end
		 */
		memcpy(copy, text, bytes);
		for (unsigned int n = 0; bytes > 0 && n < unit_random(&random) % 4; n++)
			copy[unit_random(&random) % bytes] = (char)unit_random(&random);
		/* Skip bytes at the front, so that a read past the end leaves the allocation. */
		cut = unit_random(&random) % (bytes + 1);
		cgroup_parse(&cgroup, copy + cut, bytes - cut);
		assert_true(strnlen(cgroup.unit, sizeof(cgroup.unit)) < sizeof(cgroup.unit));
		free(copy);
	}
}

static void cuts_long_names(void **state)
{
	static char text[20000];
	struct cgroup cgroup;
	size_t used = 0;

	(void)state;
	used += (size_t)snprintf(text, sizeof(text), "0::/");
	memset(text + used, 'x', 10000);
	used += 10000;
	used += (size_t)snprintf(text + used, sizeof(text) - used, ".service\n");
	cgroup_parse(&cgroup, text, used);
	assert_int_equal(strlen(cgroup.unit), CGROUP_NAME_BYTES - 1);
}

/*
 * cgroup_read() gives the same result as parsing the file. A process that has ended gives -ENOENT.
 */
static void reads_processes(void **state)
{
	char text[16384];
	struct cgroup own, wanted;
	size_t bytes;
	FILE *file = fopen("/proc/self/cgroup", "r");
	pid_t child;

	(void)state;
	assert_non_null(file);
	bytes = fread(text, 1, sizeof(text), file);
	fclose(file);
	cgroup_parse(&wanted, text, bytes);
	assert_int_equal(cgroup_read(&own, (uint32_t)getpid()), 0);
	assert_string_equal(own.unit, wanted.unit);
	assert_string_equal(own.container, wanted.container);
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(cgroup_read(&own, (uint32_t)child), -ENOENT);
}

static struct cgroup numbered(unsigned int i)
{
	struct cgroup cgroup = {.unit = ""};

	/* "a" "bc" is not "ab" "c". */
	snprintf(cgroup.unit, sizeof(cgroup.unit), "%.*s", (int)(i % 7), "aaaaaaa");
	snprintf(cgroup.container, sizeof(cgroup.container), "%.*s%u", (int)(7 - i % 7), "aaaaaaa",
		 i / 7);
	return cgroup;
}

static void numbers_labels(void **state)
{
	static const struct cgroup none;
	struct label_table *table;
	struct profile_label label;
	struct cgroup cgroup;
	struct error err;

	(void)state;
	assert_int_equal(label_table_create(&table, &err), 0);
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(label_table_number(table, &none), LABEL_NONE);
		for (unsigned int i = 0; i < 2 * LABEL_TABLE_MAX; i++) {
			cgroup = numbered(i);
			assert_int_equal(label_table_number(table, &cgroup),
					 i + 2 <= LABEL_TABLE_MAX ? i + 2 : LABEL_OTHER);
		}
		assert_int_equal(label_table_count(table), LABEL_TABLE_MAX);
		for (unsigned int i = 0; i + 2 <= LABEL_TABLE_MAX; i++) {
			cgroup = numbered(i);
			label = label_table_get(table, i + 2);
			assert_int_equal(label.number, i + 2);
			assert_string_equal(label.unit, cgroup.unit);
			assert_string_equal(label.container, cgroup.container);
		}
		assert_string_equal(label_table_get(table, LABEL_OTHER).unit, "(other)");
		assert_int_equal(label_table_reset(table, &err), 0);
		assert_int_equal(label_table_count(table), LABEL_OTHER);
	}
	label_table_destroy(table);
	label_table_destroy(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_examples), cmocka_unit_test(survives_damage),
		cmocka_unit_test(cuts_long_names), cmocka_unit_test(reads_processes),
		cmocka_unit_test(numbers_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
