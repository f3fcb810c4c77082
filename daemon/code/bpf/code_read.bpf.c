// SPDX-License-Identifier: GPL-2.0-only
/* A program that the daemon runs by system call: copies kernel memory to a buffer of the daemon. */
#include <linux/bpf.h>

#include "daemon/code/bpf/code_read.h"

#include <bpf/bpf_helpers.h>

const char program_license[] SEC("license") = "GPL";

char memory[CODE_READ_BYTES] = {};

/* Return: 0; 1: too many bytes; 2: memory cannot be read. */
SEC("syscall")
int dcpi_read_code(struct code_read_request *request)
{
	__u64 bytes = request->bytes;

	if (bytes > sizeof(memory))
		return 1;
	return bpf_probe_read_kernel(memory, (__u32)bytes, (const void *)request->address) < 0 ? 2
											       : 0;
}
