// SPDX-License-Identifier: GPL-2.0-only
/* The daemon's end of the LD_AUDIT library; children of this program are the senders. */
#include "tests/lib/unit.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"
#include "loader-hook/audit/datagram.h"
#include "loader-hook/audit_feed.h"
#include "tests/lib/patience.h"

#define EVENTS_MAX 4096

/* Events of one process. */
struct log {
	uint32_t pid;
	size_t count;
	struct image_event event[EVENTS_MAX];
	char path[EVENTS_MAX][128];
};

static struct log log_;
static char work[32];
static char socket_path[64];
static struct audit_feed *feed;

static void note(void *context, const struct image_event *event)
{
	struct log *log = context;

	if (event->pid != log->pid || log->count == EVENTS_MAX)
		return;
	if (event->type == IMAGE_EVENT_MAP && !event->scanned) {
		assert_true(event->has_user);
		assert_int_equal(event->user, getuid());
		assert_int_equal(event->file_user, getuid());
	}
	log->event[log->count] = *event;
	snprintf(log->path[log->count], sizeof(log->path[0]), "%s",
		 event->path != NULL ? event->path : "");
	log->count++;
}

/* Return the events of a process in the next drain. */
static struct log *drain(pid_t pid)
{
	log_.pid = (uint32_t)pid;
	log_.count = 0;
	audit_feed_drain(feed, note, &log_);
	return &log_;
}

/* Call drain() until there is an event: the feed scans /proc once a second. */
static struct log *drain_until_event(pid_t pid)
{
	uint64_t until = patience_end_ns();

	while (drain(pid)->count == 0 && clock_monotonic_ns() < until)
		usleep(20000);
	return &log_;
}

static size_t count_of(const struct log *log, enum image_event_type type)
{
	size_t count = 0, i;

	for (i = 0; i < log->count; i++)
		count += log->event[i].type == type;
	return count;
}

static bool has_path(const struct log *log, const char *path)
{
	size_t i;

	for (i = 0; i < log->count; i++) {
		if (strstr(log->path[i], path) != NULL)
			return true;
	}
	return false;
}

static void map_add(struct datagram *datagram, uint64_t start)
{
	struct audit_record *record = datagram_record(datagram, AUDIT_RECORD_MAP, "/lib/told.so");

	record->start = start;
	record->length = 0x1000;
	record->build_id_bytes = 20;
	memset(record->build_id, 7, 20);
}

/* Send the first datagram of a starting program. */
static void begin_send(struct datagram *datagram)
{
	char program[1024];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n > 0 ? n : 0] = '\0';
	memset(datagram, 0, sizeof(*datagram));
	datagram_set_socket(datagram, socket_path);
	datagram_record(datagram, AUDIT_RECORD_PROGRAM, program);
	datagram_flag(datagram, AUDIT_MESSAGE_BEGINS);
	datagram_record(datagram, AUDIT_RECORD_COMMAND, "told");
	map_add(datagram, 0x10000);
	datagram_send(datagram);
}

static void map_send(struct datagram *datagram, uint64_t start)
{
	map_add(datagram, start);
	datagram_send(datagram);
}

/*
 * A child that executes one step at a time, on request.
 *
 * @go: written to start the next step; @done: read when the step is done
 */
struct child {
	pid_t pid;
	int go;
	int done;
};

typedef void (*step_fn)(struct datagram *datagram);

