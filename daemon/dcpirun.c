// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpirun: profile one command, with a separate database.
 *
 * The child waits until sampling is set up; sampling begins with its exec. The exit status is the
 * command's: 128 + N if signal N ended it, 127 if there is no such command, 126 if it cannot be
 * run; 2 if profiling cannot be set up. A command that cannot be run leaves no epoch. SIGINT and
 * SIGTERM sent by a process are passed on to the command; dcpirun ends with the command. With
 * --repeat each run is an epoch; the exit status is that of the first run that failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/archive/archive_policy.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/base/secure_exec.h"
#include "daemon/collect/collector.h"
#include "daemon/config.h"
#include "daemon/event/event.h"
#include "daemon/run_cost.h"
#include "daemon/run_counts.h"
#include "daemon/run_process.h"
#include "daemon/source/source.h"
#include "daemon/source/trace_writer.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"

#define EXIT_BAD 2
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

/*
 * If a process exits before its samples are processed, their branch directions cannot be
 * determined.
 */
#define DRAIN_NS (20 * NS_PER_MS)
#define NICE (-20)
#define MERGE_NS (5 * NS_PER_SECOND)
#define SLICE_NS (10 * NS_PER_SECOND)
#define REPEAT_MAX 10000
#define PID_MAX (1U << 22)
#define RATE_MAX 1000000
#define DURATION_MAX 31536000
/* Default limit of the total cost, of the command's CPU time. */
#define OVERHEAD_PERCENT 5
/*
 * Frequencies can be derived only from edges (docs/operations.md has a table). Interpreting samples
 * costs the command little; the cost of probes is limited by PROBE_PERMILLE. With half of that,
 * complete iterations of an outer loop would rarely be seen.
 */
#define BRANCH_EVERY 1
#define PROBE_PERMILLE 50
#define STACK_EVERY 32
#define OFF_CPU_PERMILLE 20
#define MEMORY_LIMIT ((size_t)64 << 20)
/* The same as dcpid's default. */
#define IMAGE_STORE_BYTES ((uint64_t)512 << 20)
/* Wait at most a minute for copies at the end, at 8 MB per second. */
#define IMAGE_LOOK_NS (20 * NS_PER_MS)
#define IMAGE_LOOKS 3000

/* Return values of loop_run(). */
enum run_end {
	END_CHILD = 1,
	END_ASKED,
	END_FAILURE,
};

/*
 * struct settings - values of the command line
 * @pid:        0: a command is run; otherwise only this process is profiled
 * @rate:       samples per second and CPU; 0: chosen by cost
 * @duration_s: 0: until the end of the command or the process
 */
struct settings {
	const char *events;
	const char *db;
	const char *label;
	const char *image_store;
	uint32_t branch_every;
	bool branch_fixed;
	uint32_t probe_permille;
	uint32_t stack_every;
	uint32_t overhead_percent;
	unsigned int repeat;
	unsigned int pid;
	unsigned int rate;
	unsigned int duration_s;
	bool user_only;
	bool off_cpu;
	bool quiet;
	bool symbols;
	const char *trace_path;
};

/* struct summary - counts of samples, taken before the collector is closed */
struct summary {
	uint64_t stored;
	uint64_t lost;
	uint64_t unknown;
	uint64_t gone;
	int64_t epoch;
};

/*
 * struct run - one run of the command
 * @go_fd:        a byte makes the child continue; if it is closed, the child exits. The child sends
 *                a byte if the command cannot be run
 * @child:        0 before and after it runs; @status: as of waitpid(2)
 * @asked_to_end: by SIGINT or SIGTERM
 * @pid_fd:       of settings.pid; @duration_fd: timer of the maximum time
 * @pace:         interval of the timer, in DRAIN_NS
 * @usage:        of the command, after its end, as @counts
 * @summary:      valid if the command ran
 */
struct run {
	const struct settings *settings;
	struct trace_writer *trace;
	struct loop loop;
	struct collector *collector;
	pid_t child;
	int status;
	struct rusage usage;
	struct run_counts counts;
	bool ran;
	bool asked_to_end;
	struct run_cost cost;
	struct summary summary;
	bool kernel_excluded; /* not as requested, but because it is not permitted */
	int go_fd;
	int timer_fd;
	uint32_t pace;
	int signal_fd;
	int pid_fd;
	int duration_fd;
};

