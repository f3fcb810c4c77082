/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens to address spaces, told to a BPF program that is attached to our tracepoint:
 * see uapi/dcpi_image_record.h.
 *
 * Only where BPF programs themselves could be called by kprobes only (Kbuild): arm64 before
 * Linux 6.4. Each call of perf_event_mmap() costs two exceptions there, and a process
 * that is made, execs and ends makes it nine times. Functions are patched, as for ftrace,
 * while DCPI_IMAGES_PATH is open, and not at all otherwise.
 */
#ifndef DCPI_IMAGE_WATCH_H
#define DCPI_IMAGE_WATCH_H

#ifdef DCPI_IMAGE_WATCH
/** image_watch_init() - the device. Return: 0 or an error. */
int image_watch_init(void);

/** image_watch_exit() - nobody has it open. */
void image_watch_exit(void);
#else
static inline int image_watch_init(void)
{
	return 0;
}

static inline void image_watch_exit(void)
{
}
#endif

#endif
