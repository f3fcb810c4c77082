// SPDX-License-Identifier: GPL-2.0-only
/* Reads kernel memory from /proc/kcore, an ELF file; its segments are ranges of memory. */
#include "daemon/code/code_source.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define KCORE_PATH "/proc/kcore"

struct kcore_source {
	struct code_source source;
	int fd;
	Elf64_Phdr *segments;
	size_t count;
};

static void kcore_close(struct code_source *source)
{
	struct kcore_source *kcore = (struct kcore_source *)source;

	if (kcore->fd >= 0)
		close(kcore->fd);
	free(kcore->segments);
	free(kcore);
}

static int read_segments(struct kcore_source *kcore, struct error *err)
{
	Elf64_Ehdr header;
	ssize_t bytes;

	if (pread(kcore->fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0)
		return error_set(err, EIO, "cannot read '" KCORE_PATH "'");
	bytes = (ssize_t)(header.e_phnum * sizeof(Elf64_Phdr));
	kcore->segments = malloc((size_t)bytes);
	if (kcore->segments == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (pread(kcore->fd, kcore->segments, (size_t)bytes, (off_t)header.e_phoff) != bytes)
		return error_set(err, EIO, "cannot read '" KCORE_PATH "'");
	kcore->count = header.e_phnum;
	return 0;
}

static int kcore_open(struct code_source **ret, struct error *err)
{
	struct kcore_source *kcore = calloc(1, sizeof(*kcore));
	int r;

	if (kcore == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	kcore->source.ops = &code_source_kcore_ops;
	kcore->fd = open(KCORE_PATH, O_RDONLY | O_CLOEXEC);
	r = kcore->fd < 0 ? error_set_errno(err, "cannot open '" KCORE_PATH "'")
			  : read_segments(kcore, err);
	if (r < 0) {
		kcore_close(&kcore->source);
		return r;
	}
	*ret = &kcore->source;
	return 0;
}

static int kcore_read(struct code_source *source, uint64_t address, void *buffer, size_t bytes)
{
	const struct kcore_source *kcore = (const struct kcore_source *)source;

	for (size_t i = 0; i < kcore->count; i++) {
		const Elf64_Phdr *segment = &kcore->segments[i];
		uint64_t inside = address - segment->p_vaddr;
		ssize_t got;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    inside >= segment->p_memsz || bytes > segment->p_memsz - inside)
			continue;
		got = pread(kcore->fd, buffer, bytes, (off_t)(segment->p_offset + inside));
		if (got < 0)
			return -errno;
		return got == (ssize_t)bytes ? 0 : -EFAULT;
	}
	return -EFAULT;
}

const struct code_source_ops code_source_kcore_ops = {
	.name = "/proc/kcore",
	.open = kcore_open,
	.read = kcore_read,
	.close = kcore_close,
};
