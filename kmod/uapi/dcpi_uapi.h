/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface between dcpi.ko and user space, and its manual.
 *
 * One reader at a time opens /dev/dcpi (a second open: -EBUSY). Independent of
 * the mode of the file, the reader needs CAP_PERFMON or CAP_SYS_ADMIN (-EPERM),
 * so that other users cannot keep the daemon out. DCPI_IOC_START
 * configures and starts sampling. The reader waits in poll() until an overflow
 * buffer is full, and takes samples with DCPI_IOC_DRAIN. Closing the last copy
 * of the descriptor (a mapping is one), or dying, stops sampling. Samples that
 * were not drained are then dropped and counted as DCPI_LOSS_READER_GONE. The
 * counters of that session stay readable until the next DCPI_IOC_START.
 *
 * CPUs that come online while sampling are sampled, too. Samples collected on a CPU that went
 * offline can still be drained.
 *
 * Every structure has fixed-width fields, no padding, and the same layout for
 * 32- and 64-bit callers. Fields named "reserved" must be zero (-EINVAL).
 * Errors common to all ioctls: -ENOTTY unknown command (the size of the
 * argument is part of the command, so a wrong size is an unknown command),
 * -EFAULT argument not readable or writable.
 */
#ifndef DCPI_UAPI_H
#define DCPI_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DCPI_DEVICE_NAME "dcpi"
#define DCPI_DEVICE_PATH "/dev/dcpi"

/* Incompatible changes raise the major number, additions the minor one. */
#define DCPI_UAPI_MAJOR 2
#define DCPI_UAPI_MINOR 1

/**
 * struct dcpi_sample - one aggregated sample, 16 bytes
 * @pc:  interrupted program counter
 * @tag: process, event and count packed into one word, so that comparing two
 *       keys is one comparison of @pc and one of the upper bits of @tag:
 *       bits 63..42 process id (thread group), 41..32 exec generation,
 *       31..24 event number, 23..0 number of times the sample was seen
 *
 * A process that calls exec keeps its id; the generation (the low ten bits of
 * the kernel's self_exec_id) distinguishes its old image from its new one. A count
 * of zero marks an entry that is not in use.
 */
struct dcpi_sample {
	__u64 pc;
	__u64 tag;
};

#define DCPI_COUNT_BITS 24
#define DCPI_EVENT_BITS 8
#define DCPI_GENERATION_BITS 10
#define DCPI_PID_BITS 22

#define DCPI_COUNT_MAX ((1U << DCPI_COUNT_BITS) - 1)
#define DCPI_GENERATION_MAX ((1U << DCPI_GENERATION_BITS) - 1)
#define DCPI_PID_MAX ((1U << DCPI_PID_BITS) - 1)

/* The tag of a (process, generation, event) with a count of zero. */
static inline __u64 dcpi_tag(__u32 pid, __u32 generation, __u32 event)
{
	return (__u64)(pid & DCPI_PID_MAX) << 42 | (__u64)(generation & DCPI_GENERATION_MAX) << 32 |
	       (__u64)(event & 0xff) << 24;
}

static inline __u32 dcpi_tag_pid(__u64 tag)
{
	return (__u32)(tag >> 42);
}

static inline __u32 dcpi_tag_generation(__u64 tag)
{
	return (__u32)(tag >> 32) & DCPI_GENERATION_MAX;
}

static inline __u32 dcpi_tag_event(__u64 tag)
{
	return (__u32)(tag >> 24) & 0xff;
}

static inline __u32 dcpi_tag_count(__u64 tag)
{
	return (__u32)tag & DCPI_COUNT_MAX;
}

