/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of a profile database, as plain structures.
 *
 * Time is in nanoseconds since the Unix epoch, offsets are bytes from the start of an image's file
 * (kernel: from _text; vDSO: from its ELF header), never addresses of a running system. Strings are
 * UTF-8 and NUL-terminated. Unless a function documents otherwise, pointers in these structures
 * belong to the code that filled them in.
 */
#ifndef DCPI_PROFILE_H
#define DCPI_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum profile_image_kind - values are stored: append only. */
enum profile_image_kind {
	PROFILE_IMAGE_FILE = 0,	  /* executable or shared library */
	PROFILE_IMAGE_KERNEL = 1, /* the kernel itself; offsets from _text */
	PROFILE_IMAGE_MODULE = 2, /* kernel module; offsets from its load address */
	PROFILE_IMAGE_VDSO = 3,
	PROFILE_IMAGE_JIT = 4,	   /* code generated at run time, in no file */
	PROFILE_IMAGE_UNKNOWN = 5, /* samples that matched no image; offsets are 0 */
};

#define PROFILE_IDENTITY_BYTES_MAX 32

/* Length of the digest that PROFILE_IDENTITY_CONTENT and PROFILE_IDENTITY_FILE begin with. */
#define PROFILE_IDENTITY_DIGEST_BYTES 12

/**
 * enum profile_identity_kind - kinds of identities of images; values are stored
 *
 * Each user can write the build-id of another file into a file. Hence PROFILE_IDENTITY_BUILD_ID and
 * PROFILE_IDENTITY_DIGEST are identities of files that only the superuser (or the daemon's user)
 * can write, and that have their path on the host. All other files have an identity that contains
 * their owner.
 */
enum profile_identity_kind {
	/* Only the path is known. */
	PROFILE_IDENTITY_NONE = 0,
	/* ELF note NT_GNU_BUILD_ID */
	PROFILE_IDENTITY_BUILD_ID = 1,
	/* A file without build-id: lib/file_digest.h */
	PROFILE_IDENTITY_DIGEST = 2,
	/* A digest of the owner and all contents (lib/content_digest.h), then the build-id */
	PROFILE_IDENTITY_CONTENT = 3,
	/*
	 * The contents have not been compared: a digest of owner, device, inode, size and times,
	 * then the build-id. The path has PROFILE_UNVERIFIED_SUFFIX.
	 */
	PROFILE_IDENTITY_FILE = 4,
};

/*
 * Ends the path of the kernel's second image, which has the samples that breakpoints of the
 * profiler cause. Its digest is the build-id of the kernel's image, which has the symbols.
 */
#define PROFILE_PROBES_SUFFIX "[probes]"
/* Suffix of the path of an image until its contents have been compared. */
#define PROFILE_UNVERIFIED_SUFFIX " [unverified]"

/**
 * struct profile_image - an image
 * @kind:           kind of the image
 * @identity_kind:  kind of @identity
 * @identity_bytes: length of @identity, 0 .. PROFILE_IDENTITY_BYTES_MAX
 * @identity:       together with @kind identifies the image on any host; with
 *                  PROFILE_IDENTITY_NONE, @path identifies it on one host
 * @path:           a label: where the image was last seen
 */
struct profile_image {
	enum profile_image_kind kind;
	enum profile_identity_kind identity_kind;
	size_t identity_bytes;
	uint8_t identity[PROFILE_IDENTITY_BYTES_MAX];
	const char *path;
};

/**
 * profile_image_build_id() - get the build-id in an image's identity
 * @bytes: out: its length
 *
 * Return: the build-id; NULL: the image has none.
 */
static inline const uint8_t *profile_image_build_id(const struct profile_image *image,
						    size_t *bytes)
{
	size_t digest = image->identity_kind == PROFILE_IDENTITY_BUILD_ID
				? 0
				: PROFILE_IDENTITY_DIGEST_BYTES;

	*bytes = 0;
	if (image->identity_kind == PROFILE_IDENTITY_NONE ||
	    image->identity_kind == PROFILE_IDENTITY_DIGEST || image->identity_bytes <= digest)
		return NULL;
	*bytes = image->identity_bytes - digest;
	return image->identity + digest;
}

/** struct profile_symbol - a procedure of an image, stored at collection time */
struct profile_symbol {
	uint64_t offset; /* first byte */
	uint64_t bytes;	 /* 0: up to the next symbol */
	const char *name;
};

/*
 * Relative operands in code of the kernel that lead out of their image, lead to this offset
 * instead, because distances between images reveal addresses.
 */
#define PROFILE_CODE_OUTSIDE_X86 0x60000000ULL
#define PROFILE_CODE_OUTSIDE_ARM64 0x6000000ULL

/**
 * struct profile_code - a procedure that is in no file, or the complete vDSO
 * @offset: offset of its first byte in the image
 * @bytes:  its length, 1 .. CODE_BYTES_MAX (db/code_blob.h)
 * @machine: architecture, as in ELF files (EM_*)
 */
struct profile_code {
	uint64_t offset;
	size_t bytes;
	uint16_t machine;
	const uint8_t *data;
};