enum {
	OPTION_DB = 256,
	OPTION_LABEL,
	OPTION_USER,
	OPTION_BRANCH_EVERY,
	OPTION_PROBES,
	OPTION_STACK_EVERY,
	OPTION_OVERHEAD,
	OPTION_RECORD_TRACE,
	OPTION_REPEAT,
	OPTION_IMAGE_STORE,
	OPTION_DURATION,
	OPTION_OFF_CPU,
	OPTION_SYMBOLS,
};

static const struct option_entry entries[] = {
	{'e', "event", "LIST", "sample these events, NAME[:MIN-MAX],..."},
	{'e', "events", "LIST", NULL},
	{'p', "pid", "PID", "profile the process PID, until it ends (needs privileges)"},
	{'F', "freq", "HZ", "take HZ samples per second and CPU, if no period is given"},
	{OPTION_DURATION, "duration", "SECONDS",
	 "end after SECONDS; a command is sent SIGTERM, as by timeout"},
	{OPTION_DB, "db", "FILE", "write this database (dcpirun.db); each run adds an epoch"},
	{OPTION_LABEL, "label", "TEXT", "store TEXT with the epoch (the command)"},
	{OPTION_REPEAT, "repeat", "N", "run the command N times, each in an epoch (see dcpistats)"},
	{OPTION_IMAGE_STORE, "image-store", "LIST",
	 "store copies of images: unpackaged (default), all, none, or patterns"},
	{OPTION_SYMBOLS, "symbols", "0|1", "store the names of sampled procedures (1)"},
	{OPTION_USER, "user", NULL, "exclude the kernel; the default if it is not permitted"},
	{OPTION_BRANCH_EVERY, "branch-every", "N",
	 "interpret one sample in N for edges (1; 0: none)"},
	{OPTION_PROBES, "probes", "N", "spend N/1000 of a CPU on probes of branches (50)"},
	{OPTION_STACK_EVERY, "stack-every", "N",
	 "sample one call stack for N samples (32; 0: none)"},
	{OPTION_OFF_CPU, "off-cpu", NULL, "also measure where threads wait, and how long"},
	{OPTION_OVERHEAD, "overhead", "PERCENT",
	 "limit the total cost to this share of the CPU time (5)"},
	{OPTION_RECORD_TRACE, "record-trace", "FILE", "also write each sample to FILE"},
	{'q', "quiet", NULL, "omit the summary"},
};

/* Parse a value like the daemon's configuration key. */
static int config_take(struct config *config, const char *name, const char *value)
{
	struct error err;

	config_init(config);
	if (config_set(config, name, value, &err) == 0)
		return -1;
	log_error("%s", err.message);
	return EXIT_BAD;
}

static int branch_every_take(struct settings *settings, const char *value)
{
	struct config config;
	int rc = config_take(&config, "branch_every", value);

	settings->branch_every = (uint32_t)config.branch_every;
	settings->branch_fixed = true;
	return rc;
}

static int symbols_take(struct settings *settings, const char *value)
{
	struct config config;
	int rc = config_take(&config, "symbols", value);

	settings->symbols = config.symbols != 0;
	return rc;
}

static int probes_take(struct settings *settings, const char *value)
{
	struct config config;
	int rc = config_take(&config, "probe_permille", value);

	settings->probe_permille = (uint32_t)config.probe_permille;
	return rc;
}

static int stack_every_take(struct settings *settings, const char *value)
{
	struct config config;
	int rc = config_take(&config, "stack_every", value);

	settings->stack_every = (uint32_t)config.stack_every;
	return rc;
}

static int overhead_take(struct settings *settings, const char *value)
{
	struct config config;
	int rc = config_take(&config, "overhead_percent", value);

	settings->overhead_percent = (uint32_t)config.overhead_percent;
	return rc;
}

/* @what: for the message. Return: -1 to continue, otherwise the exit status. */
static int number_take(unsigned int *ret, const char *value, const char *what, unsigned int max)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (*value < '1' || *value > '9' || *end != '\0' || errno != 0 || number > max) {
		log_error(ERROR_NOT_VALID " (1 to %u)", value, what, max);
		return EXIT_BAD;
	}
	*ret = (unsigned int)number;
	return -1;
}