/*
 * Edges travel as samples do, in the same table and buffers, under event
 * numbers of their own. An edge is two program counters of one process:
 *
 *   BRANCH  from: a branch instruction; to: the instruction executed after it
 *   DOUBLE  from, to: the PCs of two interrupts in immediate succession
 *
 * If both are near each other, one entry holds them (struct dcpi_sample.pc is then the result of
 * dcpi_edge_pack()), counted like any sample. Else the event number is the _FAR one and two
 * neighbouring entries hold them: the first has @pc = from and the count, the second @pc = to, the
 * same tag and a count of zero. A far edge is never split: both entries are in one chunk. If two
 * entries did not fit at the end of a full buffer, an entry of zeros fills the place.
 *
 * Edges are not samples: they have separate counters of edges and of losses. For every CPU, at
 * rest: edges = pending_edges + delivered_edges + edges_lost.
 */
#define DCPI_EVENT_SPECIAL 0xf0 /* this and above are not indices of events */
#define DCPI_EVENT_BRANCH 0xfc
#define DCPI_EVENT_BRANCH_FAR 0xfd
#define DCPI_EVENT_DOUBLE 0xfe
#define DCPI_EVENT_DOUBLE_FAR 0xff

/*
 * A packed edge: bits 47..0 of from, bit 48 set if from is a kernel address
 * (bits 63..48 all ones), bits 63..49 to - from as a signed number of bytes.
 */
#define DCPI_EDGE_DISTANCE_BITS 15

/**
 * dcpi_edge_pack() - put an edge into one word
 *
 * Return: 1; 0 if the two are too far apart, or @from is not an address of 48
 * bits, sign- or zero-extended.
 */
static inline int dcpi_edge_pack(__u64 from, __u64 to, __u64 *packed)
{
	__u64 distance = to - from;
	__u64 upper = from >> 48;

	if (distance + (1U << (DCPI_EDGE_DISTANCE_BITS - 1)) >= 1U << DCPI_EDGE_DISTANCE_BITS)
		return 0;
	if (upper != 0 && upper != 0xffff)
		return 0;
	*packed = distance << 49 | (upper & 1) << 48 | (from & ((1ULL << 48) - 1));
	return 1;
}

/** dcpi_edge_unpack() - the inverse; every word is some edge. */
static inline void dcpi_edge_unpack(__u64 packed, __u64 *from, __u64 *to)
{
	__u64 sign = 1ULL << (DCPI_EDGE_DISTANCE_BITS - 1);
	__u64 distance = ((packed >> 49) ^ sign) - sign;

	*from = packed & ((1ULL << 48) - 1);
	if (packed >> 48 & 1)
		*from |= 0xffffULL << 48;
	*to = *from + distance;
}

/*
 * Reasons for which a sample was not stored. The order is ABI; dcpi_loss_name() returns names for
 * people. For every CPU, at rest:
 * dcpi_loss_name(). For every CPU, at rest:
 *     interrupts = in table + in buffers + delivered + sum of losses
 */
enum dcpi_loss {
	DCPI_LOSS_BUFFERS_FULL, /* both overflow buffers waited for the reader */
	DCPI_LOSS_NESTED,	/* interrupted another sample on the same CPU */
	DCPI_LOSS_READER_GONE,	/* reader closed, died or faulted before taking it */
	DCPI_LOSS_NR,
};

static inline const char *dcpi_loss_name(enum dcpi_loss loss)
{
	switch (loss) {
	case DCPI_LOSS_BUFFERS_FULL:
		return "buffers_full";
	case DCPI_LOSS_NESTED:
		return "nested";
	case DCPI_LOSS_READER_GONE:
		return "reader_gone";
	case DCPI_LOSS_NR:
		break;
	}
	return "invalid";
}

/**
 * struct dcpi_version - DCPI_IOC_VERSION
 * @major: DCPI_UAPI_MAJOR of the module
 * @minor: DCPI_UAPI_MINOR of the module
 * @cpus:  number of possible CPU numbers; DCPI_IOC_DRAIN and DCPI_IOC_STATS
 *         take 0 .. @cpus - 1
 * @reserved: zero
 */
struct dcpi_version {
	__u32 major;
	__u32 minor;
	__u32 cpus;
	__u32 reserved;
};

/* dcpi_event.flags */
#define DCPI_EVENT_EXCLUDE_USER 1U
#define DCPI_EVENT_EXCLUDE_KERNEL 2U