/** struct profile_sample - number of samples at an offset */
struct profile_sample {
	uint64_t offset;
	uint64_t count;
};

/** struct profile_range - offsets start .. end - 1 */
struct profile_range {
	uint64_t start;
	uint64_t end;
};

/** struct profile_ranges - @list: sorted by @start; ranges do not overlap */
struct profile_ranges {
	struct profile_range *list;
	size_t count;
};

#define PROFILE_PID_ALL (-1)

/*
 * Profiles by unit are stored like those by process, with numbers below PROFILE_PID_ALL: -1 -
 * label, for labels 1 .. PROFILE_LABEL_MAX.
 */
#define PROFILE_LABEL_MAX INT32_MAX
/*
 * The profile of samples of the profiler's own processes in an image that is not the profiler's: a
 * library or the kernel. Readers that do not know this number add them to the other samples.
 */
#define PROFILE_PID_PROFILER (-1 - (int64_t)UINT32_MAX)
#define PROFILE_PID_OF_LABEL(label) (-1 - (int64_t)(label))

/** profile_label_of_pid() - return the label of a profile by unit; 0 for any other profile */
static inline uint32_t profile_label_of_pid(int64_t pid)
{
	return pid < PROFILE_PID_ALL && pid >= PROFILE_PID_OF_LABEL(PROFILE_LABEL_MAX)
		       ? (uint32_t)(-1 - pid)
		       : 0;
}

/**
 * struct profile_label - the unit and container of processes, by their control group
 * @number:    number in the epoch, 1 .. PROFILE_LABEL_MAX
 * @unit:      systemd unit, "nginx.service"; "" if none
 * @container: container id, "" if none
 */
struct profile_label {
	uint32_t number;
	const char *unit;
	const char *container;
};

/**
 * struct profile_process - a process with separate profiles
 * @command: name of the process
 * @label:   label of the process; 0: unknown
 */
struct profile_process {
	int64_t pid;
	const char *command;
	uint32_t label;
};

/** enum profile_edge_kind - how an edge was found; values are stored. */
enum profile_edge_kind {
	PROFILE_EDGE_BRANCH = 0, /* a branch was interpreted: from the branch to its target */
	PROFILE_EDGE_DOUBLE = 1, /* two interrupts in immediate succession */
	PROFILE_EDGE_PROBE = 2,	 /* a branch was probed: all its executions for a while */
	/*
	 * Not edges: executions of a branch in windows in which another branch was probed, too.
	 * From a branch to itself: windows in which it was probed and executed.
	 */
	PROFILE_EDGE_SAME_WINDOW = 3,
	/*
	 * Not edges: differences between a branch's windows. Sums over the windows of the squared
	 * executions in each of the two directions, in parts as defined below. From the branch to
	 * itself: the sum of the products of both directions.
	 */
	PROFILE_EDGE_SECOND_MOMENT = 4,
	/*
	 * Not edges: PROFILE_EDGE_PROBE for branches with two directions, in parts of an execution.
	 * From the branch to itself: all its executions in windows in which it was probed.
	 */
	PROFILE_EDGE_WEIGHTED = 5,
	/*
	 * Not edges: the time from one execution of a branch to the next, always from the branch to
	 * itself. INTERVALS is the number of measurements, INTERVAL_NS their sum in nanoseconds.
	 */
	PROFILE_EDGE_INTERVALS = 6,
	PROFILE_EDGE_INTERVAL_NS = 7,
	/*
	 * Not edges: executions of a branch in complete intervals from one execution of a reference
	 * branch to the next. From the reference branch to the branch: number of these intervals.
	 */
	PROFILE_EDGE_REFERENCE_INTERVAL = 8,
	/*
	 * Not edges: samples of a loop by how often its branch will be executed until the loop
	 * ends. @to is the branch's address + a class: PROFILE_REMAINING_PER_OCTAVE times the
	 * binary logarithm of the executions, rounded down. PROFILE_REMAINING_UNKNOWN: samples
	 * before the branch for which no such number is known. PROFILE_REMAINING_ONE: the next
	 * execution is the last one.
	 */
	PROFILE_EDGE_REMAINING = 9,
	/* The processor recorded a taken branch (LBR, BRBE): from the branch to its target. */
	PROFILE_EDGE_RECORD = 10,
	/*
	 * Not edges: code that ran from the target of one recorded branch to the next recorded
	 * branch. RANGE is the number of records. The others exist if the processor recorded
	 * cycles: RANGE_WEIGHT is the estimated number of executions in the epoch, in parts as
	 * defined below, and RANGE_CYCLES the cycles of these executions.
	 * RANGE_SAMPLED is the number of samples of time: from the target of the last recorded
	 * branch to the sample's address.
	 */
	PROFILE_EDGE_RANGE = 11,
	PROFILE_EDGE_RANGE_WEIGHT = 12,
	PROFILE_EDGE_RANGE_CYCLES = 13,
	PROFILE_EDGE_RANGE_SAMPLED = 14,
};

