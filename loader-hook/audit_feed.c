// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/audit_feed.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/local_socket.h"
#include "lib/epoll_set.h"
#include "loader-hook/audit_record.h"
#include "loader-hook/proc/process_watch.h"

/* Datagrams read per second. A sender that exceeds the rate of real programs must wait. */
#define DATAGRAMS_MAX 20000
/*
 * Processes re-read from /proc per second because of datagrams; the rest are read by the next pass.
 */
#define RESCANS_MAX 64
#define CHECK_NS NS_PER_SECOND
/* Upper bound of the time that a loader takes to start a program; larger reported ages are cut. */
#define AGE_MAX_NS NS_PER_SECOND

/* Assumed length of the socket's queue if the kernel does not report it. */
#define QUEUE_MAX 10
/* The two clocks are read one after the other; the reading is repeated if it was interrupted. */
#define OFFSET_TRIES 8
#define OFFSET_ERROR_NS 5000

/*
 * @queue_max: datagrams that the socket holds at least
 * @waiting:   datagrams read since the socket was last empty; if more than @queue_max, others may
 *             have been refused
 * @full:      @waiting exceeded @queue_max in this drain
 * @until_ns:  the value that the last drain returned
 * @checked_ns: time of the last pass over /proc
 * @second:    the second to which the two counters after it refer
 */
struct audit_feed {
	int fd;
	struct epoll_set *wakes;
	char path[LOCAL_SOCKET_PATH_BYTES];
	struct process_watch watch;
	uint64_t until_ns;
	uint64_t checked_ns;
	uint64_t lost;
	uint64_t second;
	unsigned int rescans;
	unsigned int datagrams;
	unsigned int queue_max;
	unsigned int waiting;
	bool full;
	image_event_fn handle;
	void *context;
	_Alignas(8) unsigned char datagram[AUDIT_MESSAGE_BYTES];
};

CLEANUP_DEFINE(audit_feed, struct audit_feed *, audit_feed_close)

/* Sender and send time of a datagram; @time_ns: time to report, not before the last drain. */
struct sender {
	uint32_t pid;
	uint32_t user;
	uint64_t sent_ns;
	uint64_t time_ns;
};

static unsigned int queue_max(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/sys/net/unix/max_dgram_qlen", "re");
	unsigned int max;

	return file != NULL && fscanf(file, "%u", &max) == 1 ? max : QUEUE_MAX;
}

