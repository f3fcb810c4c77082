/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report changes of address spaces to a BPF program that is attached to the module's tracepoint:
 * see uapi/dcpi_image_record.h.
 *
 * Used only where BPF programs could be attached only through kprobes (see Kbuild): arm64 before
 * Linux 6.4. There, each call of perf_event_mmap() would cost two exceptions, and a process that is
 * created, execs and exits makes nine such calls. The watched functions are patched, as for ftrace,
 * while DCPI_IMAGES_PATH is open, and not at all otherwise.
 */
#ifndef DCPI_IMAGE_WATCH_H
#define DCPI_IMAGE_WATCH_H

#ifdef DCPI_IMAGE_WATCH
/** image_watch_init() - register the device. Return: 0 or a negative errno. */
int image_watch_init(void);

/** image_watch_exit() - unregister the device; it must not be open */
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
