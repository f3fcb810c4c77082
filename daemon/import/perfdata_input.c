// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/perfdata_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Append all data of a file, which may be a pipe, to another. */
static int perfdata_input_copy(int to, int from, struct error *err)
{
	char buffer[1 << 16];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) != 0) {
		ssize_t written = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "cannot read it");
		while (written < n) {
			ssize_t some = write(to, buffer + written, (size_t)(n - written));

			if (some < 0 && errno != EINTR)
				return error_set_errno(err, "cannot write a temporary file");
			written += some > 0 ? some : 0;
		}
	}
	return 0;
}

static int temporary_create(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder != NULL ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : error_set_errno(err, "cannot create a temporary file");
}

/* Copy data that can be read only once to a temporary file. */
static int spool(int from, struct error *err)
{
	_cleanup_close_ int fd = temporary_create(err);
	int r = fd < 0 ? fd : perfdata_input_copy(fd, from, err);

	return r < 0 ? r : take_fd(fd);
}

/* Append a file of a directory. Return: 1; 0: it does not exist. */
static int part_add(struct perfdata_input *input, int folder, const char *name, struct error *err)
{
	_cleanup_close_ int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	uint64_t *ends;
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, "cannot open its file '%s'", name);
	if (!S_ISREG(status.st_mode) || input->count == PERFDATA_PARTS_MAX)
		return error_set(err, EMEDIUMTYPE, "not a folder of a recording");
	ends = realloc(input->ends, (input->count + 1) * sizeof(*ends));
	if (ends == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	input->ends = ends;
	r = perfdata_input_copy(input->fd, fd, err);
	if (r == 0 && fstat(input->fd, &status) < 0)
		r = error_set_errno(err, "cannot open it");
	if (r < 0)
		return r;
	ends[input->count++] = (uint64_t)status.st_size;
	return 1;
}

static int folder_open(struct perfdata_input *ret, int folder, struct error *err)
{
	struct perfdata_input input = {.fd = temporary_create(err)};
	struct stat status;
	char name[32];
	int r;

	if (input.fd < 0)
		return input.fd;
	r = part_add(&input, folder, "data", err);
	if (r == 0)
		r = error_set(err, EMEDIUMTYPE,
			      "not a folder of a recording: it has no file 'data'");
	for (unsigned int i = 0; r > 0; i++) {
		snprintf(name, sizeof(name), "data.%u", i);
		r = part_add(&input, folder, name, err);
	}
	/* The time at which it was written is the end of the recording. */
	if (r == 0 && (fstatat(folder, "data", &status, 0) < 0 ||
		       futimens(input.fd, (struct timespec[]){status.st_atim, status.st_mtim}) < 0))
		r = error_set_errno(err, "cannot copy its time");
	if (r < 0)
		perfdata_input_close(&input);
	else
		*ret = input;
	return r;
}

void perfdata_input_close(struct perfdata_input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	free(input->ends);
	*input = (struct perfdata_input){.fd = -1};
}

int perfdata_input_open(struct perfdata_input *ret, const char *path, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	/* Opening a pipe without a writer must not block. */
	_cleanup_close_ int fd =
		standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_set_errno(err, "cannot open it");
	if (S_ISDIR(status.st_mode))
		return folder_open(ret, fd, err);
	*ret = (struct perfdata_input){.fd = -1};
	if (S_ISREG(status.st_mode)) {
		ret->fd = take_fd(fd);
		return 0;
	}
	if (!standard && !S_ISFIFO(status.st_mode))
		return error_set(err, EMEDIUMTYPE, "not a perf.data file");
	if (!standard)
		fcntl(fd, F_SETFL, 0);
	ret->fd = spool(fd, err);
	return ret->fd < 0 ? ret->fd : 0;
}
