// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpid: the daemon. Runs in the foreground; a service manager puts it into the background.
 *
 * SIGTERM, SIGINT: drain and merge everything, end the epoch, exit with 0. SIGHUP: re-read the
 * configuration. If it has changed, or periods had to be lengthened since it was read, the epoch
 * ends and another begins with the new configuration. If it is invalid, the old one remains in
 * effect. A trace continues.
 *
 * The same happens with the old configuration when the table of images is nearly full.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/descriptor_limit.h"
#include "daemon/base/directory.h"
#include "daemon/base/heap.h"
#include "daemon/base/local_group.h"
#include "daemon/base/log.h"
#include "daemon/base/loop.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/overhead.h"
#include "daemon/config.h"
#include "daemon/control.h"
#include "daemon/control_verbs.h"
#include "daemon/event/event_catalog.h"
#include "daemon/event/multiplex.h"
#include "daemon/notify.h"
#include "daemon/source/trace_writer.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "loader-hook/audit/audit_message.h"

#define EXIT_BAD 2
#define OVERRIDES_MAX 32
/* Members of this group may read the database and use the control socket. */
#define GROUP "dcpi"
/* No file of the daemon is accessible to others, except the directory of its sockets. */
#define UMASK 027
/*
 * Rings hold about a second of events. The daemon needs little CPU time, even while other users
 * attack it (daemon/image/quota.h), but it needs that time without delay.
 */
#define NICE (-20)
/* Minimum interval between restarts of the engine, in case a user constantly runs new programs. */
#define RENEW_NS (600 * NS_PER_SECOND)

/* Return values of loop_run(). */
enum daemon_end {
	END_STOP = 1,
	END_FAILURE,
};

struct override {
	const char *key;
	const char *value;
};

/*
 * @overrides:  from the command line, in order
 * @renewed_ns: when the table of images was last full; 0: never
 */
struct daemon {
	const char *config_path;
	bool config_named;
	struct override overrides[OVERRIDES_MAX];
	size_t override_count;
	struct config config;
	struct loop loop;
	const char *record_path;
	const char *replay_path;
	struct trace_writer *trace;
	struct collector *collector;
	struct control *control;
	struct multiplex multiplex;
	int timer_fd;
	int signal_fd;
	bool stop_asked;
	uint64_t renewed_ns;
};

/* Long options that are configuration keys are numbered from OPTION_KEYS on. */
enum {
	OPTION_KEYS = 256,
	OPTION_FOREGROUND = 512,
	OPTION_LIST_EVENTS,
	OPTION_RECORD_TRACE,
	OPTION_TRACE,
};

static const char *const option_keys[] = {
	"db",
	"socket",
	"per_process",
	"label",
	"drain_interval_ms",
	"merge_interval_s",
	"memory_limit_mb",
	"overhead_percent",
	"mux_interval_ms",
	"branch_every",
	"double_every",
	"double_period",
	"handler_times",
	"image_store",
	"image_store_mb",
	"per_unit",
	"units",
	"epoch_hours",
	"retention_days",
	"database_mb",
	"image_events",
	"audit_socket",
	"log_level",
	"probe_permille",
	"stack_every",
	"off_cpu_permille",
	"symbols",
};