/**
 * struct dcpi_event - one event to sample
 * @type:       perf_event_attr.type
 * @flags:      DCPI_EVENT_EXCLUDE_*; not both
 * @config:     perf_event_attr.config
 * @config1:    perf_event_attr.config1
 * @config2:    perf_event_attr.config2
 * @period_min: shortest sampling period, in the event's own unit (events, or
 *              nanoseconds for the cpu-clock)
 * @period_max: longest sampling period; each period is drawn at random, uniformly
 *              from [@period_min, @period_max]
 */
struct dcpi_event {
	__u32 type;
	__u32 flags;
	__u64 config;
	__u64 config1;
	__u64 config2;
	__u64 period_min;
	__u64 period_max;
};

#define DCPI_EVENTS_MAX 16
/*
 * Shorter periods could keep a CPU in the handler forever. Clocks (cpu-clock, task-clock, in ns)
 * have a separate minimum.
 */
#define DCPI_PERIOD_MIN 1000
#define DCPI_CLOCK_PERIOD_MIN 50000
#define DCPI_PERIOD_MAX (1ULL << 40)

/* Geometry: entries in a CPU's table and in each of its two buffers. */
#define DCPI_TABLE_ENTRIES_DEFAULT 16384
#define DCPI_BUFFER_ENTRIES_DEFAULT 8192
#define DCPI_ENTRIES_MIN 64
#define DCPI_ENTRIES_MAX (1U << 20)

/*
 * dcpi_config.flags. The handler is chosen when sampling starts, so a feature that is off costs
 * nothing.
 *
 * TIMES:    measure the time spent in the handler (DCPI_IOC_TIMES).
 * BRANCHES: interpret one sample in @branch_every, that is, the instructions
 *           from the sampled one up to the next conditional or indirect branch.
 *           Count the edge that the branch takes (DCPI section 7).
 *           Supported: x86-64 and arm64, 64-bit code, user and kernel; only for
 *           events that interrupt or fault (not for context switches and
 *           tracepoints, whose registers are not saved). Only ordinary memory
 *           is read, never a device's.
 * DOUBLE:   let one sample in @double_every of event 0 be followed by another
 *           after @double_period events, and count the pair ("double
 *           sampling"). The second interrupt is a sample like any other in
 *           the counters but is not stored as one. It is stored as DCPI_EVENT_DOUBLE
 *           if both interrupts struck one thread in user mode and the event was
 *           counted all the time in between. Event 0 must be a hardware event with
 *           DCPI_EVENT_EXCLUDE_KERNEL. Otherwise the second interrupt would strike
 *           the kernel's return path from the first one.
 * SNAPSHOTS: with BRANCHES: write pairs of snapshots (dcpi_snapshot.h). A pair begins after each
 *           interpreted sample, unless one still waits for its second sample. The reader
 *           takes them with DCPI_IOC_SNAPSHOTS. Since minor version 1.
 */
#define DCPI_START_TIMES 1U
#define DCPI_START_BRANCHES 2U
#define DCPI_START_DOUBLE 4U
#define DCPI_START_SNAPSHOTS 8U

