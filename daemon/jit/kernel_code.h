/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the kernel generates at run time: BPF programs and their trampolines, ftrace
 * trampolines, pages of kprobes.
 *
 * It is known from events, and from /proc/kallsyms. The latter is read if a sample is outside the
 * known pieces, and rarely also for known pieces. Addresses have no meaning after the next boot, so
 * samples are stored by name: that of a BPF program contains its tag, a hash of its instructions.
 * Images are "[bpf]", "[ftrace]" and "[kprobes]"; see daemon/jit/jit_image.h for their offsets.
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
 * kernel_code_create() - create an empty object
 * @kallsyms: path of /proc/kallsyms; must outlive @ret, like the other parameters
 */
int kernel_code_create(struct kernel_code **ret, struct image_table *table,
		       struct jit_images *images, const char *kallsyms, struct error *err);
void kernel_code_destroy(struct kernel_code *code);

/** kernel_code_event() - process an IMAGE_EVENT_KERNEL_CODE. */
void kernel_code_event(struct kernel_code *code, const struct image_event *event);

/**
 * kernel_code_place() - find the image and offset of a kernel PC outside all text
 * @now_ns: CLOCK_MONOTONIC; reading kallsyms takes at most 5% of the time while it finds new code,
 *          otherwise at most a third of a percent
 * @place:  replaced if the code is known
 */
void kernel_code_place(struct kernel_code *code, uint64_t pc, uint64_t now_ns,
		       struct image_place *place);

/** kernel_code_expire() - no sample from before @time_ns will follow. */
void kernel_code_expire(struct kernel_code *code, uint64_t time_ns);

#endif