static struct child child_start(const step_fn *steps)
{
	static struct datagram datagram;
	int go[2], done[2];
	struct child child;
	char byte = 0;

	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	child = (struct child){.pid = fork(), .go = go[1], .done = done[0]};
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(go[1]);
		for (; *steps != NULL && read(go[0], &byte, 1) == 1; steps++) {
			(*steps)(&datagram);
			if (write(done[1], &byte, 1) != 1)
				_exit(1);
		}
		_exit(read(go[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(go[0]);
	close(done[1]);
	return child;
}

static void child_step(const struct child *child)
{
	char byte = 0;

	assert_int_equal(write(child->go, &byte, 1), 1);
	assert_int_equal(read(child->done, &byte, 1), 1);
}

static void child_end(const struct child *child)
{
	int status;

	close(child->go);
	close(child->done);
	waitpid(child->pid, &status, 0);
}

static int setup(void **state)
{
	struct error err;

	(void)state;
	strcpy(work, "/tmp/unit_audit_feed.XXXXXX");
	if (mkdtemp(work) == NULL)
		return -1;
	snprintf(socket_path, sizeof(socket_path), "%s/socket", work);
	return audit_feed_open(&feed, socket_path, &err);
}

static int teardown(void **state)
{
	(void)state;
	audit_feed_close(feed);
	feed = NULL;
	/* Fails unless the directory is empty. */
	return rmdir(work);
}

static void step_begin(struct datagram *datagram)
{
	begin_send(datagram);
}

static void step_map(struct datagram *datagram)
{
	map_send(datagram, 0x20000);
}

static void step_gap(struct datagram *datagram)
{
	datagram->sequence++;
	map_send(datagram, 0x30000);
}

static void step_exec(struct datagram *datagram)
{
	(void)datagram;
	execlp("sleep", "sleep", "100", (char *)NULL);
}

static void test_follows_program(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, step_map, NULL});
	uint64_t before = clock_monotonic_ns();
	const struct log *log;

	(void)state;
	child_step(&child);
	log = drain(child.pid);
	assert_int_equal(log->count, 3);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_EXEC);
	assert_true(log->event[0].time_ns >= before &&
		    log->event[0].time_ns <= clock_monotonic_ns());
	assert_int_equal(log->event[1].type, IMAGE_EVENT_RENAME);
	assert_string_equal(log->path[1], "told");
	assert_int_equal(log->event[2].type, IMAGE_EVENT_MAP);
	assert_int_equal(log->event[2].start, 0x10000);
	child_step(&child);
	before = clock_monotonic_ns();
	log = drain(child.pid);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->event[0].start, 0x20000);
	/* The event has the time when it was sent, not when it was read. */
	assert_true(log->event[0].time_ns <= before);
	assert_int_equal(audit_feed_lost(feed), 0);
	child_end(&child);
}

static void test_detects_missing_datagrams(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, step_gap, step_map, NULL});
	const struct log *log;

	(void)state;
	child_step(&child);
	drain(child.pid);
	child_step(&child);
	log = drain(child.pid);
	assert_int_equal(audit_feed_lost(feed), 1);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_LOST);
	assert_true(log->event[0].until_ns >= log->event[0].time_ns);
	assert_int_equal(log->event[1].type, IMAGE_EVENT_FORK);
	assert_true(log->event[1].scanned);
	/* The contents of /proc are used; the reported library is not in them. */
	assert_false(has_path(log, "/lib/told.so"));
	assert_true(has_path(log, "unit_audit_feed"));
	child_step(&child);
	assert_true(has_path(drain(child.pid), "/lib/told.so"));
	child_end(&child);
}

static void test_reads_existing_processes(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, step_map, NULL});
	struct error err;

	(void)state;
	child_step(&child);
	/* Another daemon has not received the start of that program. */
	audit_feed_close(feed);
	assert_int_equal(audit_feed_open(&feed, socket_path, &err), 0);
	child_step(&child);
	assert_true(has_path(drain(child.pid), "unit_audit_feed"));
	assert_int_equal(audit_feed_lost(feed), 0);
	child_end(&child);
}

static void test_reports_exit(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, NULL});
	const struct log *log;

	(void)state;
	child_step(&child);
	child_end(&child);
	log = drain(child.pid);
	assert_true(has_path(log, "/lib/told.so"));
	assert_int_equal(log->event[log->count - 1].type, IMAGE_EVENT_EXIT);
}

/* An exec from a program with the library into one without it is detected. */
static void test_detects_unreported_exec(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, step_exec, NULL});
	const struct log *log;
	char byte = 0;

	(void)state;
	child_step(&child);
	drain(child.pid);
	assert_int_equal(write(child.go, &byte, 1), 1);
	log = drain_until_event(child.pid);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_LOST);
	assert_int_equal(log->event[1].type, IMAGE_EVENT_FORK);
	assert_true(has_path(log, "sleep"));
	kill(child.pid, SIGKILL);
	child_end(&child);
	log = drain_until_event(child.pid);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_EXIT);
}

static size_t descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

/* Invalid datagrams are counted as lost, and unsolicited descriptors are closed. */
static void test_counts_malformed_datagrams(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0), given = dup(fd);
	uint8_t bytes[AUDIT_MESSAGE_BYTES + 8] = {0};
	char control[CMSG_SPACE(sizeof(given))] = {0};
	struct iovec part = {bytes, 10};
	struct msghdr message = {
		.msg_name = &address,
		.msg_namelen = sizeof(address),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	size_t before = descriptors(), i;

	(void)state;
	strcpy(address.sun_path, socket_path);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(given));
	memcpy(CMSG_DATA(rights), &given, sizeof(given));
	for (i = 0; i < 4; i++)
		assert_int_equal(sendmsg(fd, &message, 0), 10);
	/* An empty datagram, and one that is too long. */
	assert_int_equal(sendto(fd, bytes, 0, 0, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(
		sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&address, sizeof(address)),
		sizeof(bytes));
	drain(getpid());
	assert_int_equal(audit_feed_lost(feed), 6);
	assert_int_equal(descriptors(), before);
	close(given);
	close(fd);
}

