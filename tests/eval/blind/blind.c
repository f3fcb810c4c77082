// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends exactly three tenths of its time with interrupts disabled, in a separate procedure, so
 * that a profile can be compared with the known shares:
 *
 *	blind_off	interrupts are disabled: 3 parts
 *	blind_enable	enables them again: two instructions
 *	blind_on	interrupts are enabled: 7 parts, of the same loop
 *
 *	echo "OFF_NS ROUNDS" > /sys/module/blind/parameters/run
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

/* Seven thirds of the maximum must be far below the time limit of a watchdog. */
#define OFF_NS_MAX 10000000UL
#define CALIBRATION_TURNS 1000000UL

/* Time of an iteration of the loop on this machine. */
static unsigned long turn_ps;

static __always_inline void spin(unsigned long turns)
{
	while (turns--)
		barrier();
}

/* noipa: otherwise the compiler merges identical functions. */
static __attribute__((__noipa__)) void blind_off(unsigned long turns)
{
	spin(turns);
}

static __attribute__((__noipa__)) void blind_enable(void)
{
	local_irq_enable();
}

static __attribute__((__noipa__)) void blind_on(unsigned long turns)
{
	spin(turns);
}

static void calibrate(void)
{
	u64 begin;

	local_irq_disable();
	begin = ktime_get_mono_fast_ns();
	blind_off(CALIBRATION_TURNS);
	turn_ps = div_u64((ktime_get_mono_fast_ns() - begin) * 1000, CALIBRATION_TURNS);
	local_irq_enable();
}

static int run_set(const char *value, const struct kernel_param *param)
{
	unsigned long off_ns, rounds, third;

	if (sscanf(value, "%lu %lu", &off_ns, &rounds) != 2 || off_ns > OFF_NS_MAX)
		return -EINVAL;
	third = off_ns * 1000 / turn_ps / 3;
	while (rounds--) {
		local_irq_disable();
		blind_off(3 * third);
		blind_enable();
		blind_on(7 * third);
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops run_ops = {.set = run_set};

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "OFF_NS ROUNDS: how long interrupts are off at a time, how often");

static int __init blind_init(void)
{
	calibrate();
	return turn_ps ? 0 : -ERANGE;
}

static void __exit blind_exit(void)
{
}

module_init(blind_init);
module_exit(blind_exit);
MODULE_DESCRIPTION("Time with interrupts off");
MODULE_LICENSE("GPL v2");
