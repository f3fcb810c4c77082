// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpiship: deliver profiles to another system. Runs in the foreground, without privileges, and
 * only reads the profile database.
 *
 * SIGTERM, SIGINT: end; a request in progress is abandoned, and repeated by the next process.
 * SIGHUP: deliver quarantined batches again, now.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/log.h"
#include "db/ship_state.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "ship/clickhouse_schema.h"
#include "ship/delivery.h"
#include "ship/http_client.h"
#include "ship/protocol.h"
#include "ship/ship_config.h"
#include "ship/ship_metrics.h"
#include "ship/shipment.h"

#define EXIT_BAD 2
/* The database of --schema without a configuration. */
#define DATABASE "dcpi"
#define UMASK 027
#define CLUSTER_PREFIX "cluster:"
/* A destination that fails is reported at its first failure, and then at this interval. */
#define REPORT_NS (600 * NS_PER_SECOND)

enum ship_option {
	OPTION_ONCE = 256,
	OPTION_STATUS,
	OPTION_SCHEMA,
};

static volatile sig_atomic_t stop_requested, release_requested;

/*
 * struct ship - the program
 * @reported_ns: time of the last message about a failure; 0: the last request succeeded
 * @full:        a message has reported that the quarantine is full
 * @rejected:    profiles that were not accepted, and reported
 */
struct ship {
	struct ship_config config;
	struct ship_state *state;
	struct http_client *client;
	struct shipment *shipment;
	struct delivery delivery;
	bool once;
	bool full;
	uint64_t rejected;
	uint64_t reported_ns;
};