static const struct option_entry entries[] = {
	{'e', "event", "LIST", "sample these events, NAME[:u|:k][:MIN-MAX],..."},
	{'e', "events", "LIST", NULL},
	{'s', "source", "NAME", "sample by auto, kmod, bpf, perf or replay"},
	{OPTION_KEYS + 0, "db", "FILE", "write this profile database (" CONFIG_DB ")"},
	{OPTION_KEYS + 1, "socket", "PATH",
	 "listen on this control socket (" CONFIG_SOCKET "); '': none"},
	{OPTION_KEYS + 2, "per-process", "LIST",
	 "store samples by process: none, all, or patterns of paths"},
	{OPTION_KEYS + 15, "per-unit", "LIST",
	 "store samples by systemd unit and container, likewise"},
	{OPTION_KEYS + 16, "units", "0|1", "store the number of samples of each unit (1)"},
	{OPTION_KEYS + 26, "symbols", "0|1", "store the names of sampled procedures (1)"},
	{OPTION_KEYS + 3, "label", "TEXT", "store TEXT with the epochs"},
	{OPTION_KEYS + 4, "drain-interval", "MS", "drain samples from the source every MS (1000)"},
	{OPTION_KEYS + 5, "merge-interval", "S", "store samples in the database every S (30)"},
	{OPTION_KEYS + 6, "memory-limit", "MB", "limit the memory of samples not yet stored (64)"},
	{OPTION_KEYS + 7, "overhead", "PERCENT",
	 "limit the cost of sampling, if no period is given (1)"},
	{OPTION_KEYS + 8, "mux-interval", "MS",
	 "multiplex events every MS (the kernel's interval)"},
	{OPTION_LIST_EVENTS, "list-events", NULL, "print what can be sampled here, and exit"},
	{OPTION_KEYS + 9, "branch-every", "N", "interpret one sample in N for edges (0: none)"},
	{OPTION_KEYS + 23, "probes", "N", "spend N/1000 of a CPU on probes of branches (0: none)"},
	{OPTION_KEYS + 24, "stack-every", "N",
	 "sample one call stack for N samples (0: none; bpf, perf)"},
	{OPTION_KEYS + 25, "off-cpu", "N",
	 "spend N/1000 of all CPUs on measuring where threads wait (0: none; BPF)"},
	{OPTION_KEYS + 10, "double-every", "N", "follow one sample in N by another (0: none)"},
	{OPTION_KEYS + 11, "double-period", "N", "after N events (100)"},
	{OPTION_KEYS + 12, "handler-times", "0|1", "time the sampling handler (0; kmod)"},
	{OPTION_KEYS + 13, "image-store", "LIST",
	 "store copies of images: all, none, unpackaged, or patterns"},
	{OPTION_KEYS + 14, "image-store-mb", "MB", "limit the space of the copies (512)"},
	{OPTION_KEYS + 17, "epoch-hours", "H",
	 "start a new epoch every H hours (168; 0: on demand)"},
	{OPTION_KEYS + 18, "retention", "DAYS", "delete epochs after DAYS (90; 0: never)"},
	{OPTION_KEYS + 19, "database-mb", "MB",
	 "limit the size of the database (1024; 0: no limit)"},
	{OPTION_KEYS + 20, "image-events", "NAME", "get image events by auto, bpf, perf or audit"},
	{OPTION_KEYS + 21, "audit-socket", "PATH", "listen here for audit (" AUDIT_SOCKET ")"},
	{OPTION_KEYS + 22, "log-level", "LEVEL",
	 "print messages up to error, warning or info (info)"},
	{'c', "config", "FILE", "read this configuration (" CONFIG_PATH ")"},
	{OPTION_RECORD_TRACE, "record-trace", "FILE", "also write each sample to FILE (perf)"},
	{OPTION_TRACE, "trace", "FILE", "replay the samples of FILE (source replay)"},
	{OPTION_FOREGROUND, "foreground", NULL, "run in the foreground, as always"},
	{'q', "quiet", NULL, "print only errors"},
};

static int override_add(struct daemon *daemon, const char *key, const char *value)
{
	if (daemon->override_count == OVERRIDES_MAX) {
		log_error("too many options");
		return EXIT_BAD;
	}
	daemon->overrides[daemon->override_count++] = (struct override){key, value};
	return -1;
}