#define PROFILE_EDGE_KINDS 15
#define PROFILE_REMAINING_PER_OCTAVE 4
#define PROFILE_REMAINING_CLASSES 160
#define PROFILE_REMAINING_UNKNOWN 0
#define PROFILE_REMAINING_ONE 1
/*
 * Parts of an execution. A window has a maximum weight in executions, so each of its executions may
 * count as a fraction.
 */
#define PROFILE_EDGE_PART 100

/* Offsets of edges are file offsets, which fit off_t. */
#define PROFILE_EDGE_OFFSET_MAX ((uint64_t)INT64_MAX)

/*
 * Words of a frame, of 4 bytes, in recordings of register pairs are numbered after the registers:
 * first those around the stack pointer, by ascending address, then those below the frame pointer.
 * The low word of an 8-byte counter changes like the counter.
 */
#define PROFILE_WORD_BYTES 4
#define PROFILE_WORD_STACK 32	     /* number of the word at the stack pointer - .. */
#define PROFILE_WORD_STACK_BELOW 128 /* .. this */
#define PROFILE_WORD_FRAME 96	     /* number of the word at the frame pointer - .. */
#define PROFILE_WORD_FRAME_BELOW 128 /* .. this */
#define PROFILE_WORD_END 128

/** struct profile_edge - number of times that control was seen to go from one offset to another */
struct profile_edge {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/** profile_edge_is_edge() - return true for kinds that are edges, and are counted as such */
static inline bool profile_edge_is_edge(enum profile_edge_kind kind)
{
	return kind <= PROFILE_EDGE_PROBE || kind == PROFILE_EDGE_RECORD;
}

/** profile_edge_compare() - order edges by from, then by to */
static inline int profile_edge_compare(const struct profile_edge *a, const struct profile_edge *b)
{
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/**
 * enum profile_count_kind - kinds of counts of dcpix; values are stored
 *
 * Counts have the form of struct profile_edge, with both ends in one image. Code in a watched range
 * that is in no run was not executed.
 */
enum profile_count_kind {
	PROFILE_COUNT_RUN = 0,	   /* instructions @from .. @to - 1 were executed @count times */
	PROFILE_COUNT_EDGE = 1,	   /* control went from the instruction at @from to that at @to */
	PROFILE_COUNT_WATCHED = 2, /* in @count processes: @from .. @to - 1 were counted */
};

#define PROFILE_COUNT_KINDS 3

/**
 * struct profile_event - an event sampled in an epoch
 * @number:     number of the event in the epoch, 0 ..
 * @name:       as users write it ("cycles", "cpu-clock")
 * @unit:       unit of the periods: "cycles", "ns", "events"
 * @period_min: shortest sampling period
 * @period_max: longest; drawn uniformly from the window
 * @enabled_ns: time the event was to be counted, summed over CPUs; 0: unknown
 * @running_ns: time the event was on a counter: less, if perf rotated events. The total
 *              of the event is its samples times @enabled_ns / @running_ns, if both
 *              are known
 */
struct profile_event {
	uint32_t number;
	const char *name;
	const char *unit;
	uint64_t period_min;
	uint64_t period_max;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/**
 * struct profile_counter - a named count of an epoch
 *
 * "loss" counters are samples that are in no profile; "unknown" counters divide the samples of the
 * unknown image by reason; "stat" counters describe the collection.
 */
struct profile_counter {
	const char *group; /* "loss", "unknown" or "stat" */
	const char *name;
	uint64_t count;
};

/**
 * struct profile_epoch - an interval of collection
 * @id:            number of the epoch in this database
 * @start_ns:      start of the epoch
 * @end_ns:        end of the epoch; the last merge if the epoch is still open
 * @open:          1 while samples may still be merged into it
 * @host:          host name
 * @machine_id:    distinguishes hosts with the same name; may be ""
 * @cpu_model:     as in /proc/cpuinfo
 * @cpus:          CPUs sampled
 * @kernel:        release, "6.1.0-56-amd64"
 * @source:        "kmod", "perf", ...
 * @source_reason: reason for choosing this source, one line
 * @label:         free text of the user; may be ""
 * @interrupts:    samples the source took:
 *                 interrupts = samples in profiles + sum of "loss" counters
 * @slices:        0: all of the epoch; otherwise only slices that begin in @since_ns ..
 *                 @until_ns - 1. @start_ns, @end_ns, @open and @interrupts are theirs. Only readers
 *                 set it
 */
struct profile_epoch {
	int64_t id;
	int64_t start_ns;
	int64_t end_ns;
	int open;
	const char *host;
	const char *machine_id;
	const char *cpu_model;
	uint32_t cpus;
	const char *kernel;
	const char *source;
	const char *source_reason;
	const char *label;
	uint64_t interrupts;
	uint64_t slices;
	int64_t since_ns;
	int64_t until_ns;
};

/**
 * struct profile_slice - a part of an epoch, between two drains of all samples
 * @interrupts: samples that the source took in this time:
 *              interrupts = samples in profiles of the slice + sum of its "loss" counters
 */
struct profile_slice {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t interrupts;
};

/** Called for each slice of an epoch. */
typedef int (*profile_slice_fn)(void *context, const struct profile_slice *slice);

#endif
