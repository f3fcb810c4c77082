/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint through which BPF programs receive records: see uapi/dcpi_image_record.h. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dcpi

#if !defined(DCPI_IMAGE_WATCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DCPI_IMAGE_WATCH_TRACE_H

#include <linux/tracepoint.h>

DECLARE_TRACE(dcpi_image_2, TP_PROTO(const void *record, size_t bytes), TP_ARGS(record, bytes));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE image_watch_trace
#include <trace/define_trace.h>
