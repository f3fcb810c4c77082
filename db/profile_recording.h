/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of an image in an epoch: tables of numbers and the texts that they refer to, for one
 * mode. Rewritten programs record all modes (dcpix) except register pairs, footprints, call stacks,
 * off-CPU time, threads and regions of data, which dcpid records.
 *
 * Numbers are at most PROFILE_RECORDING_VALUE_MAX. A text's number is its index in the recording.
 * The first table of each mode is its head: one row, about the whole. The enumerations below define
 * the tables that follow, and their columns. The values are stored, so each enumeration may only be
 * extended at its end. Readers must check that a table has the columns that they need
 * (profile_recording_has()), and that the rows and texts that numbers refer to exist.
 */
#ifndef DCPI_PROFILE_RECORDING_H
#define DCPI_PROFILE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_RECORDING_VALUE_MAX ((uint64_t)INT64_MAX)
#define PROFILE_RECORDING_TABLES_MAX 8
#define PROFILE_RECORDING_COLUMNS_MAX 32

/** enum profile_recording_mode - kind of the recorded data */
enum profile_recording_mode {
	PROFILE_RECORDING_PATHS = 0,
	PROFILE_RECORDING_CALLS = 1,
	PROFILE_RECORDING_CONTEXT = 2,
	PROFILE_RECORDING_BURSTS = 3,
	PROFILE_RECORDING_VARIATION = 4,
	PROFILE_RECORDING_PAIRS = 5,
	PROFILE_RECORDING_FOOTPRINTS = 6,
	PROFILE_RECORDING_STACKS = 7,
	PROFILE_RECORDING_OFF_CPU = 8,
	PROFILE_RECORDING_THREADS = 9,
	PROFILE_RECORDING_DATA = 10,
};

#define PROFILE_RECORDING_MODES 11

/** enum profile_recording_head - columns of each mode's first table; columns of the mode follow */
enum profile_recording_head {
	PROFILE_HEAD_PROCESSES,
	PROFILE_HEAD_THREADS,
	PROFILE_HEAD_SHARED, /* threads without a separate buffer: counts may be too low */
	PROFILE_HEAD_OWN,
};

/*
 * enum profile_recording_procedure - columns that each table of procedures begins with
 *
 * A row without address is not a procedure: it stands for callers that are not procedures.
 */
enum profile_recording_procedure {
	PROFILE_PROCEDURE_NAME,	   /* text */
	PROFILE_PROCEDURE_ADDRESS, /* ELF address; 0: none */
	PROFILE_PROCEDURE_OFFSET,  /* file offset */
	PROFILE_PROCEDURE_OWN,
};

/* --- paths ---------------------------------------------------------------- */

enum profile_paths_table {
	PROFILE_PATHS_HEAD,
	PROFILE_PATHS_PROCEDURES,
	PROFILE_PATHS_PATHS, /* paths that were executed, by procedure */
	PROFILE_PATHS_STEPS, /* steps of all paths, one path after the other */
	PROFILE_PATHS_TABLES,
};

enum profile_paths_procedure {
	PROFILE_PATHS_POSSIBLE = PROFILE_PROCEDURE_OWN, /* number of possible paths */
	PROFILE_PATHS_UNFINISHED,
	PROFILE_PATHS_LOST,
	PROFILE_PATHS_OVERFLOW,
	PROFILE_PATHS_PROCEDURE_COLUMNS,
};

enum profile_paths_path {
	PROFILE_PATH_PROCEDURE, /* row of PROFILE_PATHS_PROCEDURES */
	PROFILE_PATH_NUMBER,	/* path number in the procedure */
	PROFILE_PATH_COUNT,
	PROFILE_PATH_METRIC, /* sum over the measured executions */
	PROFILE_PATH_STEPS,  /* number of its steps */
	PROFILE_PATH_NEXT,   /* address where the next path began; 0: nowhere */
	PROFILE_PATH_OLD,
	PROFILE_PATH_TIMED = PROFILE_PATH_OLD, /* measured executions; absent: all, with a metric */
	PROFILE_PATH_COLUMNS,
};

