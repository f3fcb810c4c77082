// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/tar_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK_BYTES 512
#define CHUNK_BYTES 65536

struct tar_writer {
	gzFile out;
};

/* The header of an entry, as POSIX defines it (pax, "ustar Interchange Format"). */
struct tar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char linkname[100];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char unused[12];
};

_Static_assert(sizeof(struct tar_header) == BLOCK_BYTES, "a header is one block");

struct tar_writer *tar_writer_create(FILE *file)
{
	struct tar_writer *tar = calloc(1, sizeof(*tar));
	int fd = tar != NULL ? dup(fileno(file)) : -1;

	/* Images are large, and most of the time is for their compression. */
	if (fd >= 0)
		tar->out = gzdopen(fd, "wb1");
	if (fd >= 0 && tar->out == NULL)
		close(fd);
	if (tar != NULL && tar->out != NULL)
		return tar;
	free(tar);
	return NULL;
}

static int put(struct tar_writer *tar, const void *data, size_t bytes)
{
	return gzfwrite(data, 1, bytes, tar->out) == bytes ? 0 : -EIO;
}

static int put_padding(struct tar_writer *tar, uint64_t bytes)
{
	static const char zeros[BLOCK_BYTES];
	size_t rest = (size_t)(bytes % BLOCK_BYTES);

	return rest > 0 ? put(tar, zeros, BLOCK_BYTES - rest) : 0;
}

static int put_header(struct tar_writer *tar, const char *name, uint64_t bytes)
{
	struct tar_header header = {
		.mode = "0000600",
		.uid = "0000000",
		.gid = "0000000",
		.mtime = "00000000000",
		.checksum = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '},
		.type = '0',
		.magic = "ustar",
		.version = {'0', '0'},
	};
	const unsigned char *byte = (const unsigned char *)&header;
	size_t length = strlen(name);
	unsigned int sum = 0;

	if (length > sizeof(header.name))
		return -ENAMETOOLONG;
	if (bytes > TAR_WRITER_BYTES_MAX)
		return -EFBIG;
	memcpy(header.name, name, length);
	snprintf(header.size, sizeof(header.size), "%011llo", (unsigned long long)bytes);
	for (size_t i = 0; i < sizeof(header); i++)
		sum += byte[i];
	snprintf(header.checksum, sizeof(header.checksum), "%06o", sum);
	return put(tar, &header, sizeof(header));
}

int tar_writer_add(struct tar_writer *tar, const char *name, const void *data, uint64_t bytes)
{
	int r = put_header(tar, name, bytes);

	if (r == 0 && bytes > 0)
		r = put(tar, data, (size_t)bytes);
	return r == 0 ? put_padding(tar, bytes) : r;
}

int tar_writer_add_file(struct tar_writer *tar, const char *name, int fd, uint64_t bytes)
{
	char chunk[CHUNK_BYTES];
	uint64_t at = 0;
	int r = put_header(tar, name, bytes);

	while (r == 0 && at < bytes) {
		size_t want = bytes - at < sizeof(chunk) ? (size_t)(bytes - at) : sizeof(chunk);
		ssize_t n = pread(fd, chunk, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -ESTALE;
		r = put(tar, chunk, (size_t)n);
		at += (uint64_t)n;
	}
	return r == 0 ? put_padding(tar, bytes) : r;
}

int tar_writer_finish(struct tar_writer *tar)
{
	static const char end[2 * BLOCK_BYTES];
	int r = put(tar, end, sizeof(end));

	if (gzclose(tar->out) != Z_OK)
		r = -EIO;
	free(tar);
	return r;
}

void tar_writer_destroy(struct tar_writer *tar)
{
	if (tar == NULL)
		return;
	gzclose(tar->out);
	free(tar);
}
