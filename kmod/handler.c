// SPDX-License-Identifier: GPL-2.0-only
#include "handler.h"

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "examine.h"
#include "sampler_cpu.h"

/*
 * A counter that perf rotates is off for at least a millisecond. So if the two interrupts of a pair
 * are closer than this limit, all events between them were counted.
 */
#define DOUBLE_PAIR_NS 500000

/* The PID in the initial PID namespace and the kernel's exec count: two loads. */
static __always_inline u64 process_tag(void)
{
	return dcpi_tag((u32)current->tgid, (u32)current->self_exec_id, 0);
}

/*
 * Modify only fields that are updated atomically, because the interrupted handler may be in the
 * middle of changing the others. The current period is kept, unless it is a short one.
 */
static noinline unsigned int refuse(struct sampler_event *event, struct perf_event *counter)
{
	local_inc(&event->refused);
	counter->hw.sample_period = max_t(u64, counter->hw.sample_period, event->period.min);
	return sample_store_refused(&event->cpu->store);
}

/*
 * Double samples are planned one period ahead. armv8pmu_handle_irq() and x86_pmu_handle_irq()
 * program hw.sample_period as the period that runs now, and save it in hw.last_period, before they
 * call the handler. The value that the handler writes to hw.sample_period becomes the period after
 * that. So the handler sees in hw.last_period that a short period has begun, and records the
 * interrupted PC. Its next call is then for the second interrupt. It never requests two short
 * periods in a row.
 *
 * Return: the period to run after the current one.
 */
static __always_inline u64 double_plan(struct sampler_double *twice,
				       const struct perf_event *counter, u64 drawn)
{
	twice->running = (u64)counter->hw.last_period == twice->period;
	if (twice->running || --twice->left != 0)
		return drawn;
	twice->left = twice->every;
	return twice->period;
}

/* Called when a short period has begun. */
static void double_begin(struct sampler_double *twice, struct pt_regs *regs, u64 process)
{
	twice->task = user_mode(regs) ? current : NULL;
	twice->pc = instruction_pointer(regs);
	twice->process = process;
	twice->time_ns = ktime_get_mono_fast_ns();
}

/*
 * A pair counts if one thread was in user mode at both ends and no counter was
 * rescheduled in between. The kernel may have run meanwhile (the return from
 * the first interrupt always does), but its events were not counted.
 */
static unsigned int double_end(struct sampler_cpu *cpu, struct pt_regs *regs, u64 process)
{
	const struct sampler_double *twice = &cpu->twice;

	if (twice->task != current || twice->process != process || !user_mode(regs) ||
	    ktime_get_mono_fast_ns() - twice->time_ns > DOUBLE_PAIR_NS)
		return 0;
	return sample_store_count_edge(&cpu->store, twice->pc, instruction_pointer(regs),
				       process | dcpi_tag(0, 0, DCPI_EVENT_DOUBLE)) &
	       SAMPLE_WAKE;
}

static __always_inline bool examine_due(struct sampler_event *event)
{
	return unlikely(--event->until_examined == 0);
}

/* The clock is not strictly monotonic in NMIs: count a negative time as zero. */
static void time_count(struct sampler_cpu *cpu, unsigned int result, u64 begin)
{
	int kind = (result & ~SAMPLE_WAKE) == SAMPLE_HIT ? SAMPLER_TIME_HIT : SAMPLER_TIME_MISS;
	s64 ns = max_t(s64, (s64)(ktime_get_mono_fast_ns() - begin), 0);
	int bucket = clamp(fls64((u64)ns) - 1, 0, DCPI_TIME_BUCKETS - 1);

	local_inc(&cpu->times.count[kind][bucket]);
	local_add((long)ns, &cpu->times.sum_ns[kind]);
}

/*
 * Straight-line code for everything that a hit in the first way needs. @branches: with
 * DCPI_START_BRANCHES
 */