enum profile_paths_step {
	PROFILE_STEP_ADDRESS,
	PROFILE_STEP_OFFSET,
	PROFILE_STEP_BYTES,
	PROFILE_STEP_INSNS,
	PROFILE_STEP_COLUMNS,
};

/* --- calls, contexts ------------------------------------------------------ */

enum profile_calls_head {
	PROFILE_CALLS_CONTEXTS = PROFILE_HEAD_OWN,
	PROFILE_CALLS_LOSSES, /* by enum call_loss (instrument/calls/call_layout.h), from here on */
};

/*
 * The last rows of procedures are those of enum call_profile_node
 * (instrument/calls/call_profile.h).
 */
enum profile_calls_table {
	PROFILE_CALLS_HEAD,
	PROFILE_CALLS_PROCEDURES,
	PROFILE_CALLS_ARCS,
	PROFILE_CALLS_TABLES,
};

enum profile_calls_procedure {
	PROFILE_CALLS_CALLS = PROFILE_PROCEDURE_OWN,
	PROFILE_CALLS_RECURSIVE,
	PROFILE_CALLS_SELF,
	PROFILE_CALLS_CHILDREN,
	PROFILE_CALLS_PROCEDURE_COLUMNS,
};

/* Same fields as struct call_arc. */
enum profile_calls_arc {
	PROFILE_ARC_CALLER, /* rows of PROFILE_CALLS_PROCEDURES */
	PROFILE_ARC_CALLEE,
	PROFILE_ARC_CALLS,
	PROFILE_ARC_CALLEE_SELF,
	PROFILE_ARC_CALLEE_CHILDREN,
	PROFILE_ARC_CALLER_SELF,
	PROFILE_ARC_CALLER_CHILDREN,
	PROFILE_ARC_COLUMNS,
};

enum profile_context_table {
	PROFILE_CONTEXT_HEAD,
	PROFILE_CONTEXT_PROCEDURES,
	PROFILE_CONTEXT_NODES,
	PROFILE_CONTEXT_SITES, /* only if call sites are distinguished: the reached ones */
	PROFILE_CONTEXT_TABLES,
};

/* Columns of PROFILE_CONTEXT_PROCEDURES. */
enum profile_context_procedure {
	/* Number of its call sites; absent: 0 */
	PROFILE_CONTEXT_CALL_SITES = PROFILE_PROCEDURE_OWN,
	PROFILE_CONTEXT_PROCEDURE_COLUMNS,
};

/* The first node is the root; parents come before their children. */
enum profile_context_node {
	PROFILE_NODE_PARENT,	/* row of this table; the root's is 0 */
	PROFILE_NODE_PROCEDURE, /* row of PROFILE_CONTEXT_PROCEDURES */
	PROFILE_NODE_SITE,	/* address of the call; 0: any in the parent */
	PROFILE_NODE_CALLS,	/* calls from the parent */
	PROFILE_NODE_RECURSIVE, /* calls from descendants */
	PROFILE_NODE_METRIC,	/* metric while the node was the current one */
	PROFILE_NODE_COLUMNS,
};

enum profile_context_site {
	PROFILE_SITE_NODE,    /* row of PROFILE_CONTEXT_NODES */
	PROFILE_SITE_ADDRESS, /* address of the call */
	PROFILE_SITE_CALLS,
	PROFILE_SITE_COLUMNS,
};

/* --- bursts --------------------------------------------------------------- */

enum profile_bursts_head {
	PROFILE_BURSTS_CHECKS = PROFILE_HEAD_OWN, /* between two bursts; 0: one burst for all */
	PROFILE_BURSTS_RECORDS,			  /* checks in a burst */
	PROFILE_BURSTS_BURSTS,			  /* bursts that have ended */
	PROFILE_BURSTS_LOST,			  /* references dropped for lack of room */
	PROFILE_BURSTS_HEAD_COLUMNS,
};