/**
 * struct dcpi_config - DCPI_IOC_START
 * @events:         number of elements used in @event, 1 .. DCPI_EVENTS_MAX; an
 *                  event's number in dcpi_sample is its index
 * @table_entries:  power of two in [DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX], or 0
 *                  for the default
 * @buffer_entries: the same for each of a CPU's two overflow buffers
 * @seed:           seed of the period generator; 0: taken from the kernel
 * @flags:          DCPI_START_*
 * @branch_every:   >= 1 with DCPI_START_BRANCHES, else 0
 * @double_every:   >= 2 with DCPI_START_DOUBLE, else 0
 * @double_period:  1 .. DCPI_PERIOD_MIN with DCPI_START_DOUBLE, and shorter than
 *                  event 0's period_min; else 0
 * @perf_fd:        a system-wide event of perf_event_open(2) (pid -1), which shows that the
 *                  kernel and its security modules permit such events to its opener. It
 *                  includes the kernel (exclude_kernel 0) if one of @event does, and is a
 *                  tracepoint if one of them is; its type does not matter otherwise, and
 *                  it may be disabled. It is not used after the call.
 * @reserved:       0
 * @event:          the events
 *
 * Starts a new session: counters are zero, and samples that an earlier session of this reader left
 * undrained are gone. If there are more events than the PMU has counters, perf rotates them.
 *
 * Errors:
 * - -EPERM: no CAP_PERFMON (or CAP_SYS_ADMIN), or BRANCHES in lockdown for
 *   confidentiality.
 * - -EBADF: @perf_fd is not a descriptor of a perf event.
 * - -EACCES: the event of @perf_fd does not cover one of @event.
 * - -EBUSY: sampling already in progress.
 * - -EINVAL: a value is out of its range.
 * - -ENOENT, -EOPNOTSUPP: the machine has no such event, cannot interpret its
 *   code, or cannot sample event 0 in pairs.
 * - -ENOMEM.
 *
 * Other errors are those that the kernel returns for the event, as from perf_event_open(2). If an
 * event is refused, nothing is sampled, and DCPI_IOC_DRAIN and DCPI_IOC_STATS give -ENXIO until a
 * start succeeds.
 */
struct dcpi_config {
	__u32 events;
	__u32 table_entries;
	__u32 buffer_entries;
	__u32 seed;
	__u32 flags;
	__u32 branch_every;
	__u32 double_every;
	__u32 double_period;
	__s32 perf_fd;
	__u32 reserved;
	struct dcpi_event event[DCPI_EVENTS_MAX];
};

/* DCPI_IOC_DRAIN: also take the samples in the table and in the unfinished buffer. */
#define DCPI_DRAIN_ALL 1U

/**
 * struct dcpi_drain - DCPI_IOC_DRAIN
 * @cpu:      the CPU whose samples to drain
 * @flags:    0: only a full overflow buffer, if there is one (never waits, no
 *            interprocessor interrupt). DCPI_DRAIN_ALL: everything that the
 *            CPU has collected so far; samples taken meanwhile go to the
 *            overflow buffer and stay.
 * @samples:  user address of an array of struct dcpi_sample
 * @capacity: its length in elements. A call delivers at most that number; with
 *            DCPI_DRAIN_ALL it must hold the table and both buffers (-EINVAL)
 * @count:    out: elements written
 *
 * Delivered samples are gone from the module; a buffer that DCPI_IOC_TAKE had given is delivered
 * like any other. If the array becomes inaccessible half way, or @count cannot be written, the call
 * fails with -EFAULT and has delivered nothing. Samples that were already taken out are counted as
 * DCPI_LOSS_READER_GONE; all others can still be drained.
 * Errors: -EINVAL no such CPU, unknown flag, capacity too small for a
 * buffer; -ENXIO not started since the device was opened.
 */
struct dcpi_drain {
	__u32 cpu;
	__u32 flags;
	__u64 samples;
	__u32 capacity;
	__u32 count;
};

/**
 * struct dcpi_stats - DCPI_IOC_STATS, one CPU's counters since DCPI_IOC_START
 * @cpu:        in: which CPU
 * @online:     1 while the CPU is being sampled
 * @interrupts: overflow interrupts that reached the handler
 * @hits:       samples whose entry was in the table
 * @misses:     samples whose entry was not in the table, even if none was evicted
 * @evictions:  entries moved from the table to an overflow buffer by misses
 *              and by counts that reached DCPI_COUNT_MAX
 * @direct:     samples written straight to a buffer while the table was
 *              being drained
 * @flips:      full buffers handed to the reader
 * @delivered:  samples (sum of counts) given to the reader
 * @delivered_entries: entries given to the reader: all of a buffer's, including the second
 *              entry of a far edge and entries of zeros
 * @pending:    samples in the table and the buffers; while @online, computed from the other
 *              counters
 * @period_sum: sum of all periods drawn, over all events
 * @second:     interrupts that were the second of a double sample; they are
 *              included in no other count except @interrupts
 * @branches_tried: samples whose instructions were interpreted
 * @edges:      edges counted, both kinds
 * @edges_lost: edges lost, for any reason
 * @delivered_edges: edges given to the reader
 * @pending_edges: edges in the table and the buffers; otherwise as @pending
 * @losses:     samples lost, by enum dcpi_loss
 *
 * The counters of a CPU that is sampling change while they are read. At rest (after DCPI_IOC_STOP)
 * they satisfy the identities above exactly, with @second on the right of the first. In addition,
 * @interrupts = @hits + @misses + @direct + @second + samples lost in the handler.
 * @hits, @misses and @direct count samples only; @evictions, @flips and @delivered_entries count
 * entries, edges included.
 * Errors: -EINVAL no such CPU, -ENXIO never started since the module was
 * loaded.
 */
