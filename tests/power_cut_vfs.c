// SPDX-License-Identifier: GPL-2.0-only
#include "tests/power_cut_vfs.h"

#include "tests/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 8
#define SECTOR 512

/* A write; without data, a truncation to @offset bytes. */
struct change {
	int64_t offset;
	int64_t bytes;
	uint8_t *data;
	struct change *next;
};

/* Synced contents of a file, and the changes since the last sync. */
struct disk {
	char *path;
	bool synced; /* a file that was never synced may be missing after a power failure */
	uint8_t *data;
	int64_t bytes;
	struct change *first;
	struct change **last;
};

/* SQLite allocates szOsFile bytes: this structure, then that of the file system below. */
struct file {
	sqlite3_file base;
	struct disk *disk; /* NULL: not tracked (shared memory has no file here) */
	sqlite3_file below[];
};

static sqlite3_vfs vfs;
static sqlite3_vfs *below;
static struct disk disks[FILES_MAX];
static power_cut_fn before_change;
static void *before_context;
static bool sync_lies;

static sqlite3_file *down(sqlite3_file *file)
{
	return ((struct file *)file)->below;
}

static void resize(uint8_t **data, int64_t *bytes, int64_t wanted)
{
	*data = realloc(*data, (size_t)wanted + 1);
	assert_non_null(*data);
	if (wanted > *bytes)
		memset(*data + *bytes, 0, (size_t)(wanted - *bytes));
	*bytes = wanted;
}

static void apply(uint8_t **data, int64_t *bytes, const struct change *change, int64_t from,
		  int64_t to)
{
	if (change->data == NULL) {
		resize(data, bytes, change->offset);
		return;
	}
	if (change->offset + to > *bytes)
		resize(data, bytes, change->offset + to);
	memcpy(*data + change->offset + from, change->data + from, (size_t)(to - from));
}

static void forget_changes(struct disk *disk)
{
	while (disk->first != NULL) {
		struct change *change = disk->first;

		disk->first = change->next;
		free(change->data);
		free(change);
	}
	disk->last = &disk->first;
}

static void change_add(struct disk *disk, int64_t offset, const void *data, int64_t bytes)
{
	struct change *change = calloc(1, sizeof(*change));

	assert_non_null(change);
	change->offset = offset;
	if (data != NULL) {
		change->bytes = bytes;
		change->data = malloc((size_t)bytes);
		assert_non_null(change->data);
		memcpy(change->data, data, (size_t)bytes);
	}
	*disk->last = change;
	disk->last = &change->next;
}

static struct disk *disk_of(const char *path, bool make)
{
	struct disk *unused = NULL;
	int i;

	for (i = 0; i < FILES_MAX; i++) {
		if (disks[i].path != NULL && strcmp(disks[i].path, path) == 0)
			return &disks[i];
		if (disks[i].path == NULL && unused == NULL)
			unused = &disks[i];
	}
	if (!make)
		return NULL;
	assert_non_null(unused);
	*unused = (struct disk){.path = strdup(path), .last = &unused->first};
	return unused;
}

static void disk_forget(struct disk *disk)
{
	forget_changes(disk);
	free(disk->path);
	free(disk->data);
	*disk = (struct disk){.path = NULL};
}

static void tell(void)
{
	if (before_change != NULL)
		before_change(before_context);
}

static int file_close(sqlite3_file *file)
{
	return down(file)->pMethods->xClose(down(file));
}

static int file_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
	return down(file)->pMethods->xRead(down(file), data, bytes, offset);
}

static int file_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
	tell();
	change_add(((struct file *)file)->disk, offset, data, bytes);
	return down(file)->pMethods->xWrite(down(file), data, bytes, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
	tell();
	change_add(((struct file *)file)->disk, bytes, NULL, 0);
	return down(file)->pMethods->xTruncate(down(file), bytes);
}

/* Only update the simulated disk; the machine's disk is not synced. */
static int file_sync(sqlite3_file *file, int flags)
{
	struct disk *disk = ((struct file *)file)->disk;
	struct change *change;

	(void)flags;
	tell();
	if (sync_lies)
		return SQLITE_OK;
	for (change = disk->first; change != NULL; change = change->next)
		apply(&disk->data, &disk->bytes, change, 0, change->bytes);
	forget_changes(disk);
	disk->synced = true;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
	return down(file)->pMethods->xFileSize(down(file), bytes);
}