/* Return: -1 to continue, otherwise the exit status. */
static int option_take(struct settings *settings, const struct options *options, int key)
{
	switch (key) {
	case 'e':
		settings->events = optarg;
		return -1;
	case 'q':
		settings->quiet = true;
		return -1;
	case OPTION_DB:
		settings->db = optarg;
		return -1;
	case OPTION_LABEL:
		settings->label = optarg;
		return -1;
	case OPTION_OFF_CPU:
		settings->off_cpu = true;
		return -1;
	case OPTION_USER:
		settings->user_only = true;
		return -1;
	case OPTION_BRANCH_EVERY:
		return branch_every_take(settings, optarg);
	case OPTION_PROBES:
		return probes_take(settings, optarg);
	case OPTION_STACK_EVERY:
		return stack_every_take(settings, optarg);
	case OPTION_SYMBOLS:
		return symbols_take(settings, optarg);
	case OPTION_OVERHEAD:
		return overhead_take(settings, optarg);
	case OPTION_REPEAT:
		return number_take(&settings->repeat, optarg, "number of runs", REPEAT_MAX);
	case 'p':
		return number_take(&settings->pid, optarg, "process ID", PID_MAX);
	case 'F':
		return number_take(&settings->rate, optarg, "sampling rate", RATE_MAX);
	case OPTION_DURATION:
		return number_take(&settings->duration_s, optarg, "number of seconds",
				   DURATION_MAX);
	case OPTION_IMAGE_STORE:
		settings->image_store = optarg;
		return -1;
	case OPTION_RECORD_TRACE:
		settings->trace_path = optarg;
		return -1;
	case OPTIONS_HELP:
		options_help(stdout, options, "[OPTION]... {COMMAND [ARGUMENT]... | --pid PID}",
			     "Profile one command and the processes that it starts.");
		return 0;
	default:
		options_version(stdout, options);
		return 0;
	}
}

static int settings_check(const struct settings *settings, bool has_command)
{
	if (settings->pid != 0 && has_command)
		log_error(ERROR_EXCLUSIVE("--pid", "a command"));
	else if (settings->pid == 0 && !has_command)
		log_error("no command" ERROR_SEE_HELP("dcpirun"));
	else if (settings->pid != 0 && settings->repeat > 1)
		log_error(ERROR_EXCLUSIVE("--pid", "--repeat"));
	else if (settings->repeat > 1 && settings->trace_path != NULL)
		log_error(ERROR_EXCLUSIVE("--record-trace", "--repeat"));
	else
		return -1;
	return EXIT_BAD;
}

static int dcpirun_options_parse(struct settings *settings, int argc, char **argv)
{
	struct options options;
	struct error err;
	int key, status;

	/* Arguments after the command belong to the command. */
	options_init(&options, "dcpirun", true);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		status = option_take(settings, &options, key);
		if (status >= 0)
			return status;
	}
	if (key != OPTIONS_END) {
		log_error("%s", err.message);
		return EXIT_BAD;
	}
	status = settings_check(settings, optind < argc);
	if (status < 0 && settings->label == NULL && settings->pid == 0)
		settings->label = argv[optind];
	return status;
}

/*
 * Runs in the child. The socket reports only whether the command could be run, and is closed by its
 * exec.
 */
static _Noreturn void child_run(int wait_fd, char **command)
{
	sigset_t none;
	char go;
	int errnum;

	if (read(wait_fd, &go, 1) != 1)
		_exit(EXIT_BAD);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(command[0], command);
	errnum = errno;
	log_error(ERROR_RUN ": %s", command[0], strerror(errnum));
	send(wait_fd, "n", 1, MSG_NOSIGNAL);
	_exit(errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static int child_start(struct run *run, char **command, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERROR_SOCKET);
	run->child = fork();
	if (run->child == 0) {
		close(pair[1]);
		child_run(pair[0], command);
	}
	close(pair[0]);
	run->go_fd = pair[1];
	if (run->child < 0) {
		run->child = 0;
		return error_set_errno(err, ERROR_PROCESS);
	}
	return 0;
}

static int collector_readable(void *context)
{
	struct run *run = context;
	struct error err;

	if (collector_drain(run->collector, &err) < 0) {
		log_error("%s", err.message);
		return END_FAILURE;
	}
	loop_idle(&run->loop, collector_is_busy(run->collector) ? collector_readable : NULL, run);
	return 0;
}

static int timer_readable(void *context)
{
	struct run *run = context;
	struct error err;
	int rc;

	loop_timer_clear(run->timer_fd);
	rc = collector_tick(run->collector, &err);
	if (rc == 0 && collector_pace(run->collector) != run->pace) {
		run->pace = collector_pace(run->collector);
		rc = loop_timer_set(run->timer_fd, run->pace * DRAIN_NS, &err);
	}
	if (rc == 0)
		return 0;
	log_error("%s", err.message);
	return END_FAILURE;
}

static void child_wait(struct run *run, int options)
{
	siginfo_t info = {.si_pid = 0};

	if (run->child == 0)
		return;
	/* The kernel's counts of a process can be read until it is waited for. */
	if (waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOWAIT | options) == 0 &&
	    info.si_pid == run->child)
		run_counts_read(&run->counts, run->child);
	if (wait4(run->child, &run->status, options, &run->usage) == run->child)
		run->child = 0;
}

