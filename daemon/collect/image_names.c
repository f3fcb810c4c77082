// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/image_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/base/sandbox_process.h"
#include "daemon/collect/image_unwind.h"
#include "daemon/collect/symbol_reader.h"
#include "daemon/image/image_file.h"
#include "daemon/image/quota.h"
#include "daemon/image/symbol_list.h"
#include "daemon/unwind/unwind_elf.h"
#include "db/profile_write.h"
#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_read.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

#define NICE 5
#define NS_PER_POINT 1000
/* CPU time for the programs that run at the start. */
#define START_NS NS_PER_SECOND
/* CPU time for a file of root, and of another user. */
#define FILE_ROOT_NS (5 * NS_PER_SECOND)
#define FILE_USER_NS (NS_PER_SECOND / 5)
/* Maximum elapsed time for a file: reading it may block. */
#define FILE_ELAPSED_NS (60 * NS_PER_SECOND)
/* Symbols and strings of a file and its debug file, and the sorted symbols. */
#define PROCESS_BYTES ((uint64_t)640 << 20)
#define PROCESS_FILES 16
/* Files that are tried in a step; those of users without points are skipped. */
#define STEP_FILES 16
#define WAIT_MS 10

#define DEBUG_DIRECTORY "/usr/lib/debug/.build-id"

struct known_range {
	uint64_t start;
	uint64_t end;
};

/*
 * @image:   a copy; this structure owns the path
 * @known:   ranges of offsets whose symbols have been read, ascending
 * @wanted:  offsets; the process has been asked for the first @asked offsets
 * @ready:   symbols that are not written yet
 * @bytes:   of the names in this epoch
 * @refused: no file can be read
 */
struct named_image {
	int64_t id;
	struct profile_image image;
	struct known_range *known;
	size_t known_count;
	size_t known_capacity;
	uint64_t *wanted;
	size_t wanted_count;
	size_t wanted_capacity;
	size_t asked;
	struct symbol_list ready;
	size_t bytes;
	bool refused;
};

/*
 * @images:   in the order of their first sample; @by_id: their indices
 * @reading:  index of the image that the process reads; SIZE_MAX: none
 * @next:     index of the image to be tried next
 * @user:     owner of the file that is read; @process_uid: of the files that the process has read
 * @began_ns, @sent_ns: CLOCK_MONOTONIC, at the start and when the file was sent
 * @sent_cpu_ns: CPU time of the process then
 * @cpu_ns:   for all files
 * @wanted_count, @known_count, @bytes, @user_bytes: sums over all images
 * @is_ready: an image has symbols that are not written yet
 */
struct image_names {
	struct named_image **images;
	size_t count;
	size_t capacity;
	struct u64_map by_id;
	struct sandbox_process process;
	struct quota quota;
	struct quota_user *user;
	uint32_t process_uid;
	uint32_t permille;
	bool all_files;
	size_t reading;
	size_t next;
	uint64_t began_ns;
	uint64_t sent_ns;
	uint64_t sent_cpu_ns;
	uint64_t cpu_ns;
	size_t wanted_count;
	size_t known_count;
	size_t bytes;
	size_t user_bytes;
	bool is_ready;
	uint64_t stored;
	uint64_t failed;
};

/* The data of a request; the descriptors are the offsets, the file, and perhaps its debug file. */
struct request {
	struct image_unwind_identity identity;
	uint64_t count;
};

/* The data of a reply; the descriptor is a file of the ranges, followed by the names. */
struct reply {
	uint64_t count;
	uint64_t names_bytes;
};

/* The process. */

static int extents_write(int *ret, const struct symbol_extents *extents)
{
	size_t bytes = extents->count * sizeof(*extents->extents);
	_cleanup_close_ int fd = memfd_create("symbols", MFD_CLOEXEC);

	if (fd < 0 || write(fd, extents->extents, bytes) != (ssize_t)bytes ||
	    write(fd, extents->names, extents->names_bytes) != (ssize_t)extents->names_bytes)
		return -EIO;
	*ret = take_fd(fd);
	return 0;
}