/* Return: -1 to continue, otherwise the exit status. */
static int option_take(struct daemon *daemon, const struct options *options, int key)
{
	switch (key) {
	case 'e':
		return override_add(daemon, "events", optarg);
	case 's':
		return override_add(daemon, "source", optarg);
	case 'c':
		daemon->config_path = optarg;
		daemon->config_named = true;
		return -1;
	case 'q':
		return override_add(daemon, "log_level", "error");
	case OPTION_LIST_EVENTS:
		event_catalog_print(&EVENT_MACHINE_HERE, stdout);
		return 0;
	case OPTION_FOREGROUND:
		return -1;
	case OPTION_RECORD_TRACE:
		daemon->record_path = optarg;
		return -1;
	case OPTION_TRACE:
		daemon->replay_path = optarg;
		return -1;
	case OPTIONS_HELP:
		options_help(stdout, options, "[OPTION]...",
			     "Profile the whole machine continuously.");
		return 0;
	case OPTIONS_VERSION:
		options_version(stdout, options);
		return 0;
	default:
		return override_add(daemon, option_keys[key - OPTION_KEYS], optarg);
	}
}

static int dcpid_options_parse(struct daemon *daemon, int argc, char **argv)
{
	struct options options;
	struct error err;
	int key, status;

	daemon->config_path = CONFIG_PATH;
	options_init(&options, "dcpid", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		status = option_take(daemon, &options, key);
		if (status >= 0)
			return status;
	}
	if (key != OPTIONS_END) {
		log_error("%s", err.message);
		return EXIT_BAD;
	}
	if (optind < argc) {
		log_error(ERROR_UNEXPECTED_ARGUMENT("dcpid"), argv[optind]);
		return EXIT_BAD;
	}
	return -1;
}

static int config_load(const struct daemon *daemon, struct config *ret, struct error *err)
{
	struct config config;
	size_t i;
	int rc;

	config_init(&config);
	rc = config_read(&config, daemon->config_path, err);
	if (rc < 0 && (rc != -ENOENT || daemon->config_named))
		return rc;
	for (i = 0; i < daemon->override_count; i++) {
		rc = config_set(&config, daemon->overrides[i].key, daemon->overrides[i].value, err);
		if (rc < 0)
			return rc;
	}
	rc = config_check(&config, err);
	if (rc == 0)
		*ret = config;
	return rc;
}

/* Callbacks of the loop. */

static int failure_end(const struct error *err)
{
	log_error("%s", err->message);
	return END_FAILURE;
}

static int engine_renew(struct daemon *daemon);

/* Processes are scanned a few at a time, whenever the loop is idle. */
static int collector_readable(void *context)
{
	struct daemon *daemon = context;
	struct error err;

	if (collector_drain(daemon->collector, &err) < 0)
		return failure_end(&err);
	loop_idle(&daemon->loop, collector_is_busy(daemon->collector) ? collector_readable : NULL,
		  daemon);
	return 0;
}

/* Report once if the kernel multiplexes events because there are more of them than counters. */
static void multiplexing_report(struct daemon *daemon)
{
	struct source_time times[DCPI_EVENTS_MAX];
	struct collector_status status;
	char text[2 * DCPI_EVENTS_MAX * SOURCE_EVENT_NAME_BYTES];
	size_t i;

	if (!multiplex_due(&daemon->multiplex, clock_monotonic_ns()))
		return;
	collector_status(daemon->collector, &status);
	for (i = 0; i < status.events->count; i++) {
		if (collector_event_time(daemon->collector, i, &times[i]) < 0)
			return;
	}
	if (multiplex_describe(status.events, times, text, sizeof(text)))
		log_info("%s", text);
}

static int timer_readable(void *context)
{
	struct daemon *daemon = context;
	struct error err;

	loop_timer_clear(daemon->timer_fd);
	if (collector_tick(daemon->collector, &err) < 0)
		return failure_end(&err);
	multiplexing_report(daemon);
	if (daemon->trace != NULL && trace_writer_failed(daemon->trace, &err))
		log_error("%s", err.message);
	if (daemon->control != NULL)
		control_expire(daemon->control, clock_monotonic_ns());
	notify_state("WATCHDOG=1");
	return engine_renew(daemon);
}

