// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/kernel_module.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define NOTES_BYTES_MAX 65536
#define PATH_BYTES 512

void kernel_module_notes(struct build_id *ret, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ uint8_t *notes = malloc(NOTES_BYTES_MAX);
	ssize_t bytes;

	ret->bytes = 0;
	if (fd < 0 || notes == NULL)
		return;
	bytes = read(fd, notes, NOTES_BYTES_MAX);
	if (bytes <= 0 || build_id_from_notes(ret, notes, (size_t)bytes, 4) < 0)
		ret->bytes = 0;
}

/* The state in the line is not used: the module may have been unloaded since. */
static bool is_live(const char *directory, const char *name)
{
	char path[PATH_BYTES], state[8] = "";
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/%s/initstate", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, state, sizeof(state) - 1) > 0 && strncmp(state, "live", 4) == 0;
}

/* sysfs assigns inode numbers sequentially, and each load creates a new directory. */
static uint64_t instance_of(const char *directory, const char *name)
{
	char path[PATH_BYTES];
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

bool kernel_module_same(const struct kernel_module *one, const struct kernel_module *other)
{
	return one->start == other->start && one->bytes == other->bytes &&
	       strcmp(one->name, other->name) == 0 && one->instance == other->instance &&
	       one->build_id.bytes == other->build_id.bytes &&
	       memcmp(one->build_id.data, other->build_id.data, one->build_id.bytes) == 0;
}

/* Parse "name bytes users dependencies state 0xaddress ...". */
bool kernel_module_parse(struct kernel_module *ret, const char *line, const char *directory)
{
	char path[PATH_BYTES];

	*ret = (struct kernel_module){0};
	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, ret->name, &ret->bytes,
		   &ret->start) != 3 ||
	    ret->start == 0 || ret->bytes == 0 || ret->bytes > UINT64_MAX - ret->start ||
	    strchr(ret->name, '/') != NULL || ret->name[0] == '.')
		return false;
	snprintf(path, sizeof(path), "%s/%s/notes/.note.gnu.build-id", directory, ret->name);
	kernel_module_notes(&ret->build_id, path);
	if (ret->build_id.bytes > 0)
		return true;
	ret->instance = instance_of(directory, ret->name);
	return is_live(directory, ret->name);
}
