// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk with a write cache, for a virtual machine whose power is cut.
 *
 *	power_cut_disk SOCKET FILE SEED CHANGES [lying]
 *
 * Serves FILE, the contents of a disk, to one QEMU (NBD, fixed newstyle, at a Unix socket). A write
 * is acknowledged when it is in the cache, in memory; it reaches FILE at the machine's next flush.
 * SIGUSR1 arms the disk: from then, the power fails at the CHANGES-th write or flush, before that
 * is acknowledged. With SIGTERM it fails at once. Then QEMU is killed, and FILE gets an arbitrary
 * part of the writes that were not flushed. A line reports the cut: "cut", changes since the disk
 * was armed, writes in the cache, sectors of these writes, sectors that were kept. With "lying",
 * flushes are acknowledged without being performed.
 *
 * The remaining data is a possible result of a power cut on a real disk: whole KiB, each as it was
 * at the last flush or after any later write, in no particular order. (With sectors of 512 bytes,
 * ext4 would not survive: it writes its superblock, a KiB, in place, and does not mount with half
 * of it. SQLite's pages are four KiB.) Real disks are rarely so hostile, so some cuts lose all
 * writes, some none, some the latest ones, and some lose only whole writes.
 *
 * Exit status: 0 the power was cut, 1 the machine closed its disk before (FILE has all writes), 2
 * another error.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SECTOR 512
/* Unit of loss in bytes: an aligned block of this size is kept or lost as a whole. */
#define ATOM 1024
#define REQUEST_MAX (32 << 20)

/* Protocol: github.com/NetworkBlockDevice/nbd, doc/proto.md. Numbers are big-endian. */
#define NBD_MAGIC 0x4e42444d41474943ULL	       /* "NBDMAGIC" */
#define NBD_OPTION_MAGIC 0x49484156454f5054ULL /* "IHAVEOPT" */
#define NBD_OPTION_REPLY_MAGIC 0x3e889045565a9ULL
#define NBD_REQUEST_MAGIC 0x25609513U
#define NBD_REPLY_MAGIC 0x67446698U
#define NBD_FIXED_NEWSTYLE 1
#define NBD_HAS_FLAGS 1
#define NBD_SEND_FLUSH 4

enum nbd_option {
	NBD_OPTION_ABORT = 2,
	NBD_OPTION_GO = 7
};
enum nbd_option_reply {
	NBD_ACK = 1,
	NBD_INFO = 3
};
#define NBD_UNSUPPORTED ((1U << 31) + 1)
enum nbd_command {
	NBD_READ,
	NBD_WRITE,
	NBD_DISCONNECT,
	NBD_FLUSH
};

struct nbd_option_request {
	uint64_t magic;
	uint32_t option;
	uint32_t bytes;
} __attribute__((packed));

struct nbd_option_answer {
	uint64_t magic;
	uint32_t option;
	uint32_t type;
	uint32_t bytes;
} __attribute__((packed));

struct nbd_export {
	uint16_t info; /* 0: this export */
	uint64_t bytes;
	uint16_t flags;
} __attribute__((packed));

struct nbd_request {
	uint32_t magic;
	uint16_t flags;
	uint16_t command;
	uint64_t handle;
	uint64_t offset;
	uint32_t bytes;
} __attribute__((packed));

struct nbd_reply {
	uint32_t magic;
	uint32_t error;
	uint64_t handle;
} __attribute__((packed));

/* A write that is acknowledged, but not in the file. */
struct write {
	uint64_t offset;
	uint32_t bytes;
	uint8_t *data;
};

/*
 * @now:     contents as the machine sees them
 * @writes:  since the last flush, in order
 * @changes: writes and flushes since the disk was armed
 * @cut_at:  the value of @changes at which the power fails
 */
static struct {
	int file;
	int machine;
	int signals;
	bool lying;
	bool armed;
	uint64_t seed;
	uint64_t changes;
	uint64_t cut_at;
	uint8_t *now;
	uint64_t bytes;
	struct write *writes;
	size_t count;
	size_t room;
} disk;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "power_cut_disk: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t draw(uint64_t n)
{
	uint64_t z = (disk.seed += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % n;
}

static void file_write(const void *data, size_t bytes, uint64_t offset)
{
	const uint8_t *from = data;
	ssize_t n;

	for (; bytes > 0; bytes -= (size_t)n, from += n, offset += (uint64_t)n) {
		n = pwrite(disk.file, from, bytes, (off_t)offset);
		if (n <= 0)
			die("cannot write the disk's file");
	}
}

static void cache_flush(void)
{
	size_t i;

	for (i = 0; i < disk.count; i++) {
		file_write(disk.writes[i].data, disk.writes[i].bytes, disk.writes[i].offset);
		free(disk.writes[i].data);
	}
	disk.count = 0;
}

static void cache_add(uint64_t offset, uint32_t bytes)
{
	struct write write = {offset, bytes, malloc(bytes)};

	if (disk.count == disk.room) {
		disk.room = 2 * disk.room + 64;
		disk.writes = reallocarray(disk.writes, disk.room, sizeof(*disk.writes));
	}
	if (write.data == NULL || disk.writes == NULL)
		die("no memory");
	memcpy(write.data, disk.now + offset, bytes);
	disk.writes[disk.count++] = write;
}

/* Write each part of a write to the file with a probability of @chance / 16. */
static uint64_t sectors_keep(const struct write *write, uint64_t chance)
{
	uint64_t kept = 0;
	uint32_t at, part;

	for (at = 0; at < write->bytes; at += part) {
		part = ATOM - (uint32_t)((write->offset + at) % ATOM);
		part = part < write->bytes - at ? part : write->bytes - at;
		if (draw(16) >= chance)
			continue;
		file_write(write->data + at, part, write->offset + at);
		kept += part / SECTOR;
	}
	return kept;
}

/* Lose a random part of the cache. Return: the number of sectors kept. */
static uint64_t cache_lose(void)
{
	const uint64_t how = draw(8), chance = 1 + draw(15), last = draw(disk.count + 1);
	uint64_t kept = 0;
	size_t i;

	for (i = 0; i < disk.count; i++) {
		switch (how) {
		case 0: /* keep no write */
			break;
		case 1: /* keep all */
			kept += sectors_keep(&disk.writes[i], 16);
			break;
		case 2: /* keep the first writes */
			kept += sectors_keep(&disk.writes[i], i < last ? 16 : 0);
			break;
		case 3: /* keep or lose whole writes */
		case 4:
			kept += sectors_keep(&disk.writes[i], draw(16) < chance ? 16 : 0);
			break;
		default:
			kept += sectors_keep(&disk.writes[i], chance);
		}
	}
	return kept;
}

/* Kill the machine first, so that it does not see its disk fail. */
static _Noreturn void power_cut(void)
{
	struct ucred peer = {.pid = 0};
	socklen_t bytes = sizeof(peer);
	uint64_t sectors = 0, kept;
	size_t i;

	if (getsockopt(disk.machine, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 || peer.pid <= 0)
		die("who is the machine");
	if (kill(peer.pid, SIGKILL) < 0)
		die("cannot stop the machine");
	for (i = 0; i < disk.count; i++)
		sectors += disk.writes[i].bytes / SECTOR;
	kept = cache_lose();
	printf("cut %llu %zu %llu %llu\n", (unsigned long long)disk.changes, disk.count,
	       (unsigned long long)sectors, (unsigned long long)kept);
	if (fsync(disk.file) < 0)
		die("cannot write the disk's file");
	exit(0);
}

static void signals_take(void)
{
	struct signalfd_siginfo info;

	if (read(disk.signals, &info, sizeof(info)) != sizeof(info))
		die("signalfd");
	if (info.ssi_signo == SIGTERM)
		power_cut();
	disk.armed = true;
}

/* Return false at the end of the connection; exits if the end is in the middle of a message. */
static bool machine_read(void *data, size_t bytes)
{
	uint8_t *to = data;
	size_t got = 0;
	ssize_t n;

	while (got < bytes) {
		struct pollfd fds[2] = {{.fd = disk.machine, .events = POLLIN},
					{.fd = disk.signals, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0)
			die("poll");
		if (fds[1].revents != 0)
			signals_take();
		if (fds[0].revents == 0)
			continue;
		n = read(disk.machine, to + got, bytes - got);
		if (n < 0 && errno != ECONNRESET)
			die("cannot read from the machine");
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static void machine_write(const void *data, size_t bytes)
{
	const uint8_t *from = data;
	ssize_t n;

	for (; bytes > 0; bytes -= (size_t)n, from += n) {
		n = send(disk.machine, from, bytes, MSG_NOSIGNAL);
		if (n <= 0)
			die("cannot write to the machine");
	}
}

static void option_answer(uint32_t option, uint32_t type, const void *data, uint32_t bytes)
{
	const struct nbd_option_answer answer = {
		.magic = htobe64(NBD_OPTION_REPLY_MAGIC),
		.option = htobe32(option),
		.type = htobe32(type),
		.bytes = htobe32(bytes),
	};

	machine_write(&answer, sizeof(answer));
	machine_write(data, bytes);
}

/* Return true when requests follow. */
static bool option_take(void)
{
	const struct nbd_export export = {
		.bytes = htobe64(disk.bytes),
		.flags = htobe16(NBD_HAS_FLAGS | NBD_SEND_FLUSH),
	};
	struct nbd_option_request request;
	uint8_t data[4096];
	uint32_t option;

	if (!machine_read(&request, sizeof(request)) ||
	    be64toh(request.magic) != NBD_OPTION_MAGIC || be32toh(request.bytes) > sizeof(data) ||
	    !machine_read(data, be32toh(request.bytes)))
		die("the machine speaks no NBD");
	option = be32toh(request.option);
	if (option == NBD_OPTION_ABORT)
		exit(1);
	if (option != NBD_OPTION_GO) {
		option_answer(option, NBD_UNSUPPORTED, NULL, 0);
		return false;
	}
	option_answer(option, NBD_INFO, &export, sizeof(export));
	option_answer(option, NBD_ACK, NULL, 0);
	return true;
}

static void negotiate(void)
{
	const struct {
		uint64_t magic;
		uint64_t option_magic;
		uint16_t flags;
	} __attribute__((packed)) greeting = {
		htobe64(NBD_MAGIC),
		htobe64(NBD_OPTION_MAGIC),
		htobe16(NBD_FIXED_NEWSTYLE),
	};
	uint32_t flags;

	machine_write(&greeting, sizeof(greeting));
	if (!machine_read(&flags, sizeof(flags)))
		die("the machine speaks no NBD");
	while (!option_take())
		;
}

/* Called for a write or a flush before it is acknowledged. */
static void change(void)
{
	if (disk.armed && ++disk.changes >= disk.cut_at)
		power_cut();
}

/* Return: the error to send. */
static uint32_t request_do(const struct nbd_request *request, uint64_t offset, uint32_t bytes)
{
	switch (be16toh(request->command)) {
	case NBD_READ:
		return 0;
	case NBD_WRITE:
		if (!machine_read(disk.now + offset, bytes))
			die("the machine ended within a write");
		cache_add(offset, bytes);
		change();
		return 0;
	case NBD_FLUSH:
		change();
		if (!disk.lying)
			cache_flush();
		return 0;
	default:
		return EINVAL;
	}
}

static bool request_serve(void)
{
	struct nbd_reply reply = {.magic = htobe32(NBD_REPLY_MAGIC)};
	struct nbd_request request;
	uint32_t bytes, error;
	uint64_t offset;

	if (!machine_read(&request, sizeof(request)) || be16toh(request.command) == NBD_DISCONNECT)
		return false;
	offset = be64toh(request.offset);
	bytes = be32toh(request.bytes);
	if (be32toh(request.magic) != NBD_REQUEST_MAGIC || bytes > REQUEST_MAX ||
	    offset > disk.bytes || bytes > disk.bytes - offset || offset % SECTOR != 0 ||
	    bytes % SECTOR != 0)
		die("the machine asks for what is not there");
	error = request_do(&request, offset, bytes);
	reply.error = htobe32(error);
	reply.handle = request.handle;
	machine_write(&reply, sizeof(reply));
	if (error == 0 && be16toh(request.command) == NBD_READ)
		machine_write(disk.now + offset, bytes);
	return true;
}

static void disk_open(const char *path)
{
	struct stat status;

	disk.file = open(path, O_RDWR | O_CLOEXEC);
	if (disk.file < 0 || fstat(disk.file, &status) < 0)
		die(path);
	disk.bytes = (uint64_t)status.st_size / SECTOR * SECTOR;
	disk.now = malloc(disk.bytes);
	if (disk.now == NULL || pread(disk.file, disk.now, disk.bytes, 0) != (ssize_t)disk.bytes)
		die(path);
}

static void machine_wait(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		die(path);
	}
	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 1) < 0)
		die(path);
	disk.machine = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (disk.machine < 0)
		die(path);
	close(fd);
}

static void signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	disk.signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || disk.signals < 0)
		die("signalfd");
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc > 6 || (argc == 6 && strcmp(argv[5], "lying") != 0)) {
		fprintf(stderr, "usage: power_cut_disk SOCKET FILE SEED CHANGES [lying]\n");
		return 2;
	}
	disk.seed = strtoull(argv[3], NULL, 10);
	disk.cut_at = strtoull(argv[4], NULL, 10);
	disk.lying = argc == 6;
	disk_open(argv[2]);
	machine_wait(argv[1]);
	signals_open();
	negotiate();
	while (request_serve())
		;
	cache_flush();
	return 1;
}
