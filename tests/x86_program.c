// SPDX-License-Identifier: GPL-2.0-only
#include "tests/x86_program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/x86_tracee.h"

#define TRACEE_TF 0x100UL

enum {
	REPEATS_MAX = 4096,
	STOP_MIN_NS = 100000,
	STOP_SPAN_NS = 900000,
	PROGRESS_NS = 50000,
	START_NS = 30000000, /* mostly of the loader, which is the same for all programs */
	TRIES_MAX = 1000
};

const struct x86_program x86_programs[] = {
	{"gzip", {"gzip", "-9c", "/usr/bin/perl"}},
	{"perl",
	 {"perl", "-e",
	  "my %h; my $s; for (1 .. 2e7) { $h{$_ % 1000} += $_ * 3; $s .= chr(65 + $_ % 26) if "
	  "$_ % 7 == 0; $s = '' if $s =~ /ZAB+C$/ } print length $s"}},
	{"awk",
	 {"awk", "BEGIN { for (i = 0; i < 2e7; i++) { a[i % 997] += i; s = s substr(\"abcdefgh\", "
		 "i % 8, 2); if (length(s) > 500) s = \"\"; if (s ~ /hab+a/) n++ } print n }"}},
	{"sqlite3",
	 {"sqlite3", ":memory:",
	  "with recursive c(x) as (select 1 union all select x + 1 from c where x < 10000000) "
	  "select count(distinct x % 1009), sum(x * x % 7), max(hex(x)) from c"}},
	{"sort",
	 {"sort", "--parallel=1", "-V", "/usr/bin/perl", "/usr/bin/perl", "/usr/bin/perl",
	  "/usr/bin/perl", "/usr/bin/perl"}},
	{"bash",
	 {"bash", "-c",
	  "for ((i = 0; i < 4000000; i++)); do case $i in *7*) s=${s/a/b};; *) s=a$i;; esac; "
	  "done"}},
	{NULL, {NULL}},
};

static void run_program(const struct x86_program *program)
{
	int null = open("/dev/null", O_RDWR), i;
	char *argv[9] = {NULL};

	for (i = 0; i < 8 && program->argv[i] != NULL; i++)
		argv[i] = strdup(program->argv[i]);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	if (argv[0] != NULL && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		execvp(argv[0], argv);
	_exit(127);
}

static void sleep_at_random(unsigned int *seed)
{
	struct timespec wait = {.tv_nsec = STOP_MIN_NS + rand_r(seed) % STOP_SPAN_NS};

	nanosleep(&wait, NULL);
}

/* Let the program run for a short time. Return: false if it has ended. */
static bool run_and_stop(pid_t pid, unsigned int *seed)
{
	int status, raised = 0;

	do {
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(long)raised) < 0)
			return false;
		sleep_at_random(seed);
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return false;
		raised = WSTOPSIG(status);
	} while (raised != SIGSTOP);
	return true;
}

static uint64_t cpu_time_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

/*
 * Let it run until it has used @cpu_ns of CPU time. On a busy machine, or while the program is read
 * from a disk, it would otherwise stop at the same place again.
 */
static bool progress(pid_t pid, unsigned int *seed, uint64_t cpu_ns)
{
	uint64_t start_ns = cpu_time_ns(pid);
	int tries = TRIES_MAX;

	do {
		if (!run_and_stop(pid, seed))
			return false;
	} while (cpu_time_ns(pid) < start_ns + cpu_ns && --tries > 0);
	return true;
}

int x86_program_run(const struct x86_program *program, int stops, x86_program_fn visit,
		    void *context)
{
	struct user_regs_struct regs;
	unsigned int seed = 1;
	int status, visits = 0, stop;
	pid_t pid = fork();
	bool alive = true;

	if (pid == 0)
		run_program(program);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	alive = progress(pid, &seed, START_NS);
	for (stop = 0; alive && stop < stops; stop++) {
		alive = progress(pid, &seed, PROGRESS_NS) &&
			ptrace(PTRACE_GETREGS, pid, NULL, &regs) == 0;
		/* An interrupted system call is about to be restarted. */
		if (!alive || (long long)regs.orig_rax >= 0)
			continue;
		visits++;
		alive = visit(context, pid, &regs);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return visits;
}

bool x86_program_step(pid_t pid, struct user_regs_struct *regs)
{
	unsigned long long pc = regs->rip;
	int status, repeats = 0;

	/* A signal (a shell's child has ended) also stops the program, and is not delivered. */
	do {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 ||
		    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, pid, NULL, regs) < 0)
			return false;
	} while (regs->rip == pc && repeats++ < REPEATS_MAX);
	regs->eflags &= ~TRACEE_TF;
	return regs->rip != pc;
}

bool x86_program_read(void *context, u64 address, void *to, size_t bytes)
{
	struct iovec here = {.iov_base = to, .iov_len = bytes};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = bytes};

	return process_vm_readv(*(pid_t *)context, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}
