/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classifies the images and procedures with samples that profiling itself causes, or that are idle
 * time. All reports use this classification.
 */
#ifndef DCPI_PROFILER_CLASS_H
#define DCPI_PROFILER_CLASS_H

#include <stdbool.h>

#include "db/profile_read.h"

struct error;

/** enum profiler_class - share of a row's samples that profiling causes */
enum profiler_class {
	PROFILER_NONE,
	PROFILER_PART,	/* an unknown part: the procedure also does other work */
	PROFILER_WHOLE, /* every sample */
	PROFILER_IDLE,	/* none; the kernel waits in this procedure while a CPU has no work */
	PROFILER_CLASSES,
};

/**
 * struct included_samples - samples that shares include, although no program causes them
 * @profiler: profiling causes them
 * @idle:     a CPU has no work
 */
struct included_samples {
	bool profiler;
	bool idle;
};

/** profiler_class_excluded() - return true if shares do not include samples of a class */
static inline bool profiler_class_excluded(enum profiler_class class,
					   const struct included_samples *include)
{
	return (class == PROFILER_WHOLE && !include->profiler) ||
	       (class == PROFILER_IDLE && !include->idle);
}

/**
 * enum profiler_probes - the epochs in which the daemon placed probes on branches
 *
 * _APART: in these epochs, kernel samples at a probe are in a separate image
 * (PROFILE_PROBES_SUFFIX)
 */
enum profiler_probes {
	PROFILER_PROBES_NONE,
	PROFILER_PROBES_SOME,
	PROFILER_PROBES_ALL,
	PROFILER_PROBES_SOME_APART,
	PROFILER_PROBES_ALL_APART,
};

/** profiler_probes_load() - determine this from the counters of the epochs that a filter selects */
int profiler_probes_load(enum profiler_probes *ret, struct profile_reader *reader,
			 const struct profile_filter *filter, struct error *err);

/**
 * profiler_class_of() - classify a row
 * @procedure: its name; NULL: the row is the image
 *
 * dcpi.ko, dcpid, dcpirun, the BPF programs of dcpid and the kernel's samples at probes belong to
 * the profiler. The kernel's procedures that sample, report mappings or call BPF programs belong to
 * it in part: other programs use them, too. The kernel's procedures that handle uprobes belong to
 * it in epochs with probes; in other epochs they do not, because other programs place uprobes, too.
 * A procedure that returns from traps and interrupts of all kinds belongs to the profiler in part,
 * unless samples at probes are in a separate image.
 */
enum profiler_class profiler_class_of(const struct profile_image *image, const char *procedure,
				      enum profiler_probes probes);

/**
 * profiler_class_needs_procedures() - return true if shares may exclude some procedures of an image
 * and not others
 */
bool profiler_class_needs_procedures(const struct profile_image *image, enum profiler_probes probes,
				     const struct included_samples *include);

/**
 * profiler_class_mark() - return the text after the name of a row: " [profiler]"; "" for
 * PROFILER_NONE
 */
const char *profiler_class_mark(enum profiler_class class);

#endif
