/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the kernel makes at run time: BPF programs and their trampolines,
 * those of ftrace, pages of kprobes.
 *
 * Known from events as it is made, and from /proc/kallsyms, which is read when a sample is in
 * none of the known pieces, and sometimes for those that are. Addresses mean nothing after the
 * next boot, so samples are kept by name: a BPF program's has its tag, a hash of its
 * instructions. Images are "[bpf]", "[ftrace]" and "[kprobes]"; see
 * daemon/jit/jit_image.h for their offsets.
 */
#ifndef DCPI_KERNEL_CODE_H
#define DCPI_KERNEL_CODE_H

#include <stdint.h>

struct error;
struct image_event;
struct image_place;
struct image_table;
struct jit_images;
struct kernel_code;

/**
 * kernel_code_create() - nothing is known yet
 * @kallsyms: path of /proc/kallsyms; must outlive @ret, as the others
 */
int kernel_code_create(struct kernel_code **ret, struct image_table *table,
		       struct jit_images *images, const char *kallsyms, struct error *err);
void kernel_code_destroy(struct kernel_code *code);

/** kernel_code_event() - take note of an IMAGE_EVENT_KERNEL_CODE. */
void kernel_code_event(struct kernel_code *code, const struct image_event *event);

/**
 * kernel_code_place() - where a kernel PC in no image's text is
 * @now_ns: CLOCK_MONOTONIC; kallsyms is read for five per cent of the time at most while it has
 *          something new, else for a third of a per cent
 * @place:  replaced if the code is known
 */
void kernel_code_place(struct kernel_code *code, uint64_t pc, uint64_t now_ns,
		       struct image_place *place);

/** kernel_code_expire() - no sample from before @time_ns will follow. */
void kernel_code_expire(struct kernel_code *code, uint64_t time_ns);

#endif