/* If the socket overflows, senders do not wait, and the loss is reported. */
static void test_sender_does_not_block(void **state)
{
	static struct datagram datagram;
	const struct log *log;
	struct pollfd readable;
	uint64_t before;
	int i;

	(void)state;
	begin_send(&datagram);
	for (i = 0; i < 5; i++)
		map_send(&datagram, 0x40000);
	assert_int_equal(count_of(drain(getpid()), IMAGE_EVENT_LOST), 0);
	for (i = 0; i < 5000; i++)
		map_send(&datagram, 0x40000);
	readable = (struct pollfd){.fd = audit_feed_poll_fd(feed), .events = POLLIN};
	assert_int_equal(poll(&readable, 1, 0), 1);
	before = clock_monotonic_ns();
	log = drain(getpid());
	/* The loss is reported at once, not with the next datagram that is received. */
	assert_int_equal(count_of(log, IMAGE_EVENT_LOST), 1);
	assert_int_equal(log->event[log->count - 1].type, IMAGE_EVENT_LOST);
	assert_true(log->event[log->count - 1].time_ns < before);
	assert_true(log->event[log->count - 1].until_ns >= before);
	map_send(&datagram, 0x50000);
	assert_int_equal(count_of(drain(getpid()), IMAGE_EVENT_LOST), 1);
	assert_true(audit_feed_lost(feed) > 0);
}

/* A process without the library, which sends no datagrams, is found by scanning. */
static void test_finds_silent_processes(void **state)
{
	struct child child = child_start((const step_fn[]){NULL});
	const struct log *log;

	(void)state;
	log = drain_until_event(child.pid);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_FORK);
	assert_true(log->event[0].scanned);
	assert_true(has_path(log, "unit_audit_feed"));
	child_end(&child);
	log = drain_until_event(child.pid);
	assert_int_equal(log->count, 1);
	assert_int_equal(log->event[0].type, IMAGE_EVENT_EXIT);
}

static uint64_t flood_events;

static void flood_count(void *context, const struct image_event *event)
{
	(void)context;
	flood_events += event->type == IMAGE_EVENT_MAP && !event->scanned;
}

/* Datagrams of a flooding process are read at a bounded rate, without delaying the feed. */
static void test_bounds_flood(void **state)
{
	static struct datagram datagram;
	struct pollfd readable = {.fd = audit_feed_poll_fd(feed), .events = POLLIN};
	const uint64_t second = 1000000000, begun = clock_monotonic_ns();
	uint64_t seconds, until;
	pid_t flooder = fork();

	(void)state;
	assert_true(flooder >= 0);
	if (flooder == 0) {
		begin_send(&datagram);
		for (;;)
			map_send(&datagram, 0x60000);
	}
	flood_events = 0;
	while (clock_monotonic_ns() < begun + 3 * second) {
		uint64_t asked = clock_monotonic_ns();

		poll(&readable, 1, 100);
		until = audit_feed_drain(feed, flood_count, NULL);
		assert_true(until + 5 * second > asked);
	}
	kill(flooder, SIGKILL);
	waitpid(flooder, NULL, 0);
	seconds = (clock_monotonic_ns() - begun) / second + 2;
	assert_in_range(flood_events, 1, seconds * 20000);
}

/* Times of a child that sends its second datagram while the first one is read. */
struct answer {
	const struct child *child;
	uint64_t asked_ns;
	uint64_t told_ns;
};

static void answer_note(void *context, const struct image_event *event)
{
	struct answer *answer = context;

	if (event->pid != (uint32_t)answer->child->pid || event->type != IMAGE_EVENT_MAP)
		return;
	if (event->start == 0x20000) {
		answer->told_ns = event->time_ns;
	} else if (answer->asked_ns == 0) {
		answer->asked_ns = clock_monotonic_ns();
		child_step(answer->child);
	}
}

/* An event sent during a drain is not dated to the start of the drain. */
static void test_times_do_not_decrease(void **state)
{
	struct child child = child_start((const step_fn[]){step_begin, step_map, NULL});
	struct answer answer = {.child = &child};
	int i;

	(void)state;
	child_step(&child);
	for (i = 0; i < 2 && answer.told_ns == 0; i++)
		audit_feed_drain(feed, answer_note, &answer);
	assert_true(answer.asked_ns > 0);
	assert_true(answer.told_ns >= answer.asked_ns);
	assert_true(answer.told_ns <= clock_monotonic_ns());
	child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_follows_program, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times_do_not_decrease, setup, teardown),
		cmocka_unit_test_setup_teardown(test_detects_missing_datagrams, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reads_existing_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reports_exit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_detects_unreported_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts_malformed_datagrams, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sender_does_not_block, setup, teardown),
		cmocka_unit_test_setup_teardown(test_finds_silent_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds_flood, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
