/* SPDX-License-Identifier: GPL-2.0-only */
/* Interface between code_read.bpf.c and daemon/code/code_source_bpf.c. */
#ifndef DCPI_CODE_READ_H
#define DCPI_CODE_READ_H

#include <linux/types.h>

/* Maximum number of bytes of a request. */
#define CODE_READ_BYTES 65536

/** struct code_read_request - context of the program */
struct code_read_request {
	__u64 address;
	__u64 bytes;
};

#endif