static int control_readable(void *context)
{
	struct daemon *daemon = context;

	control_dispatch(daemon->control);
	return daemon->stop_asked ? END_STOP : 0;
}

static void request_handle(void *context, const char *verb, const char *argument,
			   struct control_reply *reply)
{
	struct daemon *daemon = context;

	if (strcmp(verb, "stop") == 0)
		daemon->stop_asked = true;
	else
		control_verbs_handle(daemon->collector, &daemon->config, verb, argument, reply);
}

static void control_end(struct daemon *daemon)
{
	if (daemon->control == NULL)
		return;
	loop_remove(&daemon->loop, control_poll_fd(daemon->control));
	control_close(daemon->control);
	daemon->control = NULL;
}

/*
 * The engine: everything that depends on the configuration. The control socket stays open while the
 * engine is replaced, so that clients do not find the daemon gone; requests wait meanwhile.
 */

static void engine_close(struct daemon *daemon)
{
	int fds[COLLECTOR_POLL_FDS];

	loop_idle(&daemon->loop, NULL, NULL);
	loop_remove(&daemon->loop, daemon->timer_fd);
	if (daemon->timer_fd >= 0)
		close(daemon->timer_fd);
	daemon->timer_fd = -1;
	if (daemon->collector != NULL) {
		collector_poll_fds(daemon->collector, fds);
		for (int i = 0; i < COLLECTOR_POLL_FDS; i++)
			loop_remove(&daemon->loop, fds[i]);
		collector_close(daemon->collector);
		daemon->collector = NULL;
	}
	multiplex_close(&daemon->multiplex);
}

static int events_resolve(struct collector_config *collector, const struct config *config,
			  struct error *err)
{
	uint64_t cpu_hz = event_cpu_hz();
	int rc = 0;

	if (config->events[0] != '\0')
		rc = event_list_parse(&collector->events, config->events, cpu_hz, err);
	else
		event_list_default(&collector->events, &EVENT_MACHINE_HERE, cpu_hz);
	if (rc < 0)
		return rc;
	collector->cpu_hz = cpu_hz;
	overhead_fit(&collector->events, cpu_hz, config->overhead_percent,
		     &collector->sample_cost_ns);
	return 0;
}

/* A new database belongs to the daemon's group, like its directory and its control socket. */
static int database_make(const char *path, struct error *err)
{
	gid_t group = local_group_find(GROUP);
	_cleanup_close_ int fd = -1;
	int rc = directory_make_parent(path, 0750, group, err);

	if (rc < 0 || path[0] == '\0')
		return rc;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd >= 0 && fchown(fd, (uid_t)-1, group) < 0)
		log_info("cannot change the group of '%s' to '%s': %s", path, GROUP,
			 strerror(errno));
	return 0;
}

