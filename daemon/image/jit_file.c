// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/jit_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/image/image_file.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "loader-hook/image_event.h"
#include "loader-hook/proc/process_stat.h"

/* A file's modification time has the resolution of the kernel's tick. */
#define TICK_NS ((int64_t)(20 * NS_PER_MS))

/*
 * A process as it sees itself. All data are read through one descriptor of its /proc directory,
 * which never refers to another process that gets its id.
 */
struct subject {
	int directory;
	uint32_t own_pid;
	uid_t user;
};

void jit_file_close(struct jit_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct jit_file){.fd = -1};
}

bool jit_file_same(const struct jit_file *a, const struct jit_file *b)
{
	return a->inode != 0 && a->device == b->device && a->inode == b->inode;
}

/* Return the last number of a line "NSpid:\t1234\t5". */
static uint32_t last_number(const char *line)
{
	const char *blank = strrchr(line, '\t');

	return blank != NULL ? (uint32_t)strtoul(blank, NULL, 10) : 0;
}

static int read_status(struct subject *subject)
{
	int fd = openat(subject->directory, "status", O_RDONLY | O_CLOEXEC);
	_cleanup_file_ FILE *status = fd >= 0 ? fdopen(fd, "re") : NULL;
	unsigned int effective;
	bool has_user = false;
	char line[256];

	if (status == NULL) {
		if (fd >= 0)
			close(fd);
		return -ESRCH;
	}
	while (fgets(line, sizeof(line), status) != NULL) {
		if (sscanf(line, "Uid: %*u %u", &effective) == 1) {
			subject->user = effective;
			has_user = true;
		} else if (strncmp(line, "NSpid:", 6) == 0) {
			subject->own_pid = last_number(line);
		}
	}
	return has_user && subject->own_pid != 0 ? 0 : -ESRCH;
}

static int subject_open(struct subject *subject, uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	*subject = (struct subject){.directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	if (subject->directory < 0)
		return -ESRCH;
	if (read_status(subject) < 0) {
		close(subject->directory);
		return -ESRCH;
	}
	return 0;
}

/*
 * Reopen an O_PATH descriptor for reading, if the file may be trusted. In a namespace of its own, a
 * process can bind any file of root to the path of its map, so it must be permitted to read it.
 *
 * @pid: the process; @user: its effective user
 */
static int file_take(struct jit_file *file, int named, uint32_t pid, uid_t user)
{
	struct image_file_claim claim = {.inode = 0};
	struct stat status;

	file_reader_of_process(&claim.reader, pid);
	if (image_file_check(&claim, named, &status) < 0 ||
	    (status.st_uid != user && status.st_uid != 0))
		return -ENOENT;
	file->fd = image_file_readable(named);
	if (file->fd < 0)
		return file->fd;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->user = user;
	return 0;
}

bool jit_file_is_older(const struct jit_file *file, uint64_t time_ns)
{
	int64_t age = (int64_t)clock_monotonic_ns() - (int64_t)time_ns;
	int64_t modified;
	struct stat status;

	if (fstat(file->fd, &status) < 0)
		return false;
	modified = (int64_t)status.st_mtim.tv_sec * (int64_t)NS_PER_SECOND + status.st_mtim.tv_nsec;
	return modified + TICK_NS < clock_real_ns() - age;
}

bool jit_file_is_unlinked(const struct jit_file *file)
{
	struct stat status;

	return fstat(file->fd, &status) == 0 && status.st_nlink == 0;
}

/* Return: when a process was created, CLOCK_MONOTONIC; 0: unknown, or before the clock began. */
static uint64_t made_ns(uint32_t pid)
{
	uint64_t asleep = clock_boot_ns() - clock_monotonic_ns(), made;
	struct process_stat process;

	if (process_stat_read(&process, pid) < 0)
		return 0;
	made = process.start * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
	return made > asleep ? made - asleep : 0;
}

static int open_in_root(const struct subject *subject, const char *path)
{
	_cleanup_close_ int root =
		openat(subject->directory, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return root < 0 ? -1 : image_file_open_in_root(root, path, O_NOFOLLOW);
}

int jit_file_open_map(struct jit_file *file, uint32_t pid, uint64_t since_ns)
{
	_cleanup_close_ int directory = -1, named = -1;
	struct subject subject;
	char path[64];
	int rc = subject_open(&subject, pid);

	*file = (struct jit_file){.fd = -1};
	if (rc < 0)
		return rc;
	directory = subject.directory;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", subject.own_pid);
	named = open_in_root(&subject, path);
	if (named < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	rc = file_take(file, named, pid, subject.user);
	if (rc == 0 && jit_file_is_older(file, since_ns != 0 ? since_ns : made_ns(pid))) {
		jit_file_close(file);
		return -ENOENT;
	}
	return rc;
}

int jit_file_open_ended(struct jit_file *file, uint32_t pid)
{
	_cleanup_close_ int named = -1;
	char path[64];

	*file = (struct jit_file){.fd = -1};
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	named = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (named < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
	return file_take(file, named, (uint32_t)getpid(), geteuid());
}

/* The name is "/any/where/jit-123.dump", optionally followed by " (deleted)". */
bool jit_file_is_dump(const struct image_event *event)
{
	size_t bytes = event->path != NULL ? strlen(event->path) : 0;
	const char *name;

	/* The last character rules out nearly all files. */
	if (bytes == 0 || (event->path[bytes - 1] != 'p' && event->path[bytes - 1] != ')'))
		return false;
	name = strrchr(event->path, '/');
	if (name == NULL || strncmp(name, "/jit-", 5) != 0 || !isdigit((unsigned char)name[5]))
		return false;
	name += 5 + strspn(name + 5, "0123456789");
	return strcmp(name, ".dump") == 0 || strcmp(name, ".dump (deleted)") == 0;
}

int jit_file_open_dump(struct jit_file *file, const struct image_event *event)
{
	_cleanup_close_ int directory = -1, named = -1;
	struct image_event growing = *event;
	struct image_file_key key;
	struct subject subject;
	int rc = subject_open(&subject, event->pid);

	/* The file grows: its state at the time of the mapping does not matter. */
	growing.version = 0;
	growing.has_state = false;

	*file = (struct jit_file){.fd = -1};
	if (rc < 0)
		return rc;
	directory = subject.directory;
	named = image_file_open(&growing, &key);
	return named < 0 ? named : file_take(file, named, event->pid, subject.user);
}