struct dcpi_stats {
	__u32 cpu;
	__u32 online;
	__u64 interrupts;
	__u64 hits;
	__u64 misses;
	__u64 evictions;
	__u64 direct;
	__u64 flips;
	__u64 delivered;
	__u64 delivered_entries;
	__u64 pending;
	__u64 period_sum;
	__u64 second;
	__u64 branches_tried;
	__u64 edges;
	__u64 edges_lost;
	__u64 delivered_edges;
	__u64 pending_edges;
	__u64 losses[DCPI_LOSS_NR];
};

/**
 * struct dcpi_event_stats - DCPI_IOC_EVENT_STATS, one event on one CPU
 * @cpu:        in: which CPU
 * @event:      in: which event
 * @interrupts: overflow interrupts of this event
 * @period_sum: sum of the periods drawn
 * @enabled_ns: time that the event was to be counted
 * @running_ns: time that the event was on a counter; less than @enabled_ns if perf rotates
 *              events. Totals are scaled by @enabled_ns / @running_ns.
 *
 * Errors: -EINVAL no such CPU or event, -ENXIO never started.
 */
struct dcpi_event_stats {
	__u32 cpu;
	__u32 event;
	__u64 interrupts;
	__u64 period_sum;
	__u64 enabled_ns;
	__u64 running_ns;
};

/**
 * struct dcpi_times - DCPI_IOC_TIMES, time spent in one CPU's handler
 * @cpu:      in: which CPU
 * @reserved: zero
 * @hit:      samples that hit, by time: element i counts those of
 *            [2^i, 2^(i+1)) ns, element 0 also those below 1 ns, the last also
 *            all longer ones
 * @miss:     the same for all other interrupts: direct and lost samples, second interrupts
 * @hit_ns:   total time of the samples in @hit
 * @miss_ns:  total time of the interrupts in @miss
 *
 * All zero without DCPI_START_TIMES. Errors: as DCPI_IOC_STATS.
 */
#define DCPI_TIME_BUCKETS 24
struct dcpi_times {
	__u32 cpu;
	__u32 reserved;
	__u64 hit[DCPI_TIME_BUCKETS];
	__u64 miss[DCPI_TIME_BUCKETS];
	__u64 hit_ns;
	__u64 miss_ns;
};

/*
 * The overflow buffers can be mapped, read-only, instead of copied from. mmap() with offset
 * DCPI_MMAP_OFFSET(cpu) and a length of at most both buffers rounded up to pages maps those of a
 * CPU, one after the other. DCPI_IOC_TAKE then returns the entries to read, and DCPI_IOC_RELEASE
 * gives the buffer back. When sampling starts again, a mapping stays accessible but is no longer
 * updated; it must then be made again. Errors of mmap(): -EINVAL no such CPU, too long, or not at a
 * CPU's beginning; -EACCES writable; -ENXIO not started, or the CPU was never sampled.
 */
#define DCPI_MMAP_SHIFT 32
#define DCPI_MMAP_OFFSET(cpu) ((__u64)(cpu) << DCPI_MMAP_SHIFT)