/*
 * A terminal's ^C is sent by the kernel to the whole foreground group, including the command. A
 * signal sent by a process (kill, timeout, a service manager) is usually for this process alone: it
 * is passed on.
 */
static int signal_readable(void *context)
{
	struct run *run = context;
	bool sent;
	int signal;

	while ((signal = loop_signal(run->signal_fd, &sent)) != 0) {
		run->asked_to_end |= signal != SIGCHLD;
		if (signal != SIGCHLD && sent && run->child != 0)
			kill(run->child, signal);
		else if (signal == SIGCHLD)
			child_wait(run, WNOHANG);
	}
	return run->child == 0 ? END_CHILD : 0;
}

/* The process has ended, or the time is over. */
static int end_reached(void *context)
{
	(void)context;
	return END_ASKED;
}

static int events_resolve(const struct run *run, struct collector_config *config, struct error *err)
{
	config->cpu_hz = event_cpu_hz();
	if (run->settings->events != NULL)
		return event_list_parse(&config->events, run->settings->events, config->cpu_hz,
					err);
	event_list_default(&config->events, &EVENT_MACHINE_HERE, config->cpu_hz);
	return 0;
}

static int collector_prepare(struct run *run, struct error *err)
{
	bool images_kept = *run->settings->image_store != '\0' &&
			   strcmp(run->settings->image_store, "none") != 0;
	struct collector_config config = {
		.db = run->settings->db,
		.source = "perf",
		.memory_limit = MEMORY_LIMIT,
		.merge_ns = MERGE_NS,
		.slice_ns = SLICE_NS,
		.slice_age_ns = {3600 * NS_PER_SECOND, 86400 * NS_PER_SECOND},
		.slices_percent = 100,
		.per_process = "all",
		.units = true,
		.symbols = run->settings->symbols,
		.image_store = run->settings->image_store,
		.image_store_bytes = images_kept ? IMAGE_STORE_BYTES : 0,
		.label = run->settings->label,
		.target_pid = (uint32_t)run->child,
		.only_pid = run->settings->pid,
		.user_only = run->settings->user_only,
		.branch_every = run->settings->branch_every,
		.branch_fixed = run->settings->branch_fixed,
		.probe_permille = run->settings->pid != 0 ? 0 : run->settings->probe_permille,
		.stack_every = run->settings->stack_every,
		.off_cpu_permille = run->settings->off_cpu ? OFF_CPU_PERMILLE : 0,
		.off_cpu_required = true,
		.total_permille =
			run->settings->pid != 0 ? 0 : run->settings->overhead_percent * 10,
		.record = run->trace,
	};
	int rc = events_resolve(run, &config, err);

	if (rc < 0)
		return rc;
	run_cost_fit(&run->cost, &config, run->settings->rate);
	rc = collector_open(&run->collector, &config, err);
	if ((rc == -EACCES || rc == -EPERM) && !run->settings->user_only &&
	    access(run->settings->db, W_OK) == 0) {
		/* User mode may be permitted even if the kernel is not. */
		config.user_only = true;
		rc = collector_open(&run->collector, &config, err);
		run->kernel_excluded = rc == 0;
	}
	return rc;
}

