// SPDX-License-Identifier: GPL-2.0-only
/* Reads kernel memory with the program of daemon/code/bpf/code_read.bpf.c. */
#include "daemon/code/code_source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/code/bpf/code_read.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "loader-hook/bpf/bpf_machine.h"

/* Warnings in bpftool's generated code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "daemon/code/bpf/code_read.skel.h"
#pragma GCC diagnostic pop

struct bpf_source {
	struct code_source source;
	struct code_read *skeleton;
};

static void bpf_close(struct code_source *source)
{
	struct bpf_source *bpf = (struct bpf_source *)source;

	code_read__destroy(bpf->skeleton);
	free(bpf);
}

static int bpf_open(struct code_source **ret, struct error *err)
{
	struct bpf_source *bpf = calloc(1, sizeof(*bpf));

	if (bpf == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	bpf->source.ops = &code_source_bpf_ops;
	libbpf_set_print(NULL);
	bpf->skeleton = code_read__open_and_load();
	if (bpf->skeleton == NULL) {
		int errnum = errno;

		free(bpf);
		return bpf_machine_load_error(errnum, err);
	}
	malloc_trim(0);
	*ret = &bpf->source;
	return 0;
}

static int read_piece(struct bpf_source *bpf, uint64_t address, void *buffer, size_t bytes)
{
	struct code_read_request request = {.address = address, .bytes = bytes};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	int r = bpf_prog_test_run_opts(bpf_program__fd(bpf->skeleton->progs.dcpi_read_code),
				       &options);

	if (r < 0)
		return r;
	if (options.retval != 0)
		return -EFAULT;
	memcpy(buffer, bpf->skeleton->bss->memory, bytes);
	return 0;
}

static int bpf_read(struct code_source *source, uint64_t address, void *buffer, size_t bytes)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < bytes; at += CODE_READ_BYTES) {
		size_t piece = bytes - at < CODE_READ_BYTES ? bytes - at : CODE_READ_BYTES;

		r = read_piece((struct bpf_source *)source, address + at, (uint8_t *)buffer + at,
			       piece);
	}
	return r;
}

const struct code_source_ops code_source_bpf_ops = {
	.name = "BPF",
	.open = bpf_open,
	.read = bpf_read,
	.close = bpf_close,
};