static __always_inline void handle_straight(struct perf_event *counter, struct pt_regs *regs,
					    const bool branches)
{
	struct sampler_event *event = counter->overflow_handler_context;
	struct sampler_cpu *cpu = event->cpu;
	struct sample_bucket *bucket;
	unsigned int result = 0;
	u64 period, pc, tag;
	bool due;

	if (unlikely(!sample_store_enter(&cpu->store))) {
		result = refuse(event, counter);
		goto out;
	}
	pc = instruction_pointer(regs);
	tag = event->tag | process_tag();
	period = period_next(&event->period);
	event->interrupts++;
	event->period_sum += period;
	counter->hw.sample_period = period;
	due = branches && examine_due(event);
	bucket = sample_store_bucket(&cpu->store, pc, tag);
	if (likely(sample_store_count_front(&cpu->store, bucket, pc, tag))) {
		sample_store_leave(&cpu->store);
		if (likely(!due))
			return;
	} else {
		result = sample_store_count_slow(&cpu->store, bucket, pc, tag);
		sample_store_leave(&cpu->store);
	}
	if (due)
		result |= examine(event, regs, process_tag());
out:
	if (unlikely(result & SAMPLE_WAKE))
		irq_work_queue(&cpu->wake);
}

static void handler_plain(struct perf_event *counter, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	handle_straight(counter, regs, false);
}

static void handler_branches(struct perf_event *counter, struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	handle_straight(counter, regs, true);
}

/* Handle an overflow with any combination of flags. */
static __always_inline void handle(struct perf_event *counter, struct pt_regs *regs,
				   const u32 flags)
{
	struct sampler_event *event = counter->overflow_handler_context;
	struct sampler_cpu *cpu = event->cpu;
	u64 begin = flags & DCPI_START_TIMES ? ktime_get_mono_fast_ns() : 0;
	bool first_event = flags & DCPI_START_DOUBLE && event == cpu->event;
	bool second = first_event && cpu->twice.running, due = false;
	u64 period, process = process_tag();
	unsigned int result;

	if (likely(sample_store_enter(&cpu->store))) {
		period = period_next(&event->period);
		if (first_event)
			period = double_plan(&cpu->twice, counter, period);
		event->interrupts++;
		event->period_sum += period;
		counter->hw.sample_period = period;
		if (second) {
			cpu->twice.second++;
			result = SAMPLE_DIRECT;
		} else {
			result = sample_store_count_entered(&cpu->store, instruction_pointer(regs),
							    event->tag | process);
			if (flags & DCPI_START_BRANCHES)
				due = examine_due(event);
		}
		sample_store_leave(&cpu->store);
		if (second)
			result |= double_end(cpu, regs, process);
		if (first_event && cpu->twice.running)
			double_begin(&cpu->twice, regs, process);
	} else {
		result = refuse(event, counter);
		if (first_event)
			cpu->twice.running = false;
	}
	if (due)
		result |= examine(event, regs, process);
	if (unlikely(result & SAMPLE_WAKE))
		irq_work_queue(&cpu->wake);
	if (flags & DCPI_START_TIMES)
		time_count(cpu, result, begin);
}

#define HANDLER(name, flags)                                                                       \
	static void handler_##name(struct perf_event *counter, struct perf_sample_data *data,      \
				   struct pt_regs *regs)                                           \
	{                                                                                          \
		handle(counter, regs, flags);                                                      \
	}

HANDLER(times, DCPI_START_TIMES)
HANDLER(times_branches, DCPI_START_TIMES | DCPI_START_BRANCHES)
HANDLER(double, DCPI_START_DOUBLE)
HANDLER(times_double, DCPI_START_TIMES | DCPI_START_DOUBLE)
HANDLER(branches_double, DCPI_START_BRANCHES | DCPI_START_DOUBLE)
HANDLER(times_branches_double, DCPI_START_TIMES | DCPI_START_BRANCHES | DCPI_START_DOUBLE)

perf_overflow_handler_t handler_choose(u32 flags)
{
	static const perf_overflow_handler_t handlers[] = {
		[0] = handler_plain,
		[DCPI_START_TIMES] = handler_times,
		[DCPI_START_BRANCHES] = handler_branches,
		[DCPI_START_TIMES | DCPI_START_BRANCHES] = handler_times_branches,
		[DCPI_START_DOUBLE] = handler_double,
		[DCPI_START_TIMES | DCPI_START_DOUBLE] = handler_times_double,
		[DCPI_START_BRANCHES | DCPI_START_DOUBLE] = handler_branches_double,
		[DCPI_START_TIMES | DCPI_START_BRANCHES | DCPI_START_DOUBLE] =
			handler_times_branches_double,
	};

	static_assert((DCPI_START_TIMES | DCPI_START_BRANCHES | DCPI_START_DOUBLE) + 1 ==
		      ARRAY_SIZE(handlers));
	return handlers[flags % ARRAY_SIZE(handlers)];
}