enum profile_bursts_table {
	PROFILE_BURSTS_HEAD,
	PROFILE_BURSTS_PROCEDURES,   /* procedures with references */
	PROFILE_BURSTS_INSTRUCTIONS, /* instructions with references, by procedure, ascending */
	PROFILE_BURSTS_REFERENCES,   /* thread by thread, in order of execution */
	PROFILE_BURSTS_TABLES,
};

enum profile_bursts_procedure {
	PROFILE_BURSTS_COUNT = PROFILE_PROCEDURE_OWN, /* number of its instructions */
	PROFILE_BURSTS_PROCEDURE_COLUMNS,
};

enum profile_bursts_instruction {
	PROFILE_INSTRUCTION_ADDRESS,
	PROFILE_INSTRUCTION_OFFSET,
	PROFILE_INSTRUCTION_COLUMNS,
};

enum profile_bursts_reference {
	PROFILE_REFERENCE_INSTRUCTION, /* row of PROFILE_BURSTS_INSTRUCTIONS */
	PROFILE_REFERENCE_ADDRESS,     /* memory address */
	PROFILE_REFERENCE_BURST,       /* burst number in the thread, from 1 on */
	PROFILE_REFERENCE_THREAD,      /* thread number, from 0 on */
	PROFILE_REFERENCE_COLUMNS,
};

/* --- variation ------------------------------------------------------------ */

enum profile_variation_head {
	PROFILE_VARIATION_CHECKS = PROFILE_HEAD_OWN, /* between timed paths; 0: all are timed */
	PROFILE_VARIATION_LOST,
	PROFILE_VARIATION_OVERFLOW,
	PROFILE_VARIATION_DAMAGED,
	PROFILE_VARIATION_HEAD_COLUMNS,
};

/*
 * The first four tables are those of the mode paths (enum profile_paths_table), for timed paths.
 * The count excludes interrupted executions, and the metric is the cycles of the others.
 */
enum profile_variation_table {
	PROFILE_VARIATION_TIMES = PROFILE_PATHS_TABLES, /* of each path */
	PROFILE_VARIATION_BUCKETS,			/* of all paths, path by path */
	PROFILE_VARIATION_TABLES,
};

enum profile_variation_times {
	PROFILE_TIMES_LEAST,
	PROFILE_TIMES_INTERRUPTED,
	PROFILE_TIMES_INTERRUPTED_TOTAL,
	PROFILE_TIMES_BUCKETS, /* number of its buckets */
	PROFILE_TIMES_COLUMNS,
};

/* Buckets of instrument/variation/variation_layout.h; empty ones are left out. */
enum profile_variation_bucket {
	PROFILE_BUCKET_NUMBER, /* ascending */
	PROFILE_BUCKET_TIMES,
	PROFILE_BUCKET_COLUMNS,
};

/* --- register pairs ------------------------------------------------------- */

/* A random selection of the pairs of samples that daemon/source/register_pairs.h describes. */
enum profile_pairs_head {
	PROFILE_PAIRS_SEEN = PROFILE_HEAD_OWN, /* pairs that the selection was made from */
	PROFILE_PAIRS_SELECTED, /* pairs of the selection, those without counters included */
	PROFILE_PAIRS_HEAD_COLUMNS,
};

enum profile_pairs_table {
	PROFILE_PAIRS_HEAD,
	PROFILE_PAIRS_PAIRS,
	PROFILE_PAIRS_VALUES, /* of all pairs, one after the other */
	PROFILE_PAIRS_TABLES,
};

enum profile_pairs_pair {
	PROFILE_PAIR_FROM,    /* offset in the file, of the earlier sample */
	PROFILE_PAIR_TO,      /* of the later sample */
	PROFILE_PAIR_SAMPLES, /* sampling periods between them */
	PROFILE_PAIR_VALUES,  /* how many are its */
	PROFILE_PAIR_COLUMNS,
};