int audit_feed_open(struct audit_feed **ret, const char *socket, struct error *err)
{
	_cleanup_(cleanup_audit_feed) struct audit_feed *feed = NULL;
	const int yes = 1;
	int r;

	if (socket == NULL || socket[0] == '\0')
		return error_set(err, EINVAL, "image events by audit need audit_socket");
	feed = calloc(1, sizeof(*feed));
	if (feed == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	feed->queue_max = queue_max();
	feed->fd = local_socket_bind(socket, SOCK_DGRAM, 0666, err);
	if (feed->fd < 0)
		return feed->fd;
	snprintf(feed->path, sizeof(feed->path), "%s", socket);
	if (setsockopt(feed->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0 ||
	    setsockopt(feed->fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) < 0)
		return error_set_errno(err, "cannot receive the sender's identity on '%s'", socket);
	r = epoll_set_open(&feed->wakes, err);
	if (r == 0)
		r = epoll_set_add(feed->wakes, feed->fd, feed->path, err);
	if (r < 0)
		return r;
	feed->until_ns = feed->checked_ns = clock_ns(CLOCK_MONOTONIC);
	process_watch_note_all(&feed->watch, feed->until_ns);
	*ret = take_ptr(feed);
	return 0;
}

void audit_feed_close(struct audit_feed *feed)
{
	if (feed == NULL)
		return;
	if (feed->fd >= 0) {
		unlink(feed->path);
		close(feed->fd);
	}
	epoll_set_close(feed->wakes);
	process_watch_deinit(&feed->watch);
	free(feed);
}

int audit_feed_poll_fd(const struct audit_feed *feed)
{
	return epoll_set_fd(feed->wakes);
}

/* Close descriptors that a sender passed along: the kernel has installed them in this process. */
static void descriptors_close(const struct cmsghdr *control)
{
	size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
	int fd;

	for (i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(control) + i * sizeof(fd), sizeof(fd));
		close(fd);
	}
}

/* @offset_ns: wall clock minus monotonic clock */
static void control_take(struct sender *sender, const struct cmsghdr *control, uint64_t offset_ns)
{
	struct timespec stamp;
	struct ucred credentials;

	if (control->cmsg_level != SOL_SOCKET)
		return;
	if (control->cmsg_type == SCM_RIGHTS) {
		descriptors_close(control);
	} else if (control->cmsg_type == SCM_CREDENTIALS) {
		memcpy(&credentials, CMSG_DATA(control), sizeof(credentials));
		sender->pid = credentials.pid > 0 ? (uint32_t)credentials.pid : 0;
		sender->user = credentials.uid;
	} else if (control->cmsg_type == SCM_TIMESTAMPNS) {
		memcpy(&stamp, CMSG_DATA(control), sizeof(stamp));
		sender->sent_ns = (uint64_t)stamp.tv_sec * NS_PER_SECOND + (uint64_t)stamp.tv_nsec -
				  offset_ns;
	}
}

/* Return: bytes; -EAGAIN: the socket is empty; -EINVAL: the datagram is unusable. */
static ssize_t receive(struct audit_feed *feed, struct sender *sender, uint64_t offset_ns)
{
	union {
		struct cmsghdr header; /* for alignment */
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct iovec part = {.iov_base = feed->datagram, .iov_len = sizeof(feed->datagram)};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t bytes = recvmsg(feed->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *item;

	if (bytes < 0)
		return -EAGAIN;
	*sender = (struct sender){0};
	for (item = CMSG_FIRSTHDR(&message); item != NULL; item = CMSG_NXTHDR(&message, item))
		control_take(sender, item, offset_ns);
	/* The kernel reports process 0 for a sender that this PID namespace does not show. */
	if (sender->pid == 0 || (message.msg_flags & MSG_TRUNC))
		return -EINVAL;
	return bytes;
}

/* Read a process from /proc after missed events: at once, or in the next pass over /proc. */
static struct watched_process *rescan(struct audit_feed *feed, uint32_t pid, uint64_t now_ns)
{
	struct watched_process *process = process_watch_find(&feed->watch, pid);

	if (feed->rescans < RESCANS_MAX) {
		feed->rescans++;
		return process_watch_rescan(&feed->watch, pid, now_ns, feed->handle, feed->context);
	}
	if (process == NULL)
		process = process_watch_add(&feed->watch, pid, now_ns);
	if (process != NULL)
		process->due = true;
	return process;
}

static void audit_feed_deliver(struct audit_feed *feed, struct image_event *event,
			       const struct sender *sender, uint64_t time_ns)
{
	event->pid = sender->pid;
	event->has_user = event->type == IMAGE_EVENT_MAP;
	event->user = event->file_user = sender->user;
	event->time_ns = time_ns;
	feed->handle(feed->context, event);
}

/* Return: true if the datagram describes the process completely, so that /proc need not be read. */
static bool records_deliver(struct audit_feed *feed, struct audit_reader *reader,
			    const struct sender *sender, uint64_t time_ns)
{
	bool whole = !(reader->head.flags & AUDIT_MESSAGE_INCOMPLETE);
	struct image_event event;
	int r;

	while ((r = audit_reader_next(reader, &event)) != 0) {
		if (r > 0)
			audit_feed_deliver(feed, &event, sender, time_ns);
		else
			whole = false;
		if (r == -EINVAL) {
			feed->lost++;
			break;
		}
	}
	return whole;
}

/*
 * Return true if @pid still runs @program. Only the end of the path is compared, because the
 * process may have another root directory.
 */
static bool runs(uint32_t pid, const char *program)
{
	size_t bytes = strlen(program);
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	return n >= (ssize_t)bytes && bytes > 0 && memcmp(path + n - bytes, program, bytes) == 0;
}

/*
 * Handle the first datagram of a program. The process may have ended since, or may already run
 * another program, which sends nothing if it does not load the library.
 */
static void audit_feed_begin(struct audit_feed *feed, struct audit_reader *reader,
			     const struct sender *sender, uint64_t now_ns)
{
	struct watched_process *process = process_watch_find(&feed->watch, sender->pid);
	uint64_t age_ns = reader->head.age_ns < AGE_MAX_NS ? reader->head.age_ns : AGE_MAX_NS;
	struct image_event event = {.type = IMAGE_EVENT_EXEC, .path = ""};
	uint64_t time_ns = sender->time_ns - age_ns;
	bool whole;

	if (process != NULL && time_ns < process->known_ns)
		time_ns = process->known_ns < sender->time_ns ? process->known_ns : sender->time_ns;
	audit_feed_deliver(feed, &event, sender, time_ns);
	whole = records_deliver(feed, reader, sender, time_ns);
	process = process_watch_add(&feed->watch, sender->pid, sender->time_ns);
	if (process == NULL) {
		event.type = IMAGE_EVENT_EXIT;
		audit_feed_deliver(feed, &event, sender, now_ns);
		return;
	}
	if (!whole || !runs(sender->pid, reader->program))
		process = rescan(feed, sender->pid, now_ns);
	if (process == NULL)
		return;
	process->counted = true;
	process->sequence = reader->head.sequence + 1;
}

/*
 * Handle any later datagram. A forked child continues its parent's sequence numbers, but no
 * datagram announces the fork, so the child is read from /proc first.
 */
static void go_on(struct audit_feed *feed, struct audit_reader *reader, const struct sender *sender,
		  uint64_t now_ns)
{
	struct watched_process *process = process_watch_find(&feed->watch, sender->pid);
	bool follows =
		process != NULL && process->counted && process->sequence == reader->head.sequence;

	if (process != NULL && process->counted && !follows)
		feed->lost += (uint32_t)(reader->head.sequence - process->sequence);
	if (follows)
		process->known_ns = sender->time_ns;
	if (!follows || !records_deliver(feed, reader, sender, sender->time_ns))
		process = rescan(feed, sender->pid, now_ns);
	if (process == NULL)
		return;
	process->counted = true;
	process->sequence = reader->head.sequence + 1;
}

/*
 * Return the time to report for a datagram. A datagram sent after the drain began is not dated back
 * to that beginning: between the reported time and an unmapping, the CPU may still have executed
 * the code. The wall clock may have been set between its two readings, so the result is limited to
 * the time from the last drain to now.
 */
static uint64_t time_of(const struct audit_feed *feed, uint64_t sent_ns, uint64_t now_ns)
{
	uint64_t read_ns;

	if (sent_ns < feed->until_ns)
		return feed->until_ns;
	if (sent_ns <= now_ns)
		return sent_ns;
	read_ns = clock_ns(CLOCK_MONOTONIC);
	return sent_ns < read_ns ? sent_ns : read_ns;
}

static void datagram_take(struct audit_feed *feed, size_t bytes, struct sender *sender,
			  uint64_t now_ns)
{
	struct audit_reader reader;

	if (!audit_reader_init(&reader, feed->datagram, bytes)) {
		feed->lost++;
		return;
	}
	sender->time_ns = time_of(feed, sender->sent_ns, now_ns);
	if (reader.program != NULL)
		audit_feed_begin(feed, &reader, sender, now_ns);
	else
		go_on(feed, &reader, sender, now_ns);
}

/* Wall clock minus monotonic clock. An error shifts the time of every event by the same amount. */
static uint64_t wall_offset_ns(void)
{
	uint64_t best_ns = UINT64_MAX, offset_ns = 0, before_ns, wall_ns, took_ns;
	int try;

	for (try = 0; try < OFFSET_TRIES && best_ns > OFFSET_ERROR_NS; try++) {
		before_ns = clock_ns(CLOCK_MONOTONIC);
		wall_ns = clock_ns(CLOCK_REALTIME);
		took_ns = clock_ns(CLOCK_MONOTONIC) - before_ns;
		if (took_ns < best_ns) {
			best_ns = took_ns;
			offset_ns = wall_ns - before_ns - took_ns / 2;
		}
	}
	return offset_ns;
}

/*
 * Read datagrams up to the first one that was sent after @now_ns.
 *
 * Return: true if all datagrams sent before @now_ns have been read.
 */
static bool datagrams_take(struct audit_feed *feed, uint64_t now_ns)
{
	uint64_t offset_ns = wall_offset_ns();
	struct sender sender = {.time_ns = 0};
	ssize_t bytes;

	while (feed->datagrams < DATAGRAMS_MAX) {
		bytes = receive(feed, &sender, offset_ns);
		if (bytes == -EAGAIN) {
			feed->waiting = 0;
			return true;
		}
		feed->datagrams++;
		feed->full |= ++feed->waiting > feed->queue_max;
		feed->lost += bytes == -EINVAL;
		if (bytes >= 0)
			datagram_take(feed, (size_t)bytes, &sender, now_ns);
		/*
		 * If the wall clock is set meanwhile, this test fails and the loop ends when the
		 * socket is empty.
		 */
		if (bytes >= 0 && sender.sent_ns > now_ns)
			return true;
	}
	return false;
}

/*
 * The clock is read first: datagrams sent before that time are in the socket, and a process sends a
 * datagram before it executes the code that the datagram announces.
 */
uint64_t audit_feed_drain(struct audit_feed *feed, image_event_fn handle, void *context)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	epoll_set_clear(feed->wakes);
	feed->handle = handle;
	feed->context = context;
	if (feed->second != now_ns / NS_PER_SECOND) {
		feed->second = now_ns / NS_PER_SECOND;
		feed->rescans = feed->datagrams = 0;
	}
	if (!datagrams_take(feed, now_ns))
		return feed->until_ns;
	if (feed->full)
		process_watch_report_loss(&feed->watch, feed->until_ns, now_ns, handle, context);
	feed->full = false;
	if (now_ns >= feed->checked_ns + CHECK_NS) {
		feed->checked_ns = now_ns;
		process_watch_update(&feed->watch, now_ns, handle, context);
	}
	feed->until_ns = now_ns;
	return now_ns;
}

uint64_t audit_feed_lost(const struct audit_feed *feed)
{
	return feed->lost;
}