static int engine_collector(struct daemon *daemon, struct error *err)
{
	const struct config *config = &daemon->config;
	bool images_kept =
		config->image_store[0] != '\0' && strcmp(config->image_store, "none") != 0;
	struct collector_config collector = {
		.db = config->db,
		.source = config->source,
		.overhead_percent = config->overhead_percent,
		.overhead_ns = config->overhead_interval_s * NS_PER_SECOND,
		.image_events = config->image_events,
		.audit_socket = config->audit_socket,
		.table_entries = (uint32_t)config->table_entries,
		.buffer_entries = (uint32_t)config->buffer_entries,
		.memory_limit = (size_t)config->memory_limit_mb << 20,
		.merge_ns = config->merge_interval_s * NS_PER_SECOND,
		.per_process = config->per_process,
		.per_unit = config->per_unit,
		.units = config->units != 0,
		.symbols = config->symbols != 0,
		.scan_in_steps = true,
		.label = config->label,
		.branch_every = (uint32_t)config->branch_every,
		.probe_permille = (uint32_t)config->probe_permille,
		.stack_every = (uint32_t)config->stack_every,
		.off_cpu_permille = (uint32_t)config->off_cpu_permille,
		.double_every = (uint32_t)config->double_every,
		.double_period = (uint32_t)config->double_period,
		.handler_times = config->handler_times != 0,
		.record = daemon->trace,
		.replay = daemon->replay_path,
		.image_store = config->image_store,
		.image_store_bytes = images_kept ? config->image_store_mb << 20 : 0,
		.epoch_ns = config->epoch_hours * 3600 * NS_PER_SECOND,
		.slice_ns = config->slice_s * NS_PER_SECOND,
		.slice_age_ns =
			{
				config->minute_slices_after_h * 3600 * NS_PER_SECOND,
				config->hour_slices_after_h * 3600 * NS_PER_SECOND,
				config->day_slices_after_h * 3600 * NS_PER_SECOND,
			},
		.slices_percent = config->slices_percent,
		.retention_ns = config->retention_days * 86400 * NS_PER_SECOND,
		.database_bytes = config->database_mb << 20,
	};
	int fds[COLLECTOR_POLL_FDS], rc, i;

	rc = events_resolve(&collector, config, err);
	if (rc == 0)
		rc = database_make(config->db, err);
	if (rc == 0)
		rc = collector_open(&daemon->collector, &collector, err);
	if (rc == 0)
		multiplex_open(&daemon->multiplex, EVENT_PMU_DEVICES, &collector.events,
			       (unsigned int)config->mux_interval_ms);
	if (rc == 0)
		collector_poll_fds(daemon->collector, fds);
	for (i = 0; rc == 0 && i < COLLECTOR_POLL_FDS; i++) {
		if (fds[i] >= 0)
			rc = loop_add(&daemon->loop, fds[i], collector_readable, daemon, err);
	}
	return rc;
}

static int engine_control(struct daemon *daemon, struct error *err)
{
	int rc;

	if (daemon->control != NULL || daemon->config.socket[0] == '\0')
		return 0;
	rc = directory_make_parent(daemon->config.socket, 0755, (gid_t)-1, err);
	if (rc < 0)
		return rc;
	rc = control_open(&daemon->control, daemon->config.socket, GROUP, request_handle, daemon,
			  err);
	if (rc < 0)
		return rc;
	return loop_add(&daemon->loop, control_poll_fd(daemon->control), control_readable, daemon,
			err);
}

static int engine_open(struct daemon *daemon, struct error *err)
{
	int rc = engine_collector(daemon, err);

	if (rc == 0)
		rc = engine_control(daemon, err);
	if (rc == 0) {
		daemon->timer_fd = loop_timer(daemon->config.drain_interval_ms * NS_PER_MS, err);
		rc = daemon->timer_fd < 0 ? daemon->timer_fd : 0;
	}
	if (rc == 0)
		rc = loop_add(&daemon->loop, daemon->timer_fd, timer_readable, daemon, err);
	if (rc == 0)
		rc = collector_start(daemon->collector, err);
	if (rc < 0)
		engine_close(daemon);
	else
		loop_idle(&daemon->loop, collector_readable, daemon);
	return rc;
}

static int engine_stop(struct daemon *daemon)
{
	struct error err;
	int rc = collector_stop(daemon->collector, &err);

	if (rc < 0)
		log_error("%s", err.message);
	engine_close(daemon);
	return rc;
}

/* Keep a label that was set since the start. */
static void label_keep(struct daemon *daemon)
{
	struct collector_status status;

	collector_status(daemon->collector, &status);
	if (strcmp(status.label, daemon->config.label) != 0)
		config_set(&daemon->config, "label", status.label, NULL);
}

/* The numbers of images are valid for one engine: a new one begins without any. */
static int engine_renew(struct daemon *daemon)
{
	uint64_t now = clock_monotonic_ns();
	struct error err;

	if (!collector_images_crowded(daemon->collector) ||
	    (daemon->renewed_ns != 0 && now - daemon->renewed_ns < RENEW_NS))
		return 0;
	daemon->renewed_ns = now;
	log_info("too many images: all are scanned again, and a new epoch starts");
	label_keep(daemon);
	engine_stop(daemon);
	return engine_open(daemon, &err) < 0 ? failure_end(&err) : 0;
}