static int file_lock(sqlite3_file *file, int lock)
{
	return down(file)->pMethods->xLock(down(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock)
{
	return down(file)->pMethods->xUnlock(down(file), lock);
}

static int file_check(sqlite3_file *file, int *result)
{
	return down(file)->pMethods->xCheckReservedLock(down(file), result);
}

static int file_control(sqlite3_file *file, int op, void *argument)
{
	return down(file)->pMethods->xFileControl(down(file), op, argument);
}

static int file_sector(sqlite3_file *file)
{
	(void)file;
	return SECTOR;
}

static int file_traits(sqlite3_file *file)
{
	return down(file)->pMethods->xDeviceCharacteristics(down(file));
}

static int shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **ret)
{
	return down(file)->pMethods->xShmMap(down(file), page, bytes, extend, ret);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	return down(file)->pMethods->xShmLock(down(file), offset, count, flags);
}

static void shm_barrier(sqlite3_file *file)
{
	down(file)->pMethods->xShmBarrier(down(file));
}

static int shm_unmap(sqlite3_file *file, int remove)
{
	return down(file)->pMethods->xShmUnmap(down(file), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
};

static int vfs_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out)
{
	struct file *ours = (struct file *)file;
	int rc = below->xOpen(below, name, ours->below, flags, out);

	(void)self;
	ours->base.pMethods = NULL;
	if (rc != SQLITE_OK)
		return rc;
	assert_non_null(name); /* there are no temporary files */
	ours->disk = disk_of(name, true);
	ours->base.pMethods = &methods;
	return SQLITE_OK;
}

/*
 * Deletion takes effect at once: only rollback journals suffer from a deleted file that reappears.
 */
static int vfs_delete(sqlite3_vfs *self, const char *name, int sync)
{
	struct disk *disk = disk_of(name, false);

	(void)self;
	tell();
	if (disk != NULL)
		disk_forget(disk);
	return below->xDelete(below, name, sync);
}

void power_cut_register(power_cut_fn before, void *context, bool lying)
{
	below = sqlite3_vfs_find("unix");
	assert_non_null(below);
	before_change = before;
	before_context = context;
	sync_lies = lying;
	vfs = *below;
	vfs.zName = "power-cut";
	vfs.szOsFile = (int)sizeof(struct file) + below->szOsFile;
	vfs.xOpen = vfs_open;
	vfs.xDelete = vfs_delete;
	assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

void power_cut_unregister(void)
{
	int i;

	assert_int_equal(sqlite3_vfs_unregister(&vfs), SQLITE_OK);
	assert_int_equal(sqlite3_vfs_register(below, 1), SQLITE_OK);
	for (i = 0; i < FILES_MAX; i++) {
		if (disks[i].path != NULL)
			disk_forget(&disks[i]);
	}
}

/* A drive writes pending data in any order, or not at all, but whole sectors. */
static void changes_chance(const struct disk *disk, uint8_t **data, int64_t *bytes, uint64_t *seed)
{
	uint64_t chance = unit_random(seed) % 5; /* in quarters: none, some, all */
	const struct change *change;
	int64_t from, to;

	for (change = disk->first; change != NULL; change = change->next) {
		if (change->data == NULL) {
			if (unit_random(seed) % 4 < chance)
				apply(data, bytes, change, 0, 0);
			continue;
		}
		for (from = 0; from < change->bytes; from = to) {
			to = from + SECTOR - (change->offset + from) % SECTOR;
			if (to > change->bytes)
				to = change->bytes;
			if (unit_random(seed) % 4 < chance)
				apply(data, bytes, change, from, to);
		}
	}
}

void power_cut_save(const char *directory, uint64_t *seed)
{
	int i;

	for (i = 0; i < FILES_MAX; i++) {
		const struct disk *disk = &disks[i];
		uint8_t *data = NULL;
		int64_t bytes = 0;
		char path[512];
		int fd;

		if (disk->path == NULL || (!disk->synced && unit_random(seed) % 2 == 0))
			continue;
		resize(&data, &bytes, disk->bytes);
		if (disk->bytes > 0)
			memcpy(data, disk->data, (size_t)disk->bytes);
		changes_chance(disk, &data, &bytes, seed);
		snprintf(path, sizeof(path), "%s/%s", directory, strrchr(disk->path, '/') + 1);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, data, (size_t)bytes), bytes);
		close(fd);
		free(data);
	}
}
