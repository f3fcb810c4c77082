// SPDX-License-Identifier: GPL-2.0-only
#include "examine.h"

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#include "branch.h"
#include "core/interpret.h"
#include "core/sample_pairing.h"
#include "interrupted.h"
#include "sampler_cpu.h"

/**
 * struct examination - the examined samples of an event on a CPU
 * @every:    one in @every samples is examined
 * @rest:     samples until the next one, as of the last call
 * @step:     samples until the next call, as of the last call
 * @series:   number of the last pair
 * @pairing:  state of the pairing
 * @outcomes: ends of pairings, by enum sample_pairing_outcome
 * @counts:   without those of @outcomes
 *
 * Accessed by the handler of one event on one CPU, which does not nest. In allocated memory,
 * because that for the per-CPU variables of modules is scarce.
 */
struct examination {
	u32 every;
	u32 rest;
	u32 step;
	u32 series;
	struct sample_pairing pairing;
	u64 outcomes[SAMPLE_PAIRING_OUTCOMES];
	struct examine_counts counts;
};

int examine_allocate(unsigned int cpu, struct sampler_cpu *sampled, u32 every)
{
	struct examination *all =
		kvzalloc_node(DCPI_EVENTS_MAX * sizeof(*all), GFP_KERNEL, cpu_to_node((int)cpu));
	u32 i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		all[i].every = all[i].rest = all[i].step = every;
		sampled->event[i].until_examined = every;
		sampled->event[i].examination = &all[i];
	}
	return 0;
}

void examine_release(struct sampler_cpu *sampled)
{
	struct examination *all = sampled->event[0].examination;
	u32 i;

	sampled->examined = examine_count(sampled);
	for (i = 0; i < DCPI_EVENTS_MAX; i++)
		sampled->event[i].examination = NULL;
	kvfree(all);
}

static void snapshot_fill(struct dcpi_snapshot *snapshot, const struct sampler_event *event,
			  const struct interpret_state *state)
{
	memset(snapshot, 0, offsetof(struct dcpi_snapshot, registers));
	snapshot->pid = (u32)current->tgid;
	snapshot->tid = (u32)current->pid;
	snapshot->generation = (u32)current->self_exec_id;
	snapshot->cpu = raw_smp_processor_id();
	snapshot->event = dcpi_tag_event(event->tag);
	snapshot->series = event->examination->series;
	snapshot->time_ns = ktime_get_mono_fast_ns();
	snapshot->migrations = current->se.nr_migrations;
	snapshot->pc = state->pc;
	snapshot->flags = state->flags;
	snapshot->flags_known = state->flags_known;
	snapshot->known = state->known;
	static_assert(sizeof(snapshot->registers) == sizeof(state->reg));
	memcpy(snapshot->registers, state->reg, sizeof(snapshot->registers));
}

/* Return true if there was room. */
static bool snapshot_write(struct sampler_event *event, const struct interpret_state *state,
			   enum dcpi_snapshot_kind kind, unsigned int *result)
{
	struct snapshot_ring *ring = &event->cpu->snapshots;
	struct dcpi_snapshot *snapshot = snapshot_ring_begin(ring);

	if (!snapshot)
		return false;
	snapshot_fill(snapshot, event, state);
	snapshot->kind = kind;
	snapshot->samples = event->examination->pairing.samples;
	if (snapshot_ring_end(ring))
		*result |= SAMPLE_WAKE;
	return true;
}

/* Return true if the interrupt struck 64-bit code in user mode, whose registers are then set. */
static bool user_registers(struct pt_regs *regs, struct interpret_state *state)
{
	struct interrupted interrupted;

	return user_mode(regs) && interrupted_init(&interrupted, regs) &&
	       interrupted_registers(regs, state);
}

static unsigned int pair_begin(struct sampler_event *event, struct pt_regs *regs, u64 thread)
{
	struct examination *examination = event->examination;
	struct interpret_state state;
	unsigned int result = 0;

	examination->series++;
	examination->pairing.thread = 0;
	if (!user_registers(regs, &state))
		return 0;
	if (!snapshot_write(event, &state, DCPI_SNAPSHOT_FIRST, &result)) {
		examination->counts.missed++;
		return 0;
	}
	examination->counts.begun++;
	sample_pairing_begin(&examination->pairing, thread, state.pc, user_stack_pointer(regs));
	return result;
}

static unsigned int pair_end(struct sampler_event *event, struct pt_regs *regs)
{
	struct interpret_state state;
	unsigned int result = 0;

	if (!user_registers(regs, &state) ||
	    !snapshot_write(event, &state, DCPI_SNAPSHOT_SECOND, &result))
		event->examination->counts.missed_second++;
	return result;
}

static unsigned int pair_step(struct sampler_event *event, struct pt_regs *regs, u64 process)
{
	struct examination *examination = event->examination;
	u64 thread = sample_pairing_thread(process, (u32)current->pid);
	enum sample_pairing_outcome outcome =
		sample_pairing_step(&examination->pairing, thread, user_mode(regs),
				    instruction_pointer(regs), user_stack_pointer(regs));

	examination->outcomes[outcome]++;
	switch (outcome) {
	case SAMPLE_PAIRING_BEGINS:
		return pair_begin(event, regs, thread);
	case SAMPLE_PAIRING_MATCHED:
		return pair_end(event, regs);
	default:
		return 0;
	}
}

unsigned int examine(struct sampler_event *event, struct pt_regs *regs, u64 process)
{
	struct examination *examination = event->examination;
	struct sample_pairing *pairing = &examination->pairing;
	unsigned int result = 0;
	bool due;

	examination->rest -= examination->step;
	due = examination->rest == 0;
	if (due)
		examination->rest = examination->every;
	if (!sample_pairing_is_idle(pairing))
		result |= pair_step(event, regs, process);
	if (due && event->whole_registers) {
		examination->counts.examined++;
		result |= branch_count(&event->cpu->store, regs, process);
		if (sample_pairing_is_idle(pairing) && event->cpu->snapshots.slots)
			sample_pairing_arm(pairing);
	}
	examination->step = sample_pairing_is_idle(pairing) ? examination->rest : 1;
	event->until_examined = examination->step;
	return result;
}

struct examine_counts examine_count(const struct sampler_cpu *sampled)
{
	struct examine_counts sum = sampled->examined;
	u32 i;

	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		const struct examination *examination = sampled->event[i].examination;

		if (!examination)
			continue;
		sum.examined += examination->counts.examined;
		sum.begun += examination->counts.begun;
		sum.waiting += sample_pairing_has_begun(&examination->pairing);
		sum.ended += examination->outcomes[SAMPLE_PAIRING_ENDED];
		sum.expired += examination->outcomes[SAMPLE_PAIRING_EXPIRED];
		sum.missed += examination->counts.missed;
		sum.missed_second += examination->counts.missed_second;
	}
	return sum;
}