static int loop_prepare(struct run *run, struct error *err)
{
	int fds[COLLECTOR_POLL_FDS], rc, i;

	rc = loop_add(&run->loop, run->signal_fd, signal_readable, run, err);
	collector_poll_fds(run->collector, fds);
	for (i = 0; rc == 0 && i < COLLECTOR_POLL_FDS; i++) {
		if (fds[i] >= 0)
			rc = loop_add(&run->loop, fds[i], collector_readable, run, err);
	}
	if (rc == 0) {
		run->pace = 1;
		run->timer_fd = loop_timer(DRAIN_NS, err);
		rc = run->timer_fd < 0 ? run->timer_fd : 0;
	}
	if (rc == 0)
		rc = loop_add(&run->loop, run->timer_fd, timer_readable, run, err);
	if (rc == 0 && run->settings->duration_s > 0) {
		run->duration_fd = loop_timer(run->settings->duration_s * NS_PER_SECOND, err);
		rc = run->duration_fd < 0
			     ? run->duration_fd
			     : loop_add(&run->loop, run->duration_fd, end_reached, run, err);
	}
	if (rc == 0 && run->pid_fd >= 0)
		rc = loop_add(&run->loop, run->pid_fd, end_reached, run, err);
	return rc;
}

/* Prepare everything up to the point where the child may exec. */
static int profile_prepare(struct run *run, char **command, struct error *err)
{
	static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, 0};
	int rc;

	rc = loop_init(&run->loop, err);
	if (rc < 0)
		return rc;
	run->signal_fd = loop_signals(signals, err);
	if (run->signal_fd < 0)
		return run->signal_fd;
	rc = run->settings->pid != 0 ? run_process_open(&run->pid_fd, run->settings->pid, err)
				     : child_start(run, command, err);
	if (rc == 0 && run->settings->trace_path != NULL)
		rc = trace_writer_create(&run->trace, run->settings->trace_path, err);
	if (rc == 0)
		rc = collector_prepare(run, err);
	if (rc == 0)
		rc = loop_prepare(run, err);
	if (rc == 0)
		rc = collector_start(run->collector, err);
	return rc;
}

static void summary_take(struct run *run)
{
	struct collector_status status;

	collector_status(run->collector, &status);
	run->summary = (struct summary){
		.stored = status.stored,
		.lost = counter_set_sum(&status.counters, "loss"),
		.unknown = status.unknown,
		.gone = collector_samples_gone(run->collector),
		.epoch = status.epoch,
	};
}

/* Printed even with --quiet: reports will lack the names. */
static void gone_print(const struct summary *summary)
{
	if (summary->gone > 0 && summary->stored > 0)
		log_error("%.1f%% of the samples are in files that no longer exist and were not "
			  "copied: their procedures have no names",
			  100 * (double)summary->gone / (double)summary->stored);
}