/**
 * struct dcpi_take - DCPI_IOC_TAKE, look at a full buffer
 * @cpu:    in: the CPU that owns the buffer
 * @flags:  in: zero
 * @first:  out: first entry, counted from the start of the mapping
 * @count:  out: number of entries; 0 if no buffer is full
 *
 * The same buffer is given until it is released, or drained. Errors: -EINVAL no such CPU,
 * unknown flag; -ENXIO as DCPI_IOC_DRAIN.
 */
struct dcpi_take {
	__u32 cpu;
	__u32 flags;
	__u32 first;
	__u32 count;
};

/**
 * struct dcpi_process - DCPI_IOC_PROCESS
 * @pid:        in: process id, as in dcpi_sample
 * @generation: out: its current exec generation
 *
 * @pid is always a process id of the initial PID namespace, also for callers in other namespaces.
 *
 * Used for processes that were running before the reader began to follow exec calls. Errors: -ESRCH
 * no such process.
 */
struct dcpi_process {
	__u32 pid;
	__u32 generation;
};

/* Room for snapshots of each CPU. */
#define DCPI_SNAPSHOTS_MAX 128

/**
 * struct dcpi_snapshots - DCPI_IOC_SNAPSHOTS, move a CPU's snapshots to the reader
 * @cpu:       in: which CPU
 * @capacity:  in: length of the array @snapshots in elements; 0: only read the counts
 * @snapshots: in: user address of an array of struct dcpi_snapshot
 * @count:     out: elements written, the oldest first; never more than DCPI_SNAPSHOTS_MAX at a
 *             time, unless more are written meanwhile
 * @waiting:   out: pairs that wait for their second snapshot
 * @begun:     out: pairs begun since DCPI_IOC_START
 * @ended:     out: pairs without a second snapshot, because the procedure's activation has ended
 * @expired:   out: the same, because it was not sampled again for long
 * @missed:    out: snapshots that found no room or no reader. A first snapshot without room begins
 *             no pair
 * @missed_second: out: pairs whose second snapshot found no room
 *
 * At rest, @begun = @waiting + @ended + @expired + @missed_second + second snapshots written.
 * poll() reports half a ring of snapshots like a full buffer. Errors: -EINVAL no such CPU; -ENXIO
 * never started since the module was loaded; -EFAULT: snapshots that were copied are gone.
 */
struct dcpi_snapshots {
	__u32 cpu;
	__u32 capacity;
	__u64 snapshots;
	__u32 count;
	__u32 reserved;
	__u64 waiting;
	__u64 begun;
	__u64 ended;
	__u64 expired;
	__u64 missed;
	__u64 missed_second;
};

#define DCPI_IOC_MAGIC 0xdc
#define DCPI_IOC_VERSION _IOR(DCPI_IOC_MAGIC, 0, struct dcpi_version)
#define DCPI_IOC_START _IOW(DCPI_IOC_MAGIC, 1, struct dcpi_config)
/* Stops the counters; samples stay to be drained. Never fails, idempotent. */
#define DCPI_IOC_STOP _IO(DCPI_IOC_MAGIC, 2)
#define DCPI_IOC_DRAIN _IOWR(DCPI_IOC_MAGIC, 3, struct dcpi_drain)
#define DCPI_IOC_STATS _IOWR(DCPI_IOC_MAGIC, 4, struct dcpi_stats)
#define DCPI_IOC_PROCESS _IOWR(DCPI_IOC_MAGIC, 5, struct dcpi_process)
#define DCPI_IOC_EVENT_STATS _IOWR(DCPI_IOC_MAGIC, 6, struct dcpi_event_stats)
#define DCPI_IOC_TIMES _IOWR(DCPI_IOC_MAGIC, 7, struct dcpi_times)
#define DCPI_IOC_TAKE _IOWR(DCPI_IOC_MAGIC, 8, struct dcpi_take)
/* The buffer that DCPI_IOC_TAKE gave counts as delivered; -EAGAIN: none was taken. */
#define DCPI_IOC_RELEASE _IOW(DCPI_IOC_MAGIC, 9, __u32)
#define DCPI_IOC_SNAPSHOTS _IOWR(DCPI_IOC_MAGIC, 10, struct dcpi_snapshots)

#endif