static void on_signal(int number)
{
	if (number == SIGHUP) {
		release_requested = 1;
		return;
	}
	stop_requested = 1;
	http_client_stop();
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t all;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Wait; a signal ends it. */
static void wait_for(uint64_t wait_ns)
{
	const struct timespec wait = clock_timespec(wait_ns);
	sigset_t blocked, before;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	if (!stop_requested && !release_requested)
		ppoll(NULL, 0, &wait, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void report_failure(struct ship *ship, const char *message, uint64_t wait_ns)
{
	uint64_t now = clock_monotonic_ns();

	/* With --once, the failure ends the program, which prints it. */
	if (ship->once)
		return;
	if (ship->reported_ns != 0 && now - ship->reported_ns < REPORT_NS)
		return;
	ship->reported_ns = now;
	log_warning("cannot deliver to '%s': %s; next try in %" PRIu64 " s", ship->config.url,
		    message, (uint64_t)((wait_ns + NS_PER_SECOND - 1) / NS_PER_SECOND));
}

static void report_success(struct ship *ship)
{
	if (ship->delivery.rejected > ship->rejected)
		log_warning("'%s' has not accepted %" PRIu64 " profiles: %s", ship->config.url,
			    ship->delivery.rejected - ship->rejected, ship->delivery.message);
	ship->rejected = ship->delivery.rejected;
	if (ship->reported_ns != 0)
		log_info("delivery to '%s' succeeds again", ship->config.url);
	ship->reported_ns = 0;
}

/* Return true if no more batches are made because too many are quarantined. */
static int quarantine_full(struct ship *ship, struct error *err)
{
	uint64_t batches, interrupts;
	int r = ship_state_quarantined(ship->state, &batches, &interrupts, err);

	if (r < 0 || batches < ship->config.quarantine_max) {
		ship->full = false;
		return r;
	}
	if (!ship->full)
		log_error("delivery stops: %" PRIu64 " batches are quarantined; find the reason "
			  "with --status, and send SIGHUP to deliver them again",
			  batches);
	ship->full = true;
	return 1;
}

static int release(struct ship *ship, struct error *err)
{
	bool complete = ship->delivery.protocol->promise == PROTOCOL_EXACTLY_ONCE;
	int released = ship_state_release(ship->state, complete, err);

	release_requested = 0;
	ship->delivery.failures = 0;
	if (released > 0)
		log_info("%d quarantined batches will be delivered again", released);
	return released < 0 ? released : 0;
}

/* Nothing is waiting for delivery: make a batch. Return: 1: a batch; 0; or an error. */
static int prepare(struct ship *ship, uint64_t *wait_ns, struct error *err)
{
	struct http_response response = {.result = HTTP_DONE};
	int r = quarantine_full(ship, err);

	*wait_ns = ship->config.interval_s * NS_PER_SECOND;
	if (r != 0)
		return r < 0 ? r : 0;
	r = shipment_prepare(ship->shipment, &response, err);
	if (r == -EAGAIN) {
		*wait_ns = delivery_wait_ns(&ship->delivery, &response);
		report_failure(ship, response.message, *wait_ns);
	} else if (r < 0) {
		report_failure(ship, err->message, *wait_ns);
	}
	return r;
}

/* One step. Return: 1: continue at once; 0: everything is delivered; or an error. */
static int step(struct ship *ship, uint64_t *wait_ns, struct error *err)
{
	int r = release_requested ? release(ship, err) : 0;

	if (r == 0)
		r = delivery_step(&ship->delivery, wait_ns, err);
	switch (r) {
	case 0:
		r = prepare(ship, wait_ns, err);
		break;
	case 1:
		report_success(ship);
		break;
	case -EPERM:
		if (ship->once)
			break;
		log_error("'%s' refuses a batch, which is quarantined: %s", ship->config.url,
			  ship->delivery.message);
		break;
	case -EAGAIN:
		report_failure(ship, ship->delivery.message, *wait_ns);
		break;
	default:
		*wait_ns = ship->config.interval_s * NS_PER_SECOND;
		report_failure(ship, err->message, *wait_ns);
	}
	return r;
}

static int dcpiship_run(struct ship *ship, struct error *err)
{
	while (!stop_requested) {
		uint64_t wait_ns = 0;
		int r = step(ship, &wait_ns, err);
		struct error ignored;

		if (r == 1)
			continue;
		if (ship_metrics_write(&ship->delivery, shipment_end_ns(ship->shipment), &ignored) <
		    0)
			log_warning("%s", ignored.message);
		if (ship->once && r == 0)
			return 0;
		if (ship->once && (r == -EAGAIN || r == -EPERM))
			return error_set(err, EAGAIN, "%s", ship->delivery.message);
		if (ship->once)
			return r;
		wait_for(wait_ns);
	}
	return 0;
}

static int ship_open(struct ship *ship, struct error *err)
{
	const struct protocol *protocol = protocol_find(ship->config.protocol);
	int r = ship_state_open(&ship->state, ship->config.state, false, err);

	if (r == 0)
		r = ship_state_setting(ship->state, "protocol", ship->config.protocol, err);
	if (r == 0)
		r = ship_state_setting(ship->state, "url", ship->config.url, err);
	if (r == 0)
		r = ship_state_setting(ship->state, "database", ship->config.database, err);
	if (r == 0)
		r = http_client_create(&ship->client, &ship->config, err);
	if (r == 0)
		r = shipment_create(&ship->shipment, &ship->config, protocol, ship->state,
				    ship->client, err);
	ship->delivery = (struct delivery){
		.config = &ship->config,
		.protocol = protocol,
		.state = ship->state,
		.client = ship->client,
	};
	return r;
}

static void ship_close(struct ship *ship)
{
	shipment_destroy(ship->shipment);
	http_client_destroy(ship->client);
	ship_state_close(ship->state);
}

/* --- status ------------------------------------------------------------------- */

/* struct sums - over the epochs of a state file */
struct sums {
	uint64_t epochs;
	uint64_t finished;
	uint64_t interrupts;
	uint64_t delivered;
};

static int sum_epoch(void *context, const struct ship_epoch *epoch)
{
	struct sums *sums = context;

	sums->epochs++;
	sums->finished += epoch->finished;
	sums->interrupts += epoch->interrupts;
	sums->delivered += epoch->delivered;
	return 0;
}

static int print_quarantined(void *context, const struct ship_batch *batch, const char *message)
{
	(void)context;
	printf("  batch %" PRId64 ", %" PRIu64 " interrupts: %s\n", batch->number,
	       batch->interrupts, message != NULL ? message : "");
	return 0;
}

static int status(struct ship *ship, struct error *err)
{
	uint64_t batches = 0, interrupts = 0;
	struct sums sums = {.epochs = 0};
	struct ship_batch pending;
	int r = ship_state_open(&ship->state, ship->config.state, true, err), waiting = 0;

	if (r == 0)
		r = ship_state_epochs(ship->state, sum_epoch, &sums, err);
	if (r == 0)
		r = waiting = ship_state_batch(ship->state, &pending, err);
	if (r >= 0)
		r = ship_state_quarantined(ship->state, &batches, &interrupts, err);
	if (r < 0)
		return r;
	printf("destination            %s\n", ship->config.url);
	printf("epochs                 %" PRIu64 ", complete: %" PRIu64 "\n", sums.epochs,
	       sums.finished);
	printf("interrupts             %" PRIu64 "\n", sums.interrupts);
	printf("in batches             %" PRIu64 "\n", sums.delivered);
	printf("waiting for delivery   %" PRIu64 "\n", waiting ? pending.interrupts : 0);
	printf("quarantined            %" PRIu64 ", batches: %" PRIu64 "\n", interrupts, batches);
	return ship_state_quarantine_list(ship->state, print_quarantined, NULL, err);
}

/* --- command line -------------------------------------------------------------- */

static int print_schema(const char *layout, const char *database, struct error *err)
{
	const char *cluster = NULL;

	if (strncmp(layout, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) == 0)
		cluster = layout + strlen(CLUSTER_PREFIX);
	if (cluster == NULL && strcmp(layout, "single") != 0)
		return error_set(err, EINVAL, ERROR_NOT_VALID, layout,
				 "layout: 'single' or 'cluster:NAME'");
	if (cluster != NULL &&
	    (cluster[0] == '\0' ||
	     cluster[strspn(cluster, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				     "0123456789")] != '\0'))
		return error_set(err, EINVAL, ERROR_NOT_VALID, cluster, "name of a cluster");
	clickhouse_schema_print(stdout, cluster, database);
	return 0;
}

static const struct option_entry entries[] = {
	{'c', "config", "FILE", "the configuration of a destination"},
	{OPTION_ONCE, "once", NULL,
	 "deliver all complete slices, and exit; status 2 if that fails"},
	{OPTION_STATUS, "status", NULL, "print what has been delivered"},
	{OPTION_SCHEMA, "schema", "LAYOUT",
	 "print the tables for ClickHouse: 'single' for one server, 'cluster:NAME' for a cluster"},
};

/* struct request - contents of the command line */
struct request {
	const char *config;
	const char *schema;
	bool status;
};

/* Return: 0; 1: the program is done; or an error. */
static int options_read(struct ship *ship, struct request *request, int argc, char **argv,
			struct error *err)
{
	struct options options;
	int key;

	options_init(&options, "dcpiship", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, err)) >= 0) {
		switch (key) {
		case 'c':
			request->config = optarg;
			break;
		case OPTION_ONCE:
			ship->once = true;
			break;
		case OPTION_STATUS:
			request->status = true;
			break;
		case OPTION_SCHEMA:
			request->schema = optarg;
			break;
		case OPTIONS_HELP:
			options_help(stdout, &options, "dcpiship --config FILE [OPTION]...",
				     "Deliver profiles to another system.");
			return 1;
		case OPTIONS_VERSION:
			options_version(stdout, &options);
			return 1;
		}
	}
	if (key != OPTIONS_END)
		return -EINVAL;
	if (optind < argc)
		return error_set(err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("dcpiship"), argv[optind]);
	if (request->config == NULL && request->schema == NULL)
		return error_set(err, EINVAL,
				 "no configuration: use --config" ERROR_SEE_HELP("dcpiship"));
	return 0;
}

static int run_command(struct ship *ship, int argc, char **argv, struct error *err)
{
	struct request request = {.config = NULL};
	int r = options_read(ship, &request, argc, argv, err);

	if (r != 0)
		return r;
	if (request.config != NULL)
		r = ship_config_read(&ship->config, request.config, err);
	if (r == 0 && request.schema != NULL)
		return print_schema(request.schema,
				    request.config != NULL ? ship->config.database : DATABASE, err);
	if (r == 0)
		r = ship_config_check(&ship->config, err);
	if (r < 0)
		return r;
	if (request.status)
		return status(ship, err);
	umask(UMASK);
	catch_signals();
	r = ship_open(ship, err);
	return r == 0 ? dcpiship_run(ship, err) : r;
}

int main(int argc, char **argv)
{
	static struct ship ship;
	struct error err = {.message = ""};
	int r;

	log_init("dcpiship");
	r = run_command(&ship, argc, argv, &err);
	ship_close(&ship);
	if (r < 0) {
		fprintf(stderr, "dcpiship: %s\n", err.message);
		return EXIT_BAD;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "dcpiship: " ERROR_WRITE_OUTPUT "\n");
		return EXIT_BAD;
	}
	return 0;
}