static void log_level_apply(const struct config *config)
{
	enum log_level level;

	if (log_level_parse(config->log_level, &level))
		log_set_level(level);
}

/* The log level does not affect epochs: it takes effect at once. */
static int config_reload(struct daemon *daemon)
{
	struct config old = daemon->config, new;
	struct error err;

	if (config_load(daemon, &new, &err) < 0) {
		log_error("%s; the old configuration is kept", err.message);
		return 0;
	}
	log_level_apply(&new);
	memcpy(old.log_level, new.log_level, sizeof(old.log_level));
	memcpy(daemon->config.log_level, new.log_level, sizeof(new.log_level));
	/* If periods were lengthened, a restart may use shorter ones again. */
	if (memcmp(&old, &new, sizeof(new)) == 0 && !collector_slowed(daemon->collector)) {
		log_info("the configuration has not changed");
		return 0;
	}
	engine_stop(daemon);
	if (strcmp(old.socket, new.socket) != 0)
		control_end(daemon);
	daemon->config = new;
	if (engine_open(daemon, &err) == 0)
		return 0;
	log_error("%s; back to the old configuration", err.message);
	control_end(daemon);
	daemon->config = old;
	return engine_open(daemon, &err) < 0 ? failure_end(&err) : 0;
}

static int signal_readable(void *context)
{
	struct daemon *daemon = context;
	int signal;

	while ((signal = loop_signal(daemon->signal_fd, NULL)) != 0) {
		if (signal != SIGHUP)
			return END_STOP;
		if (config_reload(daemon) != 0)
			return END_FAILURE;
	}
	return 0;
}

static int daemon_run(struct daemon *daemon, struct error *err)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, 0};
	int rc;

	rc = loop_init(&daemon->loop, err);
	if (rc < 0)
		return rc;
	daemon->signal_fd = loop_signals(signals, err);
	if (daemon->signal_fd < 0)
		return daemon->signal_fd;
	rc = loop_add(&daemon->loop, daemon->signal_fd, signal_readable, daemon, err);
	if (rc == 0 && daemon->record_path != NULL)
		rc = trace_writer_create(&daemon->trace, daemon->record_path, err);
	if (rc == 0)
		rc = engine_open(daemon, err);
	if (rc < 0)
		return rc;
	notify_state("READY=1");
	log_release();
	log_info("sampling into '%s'", daemon->config.db);
	return loop_run(&daemon->loop);
}

int main(int argc, char **argv)
{
	static struct daemon daemon = {.timer_fd = -1, .signal_fd = -1, .loop = {.epoll_fd = -1}};
	struct error err = {.message = ""};
	int status, rc;

	umask(UMASK);
	heap_configure();
	descriptor_limit_raise();
	/* If this is not permitted, more samples and events may be lost on a busy machine. */
	setpriority(PRIO_PROCESS, 0, NICE);
	log_init("dcpid");
	log_hold();
	status = dcpid_options_parse(&daemon, argc, argv);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	rc = config_load(&daemon, &daemon.config, &err);
	if (rc == 0)
		log_level_apply(&daemon.config);
	if (rc == 0)
		rc = daemon_run(&daemon, &err);
	if (rc < 0)
		log_error("%s", err.message);
	notify_state("STOPPING=1");
	if (daemon.collector != NULL && engine_stop(&daemon) < 0)
		rc = END_FAILURE;
	control_end(&daemon);
	if (trace_writer_destroy(daemon.trace, &err) < 0) {
		log_error("%s", err.message);
		rc = END_FAILURE;
	}
	loop_deinit(&daemon.loop);
	return rc == END_STOP ? 0 : EXIT_BAD;
}