static int request_answer(const struct broker_packet *packet, struct broker_packet *reply)
{
	_cleanup_free_ uint64_t *offsets = NULL;
	struct symbol_extents extents = {.count = 0};
	struct request request;
	struct reply answer;
	struct unwind_file file = {.fd = packet->fds[1]}, debug = {.fd = packet->fds[2]};
	bool has_debug;
	int r;

	memcpy(&request, packet->message.data, sizeof(request));
	if (request.count > IMAGE_NAMES_WANTED_MAX || packet->fds[1] < 0 ||
	    !image_unwind_is_file(&request.identity, packet->fds[1]))
		return -ENOENT;
	offsets = calloc(request.count + 1, sizeof(*offsets));
	if (offsets == NULL)
		return -ENOMEM;
	r = file_read_exactly(packet->fds[0], offsets, request.count * sizeof(*offsets), 0);
	if (r < 0)
		return r;
	has_debug = debug.fd >= 0 && image_unwind_is_file(&request.identity, debug.fd);
	r = symbol_reader_read(&extents, &file, has_debug ? &debug : NULL, offsets, request.count);
	if (r < 0)
		return r;
	answer = (struct reply){extents.count, extents.names_bytes};
	memcpy(reply->message.data, &answer, sizeof(answer));
	reply->message.bytes = sizeof(answer);
	r = extents_write(&reply->fds[0], &extents);
	symbol_extents_deinit(&extents);
	return r;
}

static void names_process_serve(int socket, const int *files, const void *context)
{
	struct broker_packet request, reply;

	(void)files;
	(void)context;
	while (broker_receive(socket, &request) == 1) {
		broker_packet_init(&reply, BROKER_NAMES);
		reply.message.result = request.message.bytes == sizeof(struct request)
					       ? request_answer(&request, &reply)
					       : -EPROTO;
		broker_packet_close(&request);
		if (broker_send(socket, &reply) < 0)
			return;
		broker_packet_close(&reply);
	}
}

static int process_start(struct image_names *names)
{
	static const struct sandbox_process_task task = {
		.name = "dcpid-names",
		.run = names_process_serve,
		.memory_bytes = PROCESS_BYTES,
		.descriptors = PROCESS_FILES,
		.nice = NICE,
	};

	/* A file that takes over the process must not falsify names of other users' programs. */
	if (names->process.socket >= 0 && names->process_uid != names->user->uid)
		sandbox_process_end(&names->process);
	names->process_uid = names->user->uid;
	return names->process.socket >= 0 ? 0 : sandbox_process_start(&names->process, &task);
}

/* Wanted offsets. */

