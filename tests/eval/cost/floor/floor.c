// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a sample before any profiler does anything. As long as this module is loaded, every
 * CPU takes overflow interrupts of its cycle counter, through the kernel's perf core, with a
 * handler that does nothing.
 *
 *	insmod floor.ko [period=62000]
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

static unsigned long period = 62000;
module_param(period, ulong, 0444);
MODULE_PARM_DESC(period, "cycles from one interrupt to the next");

static DEFINE_PER_CPU(struct perf_event *, counters);

static void overflow(struct perf_event *counter, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
}

static void counters_release(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		if (per_cpu(counters, cpu))
			perf_event_release_kernel(per_cpu(counters, cpu));
	}
}

static int __init floor_init(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = period,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	struct perf_event *counter;
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		counter = perf_event_create_kernel_counter(&attr, (int)cpu, NULL, overflow, NULL);
		if (IS_ERR(counter)) {
			counters_release();
			return (int)PTR_ERR(counter);
		}
		per_cpu(counters, cpu) = counter;
	}
	return 0;
}

static void __exit floor_exit(void)
{
	counters_release();
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_DESCRIPTION("Overflow interrupts and nothing else");
MODULE_LICENSE("GPL v2");
