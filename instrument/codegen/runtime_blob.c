// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/runtime_blob.h"

/* File names. module.mk defines them for the compiler; these defaults are for static analysers. */
#ifndef RUNTIME_BLOB
#define RUNTIME_BLOB "/dev/null"
#define RUNTIME_FRAMES "/dev/null"
#endif

__asm__(".section .rodata\n"
	"	.balign 16\n"
	"runtime_blob_first:\n"
	"	.incbin \"" RUNTIME_BLOB "\"\n"
	"runtime_blob_end:\n"
	"runtime_frames_first:\n"
	"	.incbin \"" RUNTIME_FRAMES "\"\n"
	"runtime_frames_end:\n"
	"	.previous\n");

extern const uint8_t runtime_blob_first[], runtime_blob_end[];
extern const uint8_t runtime_frames_first[], runtime_frames_end[];

const uint8_t *runtime_blob(void)
{
	return runtime_blob_first;
}

size_t runtime_blob_bytes(void)
{
	return (size_t)(runtime_blob_end - runtime_blob_first);
}

const uint8_t *runtime_blob_frames(void)
{
	return runtime_frames_first;
}

size_t runtime_blob_frames_bytes(void)
{
	return (size_t)(runtime_frames_end - runtime_frames_first);
}