/** profile_signed_encode() - a signed number as an unsigned one: 0, -1, 1, -2 become 0, 1, 2, 3 */
static inline uint64_t profile_signed_encode(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

/** profile_signed_decode() - the inverse of profile_signed_encode() */
static inline int64_t profile_signed_decode(uint64_t code)
{
	return (int64_t)(code >> 1) ^ -(int64_t)(code & 1);
}

/* Only registers and words that behave like counters in the code around the pair. */
enum profile_pairs_value {
	PROFILE_VALUE_REGISTER, /* number in the encoding of instructions, or of a word */
	PROFILE_VALUE_DELTA,	/* change, by profile_signed_encode() */
	PROFILE_VALUE_COLUMNS,
};

/* --- footprints ----------------------------------------------------------- */

/* Data that instructions accessed at samples, see daemon/collect/footprint_store.h. */
enum profile_footprints_head {
	/* Data caches of the machine, by level; 0: unknown */
	PROFILE_FOOTPRINTS_L1_BYTES = PROFILE_HEAD_OWN,
	PROFILE_FOOTPRINTS_L2_BYTES,
	PROFILE_FOOTPRINTS_L3_BYTES,
	PROFILE_FOOTPRINTS_LINE_BYTES, /* units of the columns below */
	PROFILE_FOOTPRINTS_PAGE_BYTES,
	PROFILE_FOOTPRINTS_HEAD_COLUMNS,
};

enum profile_footprints_table {
	PROFILE_FOOTPRINTS_HEAD,
	PROFILE_FOOTPRINTS_ACCESSES, /* one row for each instruction, by offset */
	PROFILE_FOOTPRINTS_TABLES,
};

/* Columns for different values (daemon/collect/distinct_sketch.h). */
enum profile_footprint_distinct {
	PROFILE_DISTINCT_ALL, /* estimated number of different values */
	PROFILE_DISTINCT_KEPT,
	PROFILE_DISTINCT_ONCE,
	PROFILE_DISTINCT_TWICE,
	PROFILE_DISTINCT_COMPARED, /* pairs of accesses */
	PROFILE_DISTINCT_EQUAL,	   /* of these, with equal values */
	PROFILE_DISTINCT_COLUMNS,
};

enum profile_footprints_access {
	PROFILE_ACCESS_OFFSET, /* of the instruction, in the file */
	PROFILE_ACCESS_SAMPLES,
	PROFILE_ACCESS_STACK,	/* of these: to the stack */
	PROFILE_ACCESS_STRIDES, /* of these: with a known distance to the next execution's address
				 */
	PROFILE_ACCESS_EQUAL,	/* at least this many more of them have PROFILE_ACCESS_STRIDE */
	PROFILE_ACCESS_STRIDE,	/* by profile_signed_encode(); 0: no distance is that of most */
	PROFILE_ACCESS_LINES,	/* PROFILE_DISTINCT_COLUMNS columns */
	PROFILE_ACCESS_PAGES = PROFILE_ACCESS_LINES + PROFILE_DISTINCT_COLUMNS,
	/* Recordings of earlier versions end here. */
	PROFILE_ACCESS_SHARED = PROFILE_ACCESS_PAGES + PROFILE_DISTINCT_COLUMNS,
	/* Samples to lines that another thread accessed: above. Its most frequent instruction: */
	PROFILE_ACCESS_PARTNER,	     /* 1 + offset in the file; 0: none */
	PROFILE_ACCESS_PARTNER_BYTE, /* of its data in the line */
	PROFILE_ACCESS_OWN_BYTE,
	PROFILE_ACCESS_COLUMNS,
};

/* --- call stacks ---------------------------------------------------------- */

/*
 * The call stacks of an epoch are a tree. Each image has the nodes whose addresses are in it; the
 * numbers of nodes are those of the epoch. The root, number 0, is in no image, and the number of a
 * parent is less than those of its children. In the image of unknown samples, the offset of a node
 * is 0 for code in no image, or else the reason why the frames above it are not known
 * (enum profile_stack_end).
 */
enum profile_stacks_head {
	PROFILE_STACKS_EVERY = PROFILE_HEAD_OWN, /* sampling periods of event 0 for each stack */
	PROFILE_STACKS_HEAD_COLUMNS,
};

enum profile_stacks_table {
	PROFILE_STACKS_HEAD,
	PROFILE_STACKS_NODES,
	PROFILE_STACKS_TABLES,
};

enum profile_stacks_node {
	PROFILE_STACK_NODE,   /* its number, ascending */
	PROFILE_STACK_PARENT, /* number of its parent */
	PROFILE_STACK_OFFSET, /* in the file: of the sampled instruction, or in the call */
	PROFILE_STACK_STACKS, /* number of stacks that end here */
	PROFILE_STACK_COLUMNS,
	/* Off-CPU time only: */
	PROFILE_STACK_NS = PROFILE_STACK_COLUMNS,
	PROFILE_OFF_CPU_COLUMNS,
};

/** enum profile_stack_end - why a stack is not complete; values are stored */
enum profile_stack_end {
	PROFILE_STACK_COMPLETE = 0,
	PROFILE_STACK_SHORT = 1,	 /* The copy of the stack is too short. */
	PROFILE_STACK_UNREADABLE = 2,	 /* Part of the stack was not in memory. */
	PROFILE_STACK_OTHER = 3,	 /* It continues on another stack. */
	PROFILE_STACK_NO_TABLE = 4,	 /* No call frame information, no frame record. */
	PROFILE_STACK_NO_RULE = 5,	 /* Code without call frame information. */
	PROFILE_STACK_EXPRESSION = 6,	 /* Call frame information that is not supported. */
	PROFILE_STACK_REGISTER = 7,	 /* A register is not known. */
	PROFILE_STACK_BAD_FRAME = 8,	 /* The frame is not above that of its callee. */
	PROFILE_STACK_BAD_ADDRESS = 9,	 /* The return address is in no image. */
	PROFILE_STACK_FRAMES = 10,	 /* Too many frames. */
	PROFILE_STACK_NO_REGISTERS = 11, /* No registers. */
	PROFILE_STACK_WAITING = 12,	 /* Call frame information was not read in time. */
	PROFILE_STACK_CHAIN = 13,   /* A recorded call chain ends before the outermost frame. */
	PROFILE_STACK_DAMAGED = 14, /* The recording of the stack is malformed. */
};

#define PROFILE_STACK_ENDS 15
/* Not an end: the offset of the outermost frame of stacks of the profiler's processes. */
#define PROFILE_STACK_OF_PROFILER 255

/* --- off-CPU time --------------------------------------------------------- */

/*
 * Stacks of threads that were not on a CPU, with their time: the tables of call stacks, with a
 * column more. The first column of the head is the longest interval that was sampled, in
 * nanoseconds; longer ones were all recorded. The innermost frame of each stack is a node in the
 * image of unknown samples, whose offset is the state of the thread.
 */

/** enum profile_off_cpu_state - why a thread did not run; values are stored, as offsets of nodes */
enum profile_off_cpu_state {
	PROFILE_OFF_CPU_RUNNABLE = 64, /* It waited for a CPU. */
	PROFILE_OFF_CPU_SLEEP = 65,
	PROFILE_OFF_CPU_IO = 66,
	PROFILE_OFF_CPU_LOCK = 67,    /* In the system call futex. */
	PROFILE_OFF_CPU_BLOCKED = 68, /* Another wait that cannot be interrupted. */
};

#define PROFILE_OFF_CPU_STATES 5

/* --- threads -------------------------------------------------------------- */

/*
 * The stacks and the off-CPU time of the threads of an epoch, in the image of unknown samples. The
 * sums over all rows are those of the epoch. The head is that of call stacks.
 */
enum profile_threads_table {
	PROFILE_THREADS_HEAD,
	PROFILE_THREADS_THREADS,
	PROFILE_THREADS_TABLES,
};

enum profile_threads_thread {
	PROFILE_THREAD_PID, /* 0: all threads with these names that have no row */
	PROFILE_THREAD_TID,
	PROFILE_THREAD_COMMAND, /* text: name of the process */
	PROFILE_THREAD_NAME,	/* text; "": unknown */
	PROFILE_THREAD_STACKS,
	PROFILE_THREAD_OFF_CPU_NS,
	PROFILE_THREAD_COLUMNS,
};

/* --- regions of data ------------------------------------------------------ */

/*
 * The data that samples accessed, by region. Data in the image of a file is in the recording of
 * that image. Data elsewhere is in the recording of the image with the instructions.
 */
enum profile_data_head {
	PROFILE_DATA_LINE_BYTES = PROFILE_HEAD_OWN, /* units of the columns below */
	PROFILE_DATA_PAGE_BYTES,
	PROFILE_DATA_PLACE_BYTES,
	PROFILE_DATA_HEAD_COLUMNS,
};

enum profile_data_table {
	PROFILE_DATA_HEAD,
	PROFILE_DATA_REGIONS, /* one row for each region with accesses */
	PROFILE_DATA_PLACES,  /* a random selection of the accesses to PROFILE_REGION_IMAGE */
	PROFILE_DATA_TABLES,
};

/** enum profile_region - the kind of memory at an address */
enum profile_region {
	PROFILE_REGION_UNKNOWN,	  /* the mappings of the process were not read in time */
	PROFILE_REGION_STACK,	  /* of any thread */
	PROFILE_REGION_HEAP,	  /* the program break */
	PROFILE_REGION_ANONYMOUS, /* other private memory without a file */
	PROFILE_REGION_SHARED,	  /* MAP_SHARED, with or without a file */
	PROFILE_REGION_FILE,	  /* a private mapping of a file without code */
	PROFILE_REGION_IMAGE,	  /* static data of a program or library */
	PROFILE_REGIONS,
};

enum profile_data_region {
	PROFILE_DATA_REGION, /* enum profile_region */
	PROFILE_DATA_ACCESSES,
	PROFILE_DATA_NEAREST, /* of these: accesses that the sampled time belongs to */
	PROFILE_DATA_LINES,   /* PROFILE_DISTINCT_COLUMNS columns */
	PROFILE_DATA_PAGES = PROFILE_DATA_LINES + PROFILE_DISTINCT_COLUMNS,
	PROFILE_DATA_REGION_COLUMNS = PROFILE_DATA_PAGES + PROFILE_DISTINCT_COLUMNS,
};

enum profile_data_place {
	/*
	 * The data's ELF address, less the difference of address and offset of the image's code; in
	 * units of PROFILE_DATA_PLACE_BYTES, by profile_signed_encode()
	 */
	PROFILE_PLACE_POSITION,
	PROFILE_PLACE_ACCESSES,
	PROFILE_PLACE_NEAREST,
	PROFILE_PLACE_COLUMNS,
};

/* --- recordings ----------------------------------------------------------- */

/** struct profile_recording_table - @values of @rows rows, each of @columns. */
struct profile_recording_table {
	unsigned int columns;
	size_t rows;
	const uint64_t *values;
};

/**
 * struct profile_recording - recording of one mode, for an image in an epoch
 * @metric: measured quantity, "cycles"; "": only execution counts
 */
struct profile_recording {
	int64_t epoch;
	int64_t image;
	enum profile_recording_mode mode;
	const char *metric;
	struct profile_recording_table tables[PROFILE_RECORDING_TABLES_MAX];
	unsigned int table_count;
	const char *const *texts;
	size_t text_count;
};

/** profile_recording_row() - return a row of a table, with one number for each column */
static inline const uint64_t *profile_recording_row(const struct profile_recording_table *table,
						    size_t row)
{
	return table->values + row * table->columns;
}

/** profile_recording_has() - return true if there is a table with at least @columns columns */
static inline bool profile_recording_has(const struct profile_recording *recording,
					 unsigned int table, unsigned int columns)
{
	return table < recording->table_count && recording->tables[table].columns >= columns;
}

#endif
