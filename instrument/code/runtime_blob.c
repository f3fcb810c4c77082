// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/code/runtime_blob.h"

/* The file's name; module.mk says it to who builds this, not to who only reads it. */
#ifndef RUNTIME_BLOB
#define RUNTIME_BLOB "/dev/null"
#endif

__asm__(".section .rodata\n"
	"	.balign 16\n"
	"runtime_blob_first:\n"
	"	.incbin \"" RUNTIME_BLOB "\"\n"
	"runtime_blob_end:\n"
	"	.previous\n");

extern const uint8_t runtime_blob_first[], runtime_blob_end[];

const uint8_t *runtime_blob(void)
{
	return runtime_blob_first;
}

size_t runtime_blob_bytes(void)
{
	return (size_t)(runtime_blob_end - runtime_blob_first);
}
