// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/probe_guarantee.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/probe_holder.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define ATTEMPTS 3
#define PLACED_MAX_NS NS_PER_SECOND
/* PROC_CGROUP_INIT_INO of the kernel. */
#define CGROUP_NAMESPACE_INITIAL 0xeffffffbU

enum target_status {
	TARGET_IN_TIME,
	TARGET_LATE,
	TARGET_NOT_PLACED,
};

/* Never called: its first instruction gets the breakpoint. */
static __attribute__((noinline, used)) void guarantee_site(void)
{
	__asm__ volatile("nop");
}

/* Poll the process's own code every millisecond. */
static _Noreturn void target_run(pid_t parent)
{
	static const struct timespec pause = {.tv_nsec = NS_PER_MS};
	const volatile uint8_t *site = (const volatile uint8_t *)(uintptr_t)guarantee_site;
	uint8_t original = *site;
	uint64_t begin_ns = clock_monotonic_ns();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || probe_priority_raise() < 0)
		_exit(TARGET_NOT_PLACED);
	while (*site == original) {
		if (clock_monotonic_ns() - begin_ns > PLACED_MAX_NS)
			_exit(TARGET_NOT_PLACED);
		nanosleep(&pause, NULL);
	}
	begin_ns = clock_monotonic_ns();
	while (*site != original && clock_monotonic_ns() - begin_ns <= PROBE_GONE_MAX_NS)
		nanosleep(&pause, NULL);
	_exit(*site == original ? TARGET_IN_TIME : TARGET_LATE);
}

/* Return: the target's status, or a negative errno if no probe was placed. */
static int holder_test(const struct branch_probe_link *link, pid_t target, struct error *err)
{
	struct probe_holder holder = {.pid = 0};
	struct probe_request request = {.stall = true};
	struct probe_measurement measurement;
	int rc = probe_holder_start(&holder, link, err), status = 0;

	if (rc < 0)
		return rc;
	rc = branch_probe_own_site(&request.sites, guarantee_site, (uint32_t)target, link);
	if (rc == 0)
		rc = probe_holder_send(&holder, &request);
	branch_probe_sites_close(&request.sites);
	if (rc == 0)
		rc = probe_holder_receive(&holder, &measurement);
	if (rc == -ETIMEDOUT && waitpid(target, &status, 0) == target)
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : TARGET_NOT_PLACED;
	else
		error_set(err, -rc, "cannot place a probe: %s", strerror(-rc));
	probe_holder_stop(&holder);
	return rc;
}

static int guarantee_attempt(const struct branch_probe_link *link, struct error *err)
{
	pid_t self = getpid(), target = fork();
	int rc;

	if (target == 0)
		target_run(self);
	if (target < 0)
		return error_set_errno(err, ERROR_PROCESS);
	rc = holder_test(link, target, err);
	if (rc < 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	return rc;
}

/*
 * The root of the hierarchy cannot be frozen; in a namespace, another group may appear as the root.
 */
static bool is_freezable(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096];
	struct stat namespace;
	bool freezable = false;

	while (file != NULL && !freezable && fgets(line, sizeof(line), file) != NULL) {
		const char *path = strstr(line, ":/");
		const char *controller = strstr(line, "freezer");

		freezable = controller != NULL && path != NULL && controller < path &&
			    (strcmp(path, ":/\n") != 0 ||
			     stat("/proc/self/ns/cgroup", &namespace) < 0 ||
			     namespace.st_ino != CGROUP_NAMESPACE_INITIAL);
	}
	return freezable;
}

int probe_guarantee_check(const struct branch_probe_link *link, struct error *err)
{
	int rc = TARGET_LATE;

	if (is_freezable())
		return error_set(err, ENOTSUP,
				 "a control group of version 1 may freeze the process that holds "
				 "the probes");
	for (int i = 0; i < ATTEMPTS && rc > TARGET_IN_TIME; i++)
		rc = guarantee_attempt(link, err);
	if (rc == -EINVAL)
		return error_set(err, EOPNOTSUPP, "Linux 6.6 or later is required");
	if (rc > TARGET_IN_TIME)
		return error_set(err, EBUSY,
				 "the kernel does not remove breakpoints within %llu ms after the "
				 "process that holds the probes was stopped",
				 PROBE_GONE_MAX_NS / NS_PER_MS);
	return rc;
}
