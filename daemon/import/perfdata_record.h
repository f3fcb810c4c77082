/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of perf.data files that perf itself writes, and flags of the kernel that the headers of
 * old kernels lack.
 */
#ifndef DCPI_PERFDATA_RECORD_H
#define DCPI_PERFDATA_RECORD_H

/*
 * enum perfdata_record - types of perf's own records
 * @PERFDATA_RECORD_KERNEL_END: types below are the kernel's
 * @PERFDATA_RECORD_TRACING_DATA, @PERFDATA_RECORD_AUXTRACE: are followed by data outside of the
 *                              record
 * @PERFDATA_RECORD_FINISHED_ROUND: all rings have been read once
 */
enum perfdata_record {
	PERFDATA_RECORD_KERNEL_END = 64,
	PERFDATA_RECORD_ATTR = 64,
	PERFDATA_RECORD_TRACING_DATA = 66,
	PERFDATA_RECORD_BUILD_ID = 67,
	PERFDATA_RECORD_FINISHED_ROUND = 68,
	PERFDATA_RECORD_AUXTRACE = 71,
	PERFDATA_RECORD_EVENT_UPDATE = 78,
	PERFDATA_RECORD_FEATURE = 80,
	PERFDATA_RECORD_COMPRESSED = 81,
	PERFDATA_RECORD_COMPRESSED2 = 83,
};

#define PERFDATA_READ_LOST (1U << 4)	      /* PERF_FORMAT_LOST of Linux 6.0 */
#define PERFDATA_BRANCH_HW_INDEX (1ULL << 17) /* PERF_SAMPLE_BRANCH_HW_INDEX of 5.7 */
#define PERFDATA_BRANCH_COUNTERS (1ULL << 19) /* PERF_SAMPLE_BRANCH_COUNTERS of 6.8 */

#endif