static bool offset_is_known(const struct named_image *image, uint64_t offset)
{
	size_t after = partition_point(0, image->known_count, i, image->known[i].start <= offset);

	return after > 0 && offset < image->known[after - 1].end;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sort the offsets that have not been sent, and drop those that are known or twice in the list. */
static void wanted_reduce(struct image_names *names, struct named_image *image)
{
	uint64_t *wanted = image->wanted;
	size_t kept = image->asked;

	array_sort(wanted + kept, image->wanted_count - kept, sizeof(*wanted), by_value);
	for (size_t i = kept; i < image->wanted_count; i++) {
		if ((kept == image->asked || wanted[kept - 1] != wanted[i]) &&
		    !offset_is_known(image, wanted[i]))
			wanted[kept++] = wanted[i];
	}
	names->wanted_count -= image->wanted_count - kept;
	image->wanted_count = kept;
}

/* Drop the offsets that were sent: they are known, or will not be. */
static void wanted_drop_asked(struct image_names *names, struct named_image *image)
{
	image->wanted_count -= image->asked;
	names->wanted_count -= image->asked;
	memmove(image->wanted, image->wanted + image->asked,
		image->wanted_count * sizeof(*image->wanted));
	image->asked = 0;
}

static void image_refuse(struct image_names *names, struct named_image *image)
{
	image->refused = true;
	names->wanted_count -= image->wanted_count;
	image->wanted_count = image->asked = 0;
}

static void image_free(struct named_image *image)
{
	free((void *)(uintptr_t)image->image.path);
	free(image->known);
	free(image->wanted);
	symbol_list_deinit(&image->ready);
	free(image);
}

static struct named_image *image_create(struct image_names *names, int64_t id,
					const struct profile_image *image)
{
	struct named_image *created = calloc(1, sizeof(*created));
	uint64_t *index;

	if (created == NULL)
		return NULL;
	created->id = id;
	created->image = *image;
	created->image.path = strdup(image->path);
	index = created->image.path != NULL &&
				array_reserve(&names->images, &names->capacity, names->count + 1,
					      sizeof(*names->images)) == 0
			? u64_map_insert(&names->by_id, (uint64_t)id)
			: NULL;
	if (index == NULL) {
		image_free(created);
		return NULL;
	}
	*index = names->count;
	names->images[names->count++] = created;
	return created;
}

struct named_image *image_names_image(struct image_names *names, int64_t id,
				      const struct profile_image *image)
{
	const uint64_t *index;
	struct named_image *found;

	if (image->kind != PROFILE_IMAGE_FILE)
		return NULL;
	index = u64_map_find(&names->by_id, (uint64_t)id);
	found = index != NULL ? names->images[*index] : image_create(names, id, image);
	return found != NULL && !found->refused ? found : NULL;
}

void image_names_want(struct image_names *names, struct named_image *image, uint64_t offset)
{
	if (image->refused || offset > INT64_MAX || offset_is_known(image, offset) ||
	    (image->wanted_count > image->asked &&
	     image->wanted[image->wanted_count - 1] == offset))
		return;
	if (names->wanted_count >= IMAGE_NAMES_WANTED_MAX)
		wanted_reduce(names, image);
	if (names->wanted_count >= IMAGE_NAMES_WANTED_MAX ||
	    names->known_count >= IMAGE_NAMES_KNOWN_MAX ||
	    array_reserve(&image->wanted, &image->wanted_capacity, image->wanted_count + 1,
			  sizeof(*image->wanted)) < 0)
		return;
	image->wanted[image->wanted_count++] = offset;
	names->wanted_count++;
}

/* Files. */

/* Return true if all users may search the directories of a path. */
static bool is_path_public(const char *path)
{
	char directory[PATH_MAX];
	struct stat status;

	if (path[0] != '/' || strlen(path) >= sizeof(directory))
		return false;
	for (const char *slash = strchr(path + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		memcpy(directory, path, (size_t)(slash - path));
		directory[slash - path] = '\0';
		if (stat(directory, &status) < 0 || (status.st_mode & S_IXOTH) == 0)
			return false;
	}
	return true;
}

/* Return the debug file of a build-id, open for reading; -1: there is none. */
static int debug_open(const struct image_unwind_identity *identity)
{
	char path[sizeof(DEBUG_DIRECTORY) + 2 * sizeof(identity->data) + sizeof("/.debug")];
	int at = snprintf(path, sizeof(path), "%s/", DEBUG_DIRECTORY);
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (!identity->build_id || identity->bytes < 2 || identity->bytes > sizeof(identity->data))
		return -1;
	for (uint32_t i = 0; i < identity->bytes; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x%s", identity->data[i],
			       i == 0 ? "/" : "");
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != 0 ||
	    (status.st_mode & S_IROTH) == 0)
		return -1;
	return take_fd(fd);
}

/*
 * Open the file of an image. Return: a descriptor for reading; -EAGAIN: its owner has no points;
 * other errors: it cannot be read, or not by all users.
 */
static int file_open(struct image_names *names, const struct named_image *image,
		     struct image_unwind_identity *identity)
{
	int files[IMAGE_UNWIND_FILES], r;
	_cleanup_close_ int fd = -1;
	struct stat status;

	r = image_unwind_find(files, identity, &image->image, 0);
	if (r < 0)
		return r;
	fd = files[0];
	if (fstat(fd, &status) < 0 || (!names->all_files && ((status.st_mode & S_IROTH) == 0 ||
							     !is_path_public(image->image.path))))
		return -EACCES;
	names->user = quota_user_of(&names->quota, status.st_uid);
	if (quota_is_limited(names->user)) {
		if (names->user_bytes >= IMAGE_NAMES_USERS_BYTES_MAX)
			return -EDQUOT;
		if (quota_points(names->user, clock_monotonic_ns()) <= 0)
			return -EAGAIN;
	}
	return image_file_readable(fd);
}

static int offsets_write(const struct named_image *image)
{
	size_t bytes = image->wanted_count * sizeof(*image->wanted);
	_cleanup_close_ int fd = memfd_create("offsets", MFD_CLOEXEC);

	if (fd < 0 || write(fd, image->wanted, bytes) != (ssize_t)bytes)
		return -EIO;
	return take_fd(fd);
}

static int names_request_send(struct image_names *names, struct named_image *image, int fd,
			      const struct image_unwind_identity *identity)
{
	const struct request request = {*identity, image->wanted_count};
	struct broker_packet packet;
	int r = process_start(names);

	if (r < 0) {
		close(fd);
		return r;
	}
	broker_packet_init(&packet, BROKER_NAMES);
	memcpy(packet.message.data, &request, sizeof(request));
	packet.message.bytes = sizeof(request);
	packet.fds[0] = offsets_write(image);
	packet.fds[1] = fd;
	packet.fds[2] = debug_open(identity);
	names->sent_ns = clock_monotonic_ns();
	names->sent_cpu_ns = sandbox_process_cpu_ns(&names->process);
	r = packet.fds[0] >= 0 ? broker_send(names->process.socket, &packet) : -EIO;
	broker_packet_close(&packet);
	if (r == 0)
		image->asked = image->wanted_count;
	return r;
}

/* Return: 0: it is being read; -EAGAIN: later; other errors: it cannot be read. */
static int image_read(struct image_names *names, struct named_image *image)
{
	struct image_unwind_identity identity;
	int fd;

	if (image->bytes >= IMAGE_NAMES_IMAGE_BYTES_MAX || names->bytes >= IMAGE_NAMES_BYTES_MAX)
		return -EDQUOT;
	fd = file_open(names, image, &identity);
	return fd < 0 ? fd : names_request_send(names, image, fd, &identity);
}

static bool may_read(const struct image_names *names)
{
	uint64_t elapsed_ns = clock_monotonic_ns() - names->began_ns;

	return names->permille == 0 ||
	       names->cpu_ns < START_NS + elapsed_ns / 1000 * names->permille;
}

/* Let the process read the next file that has wanted offsets. */
static void next_read(struct image_names *names)
{
	size_t tried = 0;

	for (size_t i = 0; i < names->count && tried < STEP_FILES; i++) {
		size_t index = names->next++ % names->count;
		struct named_image *image = names->images[index];
		int r;

		wanted_reduce(names, image);
		if (image->wanted_count == 0)
			continue;
		tried++;
		r = image_read(names, image);
		if (r == 0) {
			names->reading = index;
			return;
		}
		if (r != -EAGAIN)
			image_refuse(names, image);
	}
}

/* Results. */

static int by_start(const void *a, const void *b)
{
	const struct known_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool is_extent_valid(const struct symbol_extents *extents, size_t i)
{
	const struct symbol_extent *extent = &extents->extents[i];

	if (extent->start >= extent->end || extent->name >= extents->names_bytes ||
	    (i > 0 && extent->start < extents->extents[i - 1].end))
		return false;
	return extent->name == 0 ||
	       (extent->offset <= extent->start && extent->bytes >= extent->end - extent->offset);
}

static void extent_take(struct image_names *names, struct named_image *image,
			const struct symbol_extents *extents, const struct symbol_extent *extent)
{
	const char *name = extents->names + extent->name;
	size_t bytes = strlen(name) + 1;

	image->known[image->known_count++] = (struct known_range){extent->start, extent->end};
	names->known_count++;
	if (extent->name == 0 || bytes > SYMBOL_READER_NAME_BYTES_MAX ||
	    image->bytes + bytes > IMAGE_NAMES_IMAGE_BYTES_MAX)
		return;
	symbol_list_add(&image->ready, name, extent->offset, extent->bytes, true);
	image->bytes += bytes;
	names->bytes += bytes;
	if (quota_is_limited(names->user))
		names->user_bytes += bytes;
	names->is_ready = true;
	names->stored++;
}

static int extents_take(struct image_names *names, struct named_image *image,
			const struct symbol_extents *extents)
{
	if (array_reserve(&image->known, &image->known_capacity,
			  image->known_count + extents->count, sizeof(*image->known)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < extents->count; i++) {
		if (!is_extent_valid(extents, i))
			return -EBADMSG;
	}
	for (size_t i = 0; i < extents->count; i++)
		extent_take(names, image, extents, &extents->extents[i]);
	array_sort(image->known, image->known_count, sizeof(*image->known), by_start);
	return 0;
}

/* The process may have been taken over by the file: all numbers are checked. */
static int reply_read(struct image_names *names, struct named_image *image,
		      const struct broker_packet *packet)
{
	struct symbol_extents extents = {.count = 0};
	struct reply reply;
	size_t bytes;
	int r = packet->message.result;

	if (r < 0)
		return r;
	if (packet->message.bytes != sizeof(reply) || packet->fds[0] < 0)
		return -EBADMSG;
	memcpy(&reply, packet->message.data, sizeof(reply));
	if (reply.count > image->asked || reply.names_bytes == 0 ||
	    reply.names_bytes > SYMBOL_READER_NAMES_BYTES_MAX)
		return -EBADMSG;
	bytes = reply.count * sizeof(*extents.extents);
	extents.count = reply.count;
	extents.names_bytes = reply.names_bytes;
	extents.extents = malloc(bytes + 1);
	extents.names = malloc(reply.names_bytes);
	r = extents.extents == NULL || extents.names == NULL ? -ENOMEM : 0;
	if (r == 0)
		r = file_read_exactly(packet->fds[0], extents.extents, bytes, 0);
	if (r == 0)
		r = file_read_exactly(packet->fds[0], extents.names, reply.names_bytes, bytes);
	if (r == 0)
		r = extents.names[reply.names_bytes - 1] == '\0'
			    ? extents_take(names, image, &extents)
			    : -EBADMSG;
	symbol_extents_deinit(&extents);
	return r;
}

static void cpu_charge(struct image_names *names)
{
	uint64_t now_ns = sandbox_process_cpu_ns(&names->process);
	uint64_t used_ns = now_ns - names->sent_cpu_ns;

	quota_charge(names->user, clock_monotonic_ns(), (int64_t)(used_ns / NS_PER_POINT));
	names->cpu_ns += used_ns;
}

/* Return true if the file exceeds a limit. */
static bool is_too_slow(const struct image_names *names)
{
	uint64_t used_ns = sandbox_process_cpu_ns(&names->process) - names->sent_cpu_ns;

	return used_ns > (quota_is_limited(names->user) ? FILE_USER_NS : FILE_ROOT_NS) ||
	       clock_monotonic_ns() - names->sent_ns > FILE_ELAPSED_NS;
}

/* Take the reply about the file that is read. @wait_ms: maximum */
static void reply_take(struct image_names *names, int wait_ms)
{
	struct named_image *image = names->images[names->reading];
	struct pollfd socket = {.fd = names->process.socket, .events = POLLIN};
	struct broker_packet reply;
	int r = -ETIME;

	if (poll(&socket, 1, wait_ms) > 0) {
		r = broker_receive(socket.fd, &reply) == 1 ? 0 : -EPIPE;
	} else if (!is_too_slow(names)) {
		return;
	}
	cpu_charge(names);
	if (r == 0) {
		r = reply_read(names, image, &reply);
		broker_packet_close(&reply);
	} else {
		sandbox_process_end(&names->process);
	}
	names->failed += r < 0;
	names->reading = SIZE_MAX;
	if (r < 0)
		image_refuse(names, image);
	else
		wanted_drop_asked(names, image);
}

static void step(struct image_names *names, int wait_ms)
{
	if (names->reading != SIZE_MAX)
		reply_take(names, wait_ms);
	if (names->reading == SIZE_MAX && names->wanted_count > 0 && may_read(names))
		next_read(names);
	if (names->reading == SIZE_MAX && names->process.socket >= 0)
		sandbox_process_end(&names->process);
}

void image_names_step(struct image_names *names)
{
	step(names, 0);
}

void image_names_finish(struct image_names *names, uint64_t wait_ns)
{
	uint64_t end_ns = clock_monotonic_ns() + wait_ns;

	do {
		step(names, WAIT_MS);
	} while (names->reading != SIZE_MAX && clock_monotonic_ns() < end_ns);
}

static int image_write(struct named_image *image, struct profile_writer *writer, struct error *err)
{
	_cleanup_free_ struct profile_symbol *symbols = NULL;
	_cleanup_free_ char *text = NULL;
	size_t count;

	if (symbol_list_take(&image->ready, &symbols, &count, &text) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return count > 0 ? profile_writer_symbols_add(writer, image->id, symbols, count, err) : 0;
}

int image_names_write(struct image_names *names, struct profile_writer *writer, struct error *err)
{
	int r = 0;

	for (size_t i = 0; names->is_ready && i < names->count && r == 0; i++)
		r = image_write(names->images[i], writer, err);
	names->is_ready = false;
	return r;
}

/* Creating and freeing. */

struct image_names *image_names_create(uint32_t permille, bool all_files)
{
	struct image_names *names = calloc(1, sizeof(*names));

	if (names == NULL)
		return NULL;
	names->process.socket = -1;
	names->permille = permille;
	names->all_files = all_files;
	names->reading = SIZE_MAX;
	names->began_ns = clock_monotonic_ns();
	return names;
}

void image_names_forget(struct image_names *names)
{
	sandbox_process_end(&names->process);
	for (size_t i = 0; i < names->count; i++)
		image_free(names->images[i]);
	u64_map_deinit(&names->by_id);
	names->reading = SIZE_MAX;
	names->count = 0;
	names->wanted_count = names->known_count = 0;
	names->bytes = names->user_bytes = 0;
	names->is_ready = false;
}

void image_names_destroy(struct image_names *names)
{
	if (names == NULL)
		return;
	image_names_forget(names);
	free(names->images);
	quota_deinit(&names->quota);
	free(names);
}

void image_names_counters(const struct image_names *names, struct counter_set *tally)
{
	counter_set_put(tally, "stat", "symbol_names", names->stored);
	counter_set_put(tally, "stat", "symbol_files_failed", names->failed);
	counter_set_put(tally, "stat", "symbol_read_ms", names->cpu_ns / NS_PER_MS);
}