/* Called after everything is closed, so that the cost includes the CPU time of closing. */
static void summary_print(const struct run *run)
{
	const struct summary *summary = &run->summary;

	if (!run->settings->quiet) {
		fprintf(stderr, "dcpirun: %s: %llu samples, %llu lost, %llu unknown (epoch %lld)",
			run->settings->db, (unsigned long long)summary->stored,
			(unsigned long long)summary->lost, (unsigned long long)summary->unknown,
			(long long)summary->epoch);
		if (run->settings->pid == 0)
			run_cost_print(&run->cost);
		fputc('\n', stderr);
		if (run->kernel_excluded)
			fputs("dcpirun: the kernel is excluded: samples of it are not permitted "
			      "(kernel.perf_event_paranoid, CAP_PERFMON)\n",
			      stderr);
	}
	gone_print(summary);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool command_ran(const struct run *run)
{
	char byte;

	return recv(run->go_fd, &byte, 1, MSG_DONTWAIT) != 1;
}

/* Copy the images that the reports need, and wait for copies, which would be aborted at the end. */
static void images_finish(const struct run *run)
{
	static const struct timespec pause = {.tv_nsec = IMAGE_LOOK_NS};
	struct collector_status status;
	int looks = 0;
	bool done;

	while (!(done = collector_images_finish(run->collector)) && ++looks < IMAGE_LOOKS)
		nanosleep(&pause, NULL);
	collector_status(run->collector, &status);
	if (!done)
		log_error("%llu images could not be copied in time",
			  (unsigned long long)status.store.copier.waiting);
}

/*
 * The command may start many processes. This thread must run in time, because the maps of their JIT
 * code have to be opened before they exit. If a higher priority is not permitted, samples of
 * short-lived processes remain anonymous.
 */
static void priority_raise(void)
{
	setpriority(PRIO_PROCESS, 0, NICE);
}

static void counts_store(const struct run *run)
{
	struct counter_set counts = {.count = 0};

	if (run->settings->pid != 0 || run->child != 0)
		return;
	run_counts_put(&run->counts, &run->usage, &counts);
	collector_command_set(run->collector, &counts);
}

/* Start the command and follow it until it ends (@ret). Return: exit status. */
static int profile_run(struct run *run, int *ret)
{
	struct error err;
	int end = END_FAILURE, rc;
	bool ran;

	priority_raise();
	if (run->pid_fd >= 0 || send(run->go_fd, "g", 1, MSG_NOSIGNAL) == 1)
		end = loop_run(&run->loop);
	if (end != END_CHILD && run->child != 0) {
		kill(run->child, SIGTERM);
		child_wait(run, 0);
	}
	run_cost_end(&run->cost, &run->usage);
	counts_store(run);
	ran = command_ran(run);
	rc = ran ? collector_stop(run->collector, &err) : collector_discard(run->collector, &err);
	if (rc < 0) {
		log_error("%s", err.message);
		end = END_FAILURE;
	}
	if (trace_writer_destroy(take_ptr(run->trace), &err) < 0) {
		log_error("%s", err.message);
		end = END_FAILURE;
	}
	if (ran) {
		images_finish(run);
		summary_take(run);
		run_cost_take(&run->cost, run->collector);
	}
	run->ran = ran;
	*ret = ran ? end : END_FAILURE;
	return end != END_FAILURE ? exit_status(run->status) : EXIT_BAD;
}

static void run_close(struct run *run)
{
	if (run->go_fd >= 0)
		close(run->go_fd);
	if (run->child != 0)
		waitpid(run->child, NULL, 0); /* the child exits without its byte */
	if (run->timer_fd >= 0)
		close(run->timer_fd);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	if (run->duration_fd >= 0)
		close(run->duration_fd);
	if (run->pid_fd >= 0)
		close(run->pid_fd);
	loop_deinit(&run->loop);
	collector_close(run->collector);
	trace_writer_destroy(run->trace, NULL);
}

/* Return: exit status; @again: out: another run may follow. */
static int run_once(const struct settings *settings, char **command, bool first, bool *again)
{
	struct run run = {
		.settings = settings,
		.go_fd = -1,
		.timer_fd = -1,
		.signal_fd = -1,
		.pid_fd = -1,
		.duration_fd = -1,
		.loop = {.epoll_fd = -1},
	};
	struct error err = {.message = ""};
	int status = EXIT_BAD, end = END_FAILURE;

	run_cost_begin(&run.cost, settings->overhead_percent, first);
	if (profile_prepare(&run, command, &err) < 0)
		log_error("%s", err.message);
	else
		status = profile_run(&run, &end);
	*again = end == END_CHILD && !WIFSIGNALED(run.status) && !run.asked_to_end;
	run_close(&run);
	if (run.ran)
		summary_print(&run);
	return status;
}

/* Explains in advance why a report may contain no samples. */
static void secure_exec_announce(const char *command)
{
	const char *reason = secure_exec_reason(command);

	if (reason != NULL)
		log_error("'%s' cannot be sampled by dcpirun: %s; use dcpid instead", command,
			  reason);
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.db = "dcpirun.db",
		.image_store = ARCHIVE_POLICY_UNPACKAGED,
		.repeat = 1,
		.symbols = true,
		.branch_every = BRANCH_EVERY,
		.probe_permille = PROBE_PERMILLE,
		.stack_every = STACK_EVERY,
		.overhead_percent = OVERHEAD_PERCENT,
	};
	_cleanup_free_ char *label = NULL;
	bool again = true;
	int status;

	log_init("dcpirun");
	status = dcpirun_options_parse(&settings, argc, argv);
	if (status >= 0)
		return status;
	if (settings.label == NULL)
		settings.label = label = run_process_label(settings.pid);
	log_set_level(LOG_LEVEL_ERROR);
	if (settings.pid == 0)
		secure_exec_announce(argv[optind]);
	status = 0;
	for (unsigned int i = 0; again && i < settings.repeat; i++) {
		int one = run_once(&settings, argv + optind, i == 0, &again);

		status = status == 0 ? one : status;
	}
	return status;
}
