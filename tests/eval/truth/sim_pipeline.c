// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_pipeline.h"

#define INSN_BYTES 4

int sim_pipeline_init(struct sim_pipeline *pipeline, const struct sim_machine *machine,
		      struct sim_samplers *samplers)
{
	int r;

	*pipeline = (struct sim_pipeline){
		.machine = *machine,
		.samplers = samplers,
		.random = 88172645463325252,
		.group = UINT64_MAX,
	};
	r = sim_memory_init(&pipeline->memory, &pipeline->machine);
	if (r != 0)
		return r;
	sim_fetch_init(&pipeline->fetch, &pipeline->machine, &pipeline->memory);
	r = sim_predictor_init(&pipeline->predictor, &pipeline->machine);
	if (r != 0)
		sim_memory_deinit(&pipeline->memory);
	return r;
}

/* Delay the issue until cycle @until, because of @cause */
static inline void hold(struct sim_pipeline *p, uint64_t until, enum sim_cause cause)
{
	if (until <= p->at)
		return;
	p->at = until;
	if (until > p->now + 1 && p->delay_count < SIM_DELAYS)
		p->delays[p->delay_count++] = (struct sim_delay){until, (uint8_t)cause};
}

static void hold_fetch(struct sim_pipeline *p, struct sim_insn *insn)
{
	uint32_t i;

	sim_fetch_insn(&p->fetch, insn, p->now);
	for (i = 0; i < p->fetch.delay_count; i++)
		hold(p, p->fetch.delays[i].until, p->fetch.delays[i].cause);
	hold(p, p->fetch.ready, SIM_CAUSE_FETCH);
}

/* @later: cycles by which the operand is needed later, relative to the issue of the instruction */
static void hold_register(struct sim_pipeline *p, const struct sim_register *r, int64_t later,
			  enum sim_cause operand)
{
	int64_t fixed = (int64_t)r->fixed - later, middle = (int64_t)r->middle - later;
	int64_t ready = (int64_t)r->ready - later;

	if (ready <= (int64_t)p->at)
		return;
	if (fixed > 0)
		hold(p, (uint64_t)fixed, operand);
	if (middle > 0)
		hold(p, (uint64_t)middle, r->causes[0]);
	hold(p, (uint64_t)ready, r->causes[1]);
}

static bool tests_quickly(const struct sim_op *op, int source)
{
	return op->kind == SIM_BRANCH || (op->kind == SIM_CMOV && source == 0);
}

static int32_t early_of(const struct sim_pipeline *p, const struct sim_op *op, int source)
{
	const struct sim_register *r = &p->registers[op->sources[source]];
	int32_t early = p->machine.needs[op->needs[source]];

	if (op->sources[source] >= SIM_REG_FP || r->ready == 0)
		return 0;
	return r->loaded && early > 1 ? early - 1 : early;
}

static void hold_operands(struct sim_pipeline *p, const struct sim_op *op)
{
	static const uint8_t names[] = {SIM_CAUSE_RA, SIM_CAUSE_RB, SIM_CAUSE_RC, SIM_CAUSE_RC};
	int64_t when = 0, last_early = 0;
	int i, which = -1;

	for (i = 0; i < SIM_SOURCES; i++) {
		const struct sim_register *r = &p->registers[op->sources[i]];
		int32_t early = early_of(p, op, i);
		int64_t ready = (int64_t)r->ready + early;

		if (ready <= when || (tests_quickly(op, i) && r->quick <= p->at))
			continue;
		when = ready;
		last_early = early;
		which = i;
	}
	if (which >= 0)
		hold_register(p, &p->registers[op->sources[which]], -last_early, names[which]);
	/* Results are written in order, too. */
	for (i = 0; i < op->target_count; i++)
		hold_register(p, &p->registers[op->targets[i]], p->machine.latency[op->kind],
			      SIM_CAUSE_RC);
}

static enum sim_unit unit_of(uint8_t kind)
{
	switch (kind) {
	case SIM_MUL32:
	case SIM_MUL64:
	case SIM_MULH:
		return SIM_UNIT_MULTIPLY;
	case SIM_DIV32:
	case SIM_DIV64:
		return SIM_UNIT_DIVIDE;
	case SIM_FP_DIV32:
	case SIM_FP_DIV64:
		return SIM_UNIT_FP_DIVIDE;
	default:
		return SIM_UNIT_NONE;
	}
}

static enum sim_cause unit_cause(enum sim_unit unit)
{
	return unit == SIM_UNIT_FP_DIVIDE ? SIM_CAUSE_FDIV : SIM_CAUSE_IMUL;
}

static bool loads(uint8_t kind)
{
	return kind == SIM_LOAD || kind == SIM_FP_LOAD || kind == SIM_LOCKED_LOAD;
}

static bool stores(uint8_t kind)
{
	return kind == SIM_STORE || kind == SIM_FP_STORE || kind == SIM_CONDITIONAL_STORE;
}

/*
 * Sets of used pipes, as bits of a set of sets. Return all sets that are possible after one more
 * instruction, which can use any of @pipes.
 */
static uint64_t reach_with(uint64_t reach, uint32_t pipes)
{
	static const uint64_t without[SIM_PIPES] = {
		0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
		0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff,
	};
	uint64_t more = 0;
	unsigned int pipe;

	if (pipes == 0)
		return reach;
	for (pipe = 0; pipe < SIM_PIPES; pipe++) {
		if (pipes >> pipe & 1)
			more |= (reach & without[pipe]) << (1U << pipe);
	}
	return more;
}

/*
 * Return true if the instruction can issue together with those before it. On machines that issue
 * code in aligned groups, pipes are assigned to a whole group first. An instruction without a pipe
 * must wait until all before it have issued, even if they issued one by one.
 */
static bool fits(struct sim_pipeline *p, const struct sim_insn *insn, bool *slotted)
{
	const struct sim_machine *m = &p->machine;
	uint64_t reach = 0;

	if (p->issued >= m->width || (m->group_bytes && insn->pc / m->group_bytes != p->group))
		return false;
	if (!(p->stored && loads(insn->op.kind)) && !(p->loaded && stores(insn->op.kind)))
		reach = reach_with(p->reach, m->pipes[insn->op.kind]);
	*slotted = reach == 0 && p->at == p->now;
	if (reach == 0)
		return false;
	p->reach = reach;
	return true;
}

static void hold_translation(struct sim_pipeline *p, struct sim_insn *insn,
			     const struct sim_access *accesses, uint32_t count, uint64_t *walked)
{
	uint32_t i;

	hold(p, p->memory_free, SIM_CAUSE_DTB);
	for (i = 0; i < count; i++) {
		if (sim_tlb_access(&p->memory.dtb, accesses[i].address))
			continue;
		insn->events[SIM_EVENT_DTB_MISS]++;
		if (p->machine.dtb_traps) {
			/* It was about to issue, and issues again after the trap. */
			if (p->at == p->now)
				hold(p, p->now + 1, SIM_CAUSE_DTB);
			hold(p, p->at + p->machine.dtb_cycles, SIM_CAUSE_DTB);
		} else {
			*walked += p->machine.dtb_cycles;
		}
	}
}

static void hold_memory(struct sim_pipeline *p, struct sim_insn *insn,
			const struct sim_access *accesses, uint32_t count)
{
	uint32_t i;

	if (insn->op.kind == SIM_BARRIER) {
		hold(p, sim_write_buffer_empty_at(&p->memory.writes, p->at), SIM_CAUSE_SYNC);
	} else if (loads(insn->op.kind)) {
		for (i = 0; i < count; i++) {
			if (!sim_memory_hits(&p->memory, accesses[i].address))
				hold(p, sim_memory_miss_free_at(&p->memory, p->at),
				     SIM_CAUSE_DCACHE);
		}
	} else if (stores(insn->op.kind)) {
		for (i = 0; i < count; i++)
			hold(p, sim_memory_store_at(&p->memory, accesses[i].address, p->at),
			     SIM_CAUSE_WRITE_BUFFER);
	}
}

/* Compute the cycle when the result of a load is available, and the causes of its delay */
static void load_result(struct sim_pipeline *p, struct sim_insn *insn, struct sim_register *r,
			const struct sim_access *accesses, uint32_t count)
{
	bool missed = false;
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint64_t ready =
			sim_memory_load(&p->memory, accesses[i].address, r->middle, &missed);

		if (ready > r->ready)
			r->ready = ready;
	}
	if (missed)
		insn->events[SIM_EVENT_DMISS]++;
	r->causes[0] = SIM_CAUSE_DTB;
	r->causes[1] = SIM_CAUSE_DCACHE;
}

static uint64_t draw(struct sim_pipeline *p, uint32_t below)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random % below;
}

/* The time of a division depends on its operands, which the simulator does not know: draw it. */
static uint32_t extra_cycles(struct sim_pipeline *p, uint8_t kind)
{
	uint32_t least = p->machine.latency[kind], most = p->machine.latency_max[kind];

	return most > least ? (uint32_t)draw(p, most - least + 1) : 0;
}

/* A base register that the access updates comes from the adder, not from memory. */
static void base_moves(struct sim_pipeline *p, const struct sim_op *op)
{
	uint64_t next = p->at + 1;
	uint8_t last;

	if (op->target_count == 0)
		return;
	last = op->targets[op->target_count - 1];
	if (last != op->sources[1])
		return;
	if (op->kind == SIM_STORE || op->kind == SIM_FP_STORE ||
	    (loads(op->kind) && op->target_count > 1))
		p->registers[last] = (struct sim_register){next, next, next, next, {0}, false};
}

static void result(struct sim_pipeline *p, struct sim_insn *insn, const struct sim_access *accesses,
		   uint32_t count, uint64_t walked)
{
	const struct sim_op *op = &insn->op;
	enum sim_unit unit = unit_of(op->kind);
	struct sim_register r = {.fixed = p->at + p->machine.latency[op->kind]};
	int i;

	r.middle = r.ready = r.fixed + walked;
	if (loads(op->kind) || op->kind == SIM_PREFETCH) {
		load_result(p, insn, &r, accesses, count);
	} else if (stores(op->kind)) {
		for (uint32_t k = 0; k < count; k++)
			sim_memory_store(&p->memory, accesses[k].address, p->at);
		p->stores[p->at % SIM_RECENT] = p->at;
	} else if (unit != SIM_UNIT_NONE) {
		r.middle = r.ready = r.fixed + extra_cycles(p, op->kind);
		r.causes[0] = r.causes[1] = (uint8_t)unit_cause(unit);
		p->unit_free[unit] =
			unit == SIM_UNIT_MULTIPLY ? p->at + p->machine.busy[op->kind] : r.ready;
	}
	r.loaded = loads(op->kind);
	if (op->wide)
		p->port_free = p->at + 2;
	r.quick = op->kind == SIM_LOGIC ? p->at : r.ready;
	if (walked > 0)
		p->memory_free = p->at + 1 + walked;
	if (op->kind >= SIM_FP_ADD && r.ready > p->arithmetic_done)
		p->arithmetic_done = r.ready;
	for (i = 0; i < op->target_count; i++)
		p->registers[op->targets[i]] = r;
	base_moves(p, op);
}

static void control(struct sim_pipeline *p, struct sim_insn *insn, uint64_t next)
{
	if (insn->op.flow == SIM_NEXT)
		return;
	if (insn->op.flow == SIM_TRAP) {
		sim_fetch_restart(&p->fetch, p->at + 1 + p->machine.system, SIM_CAUSE_OTHER);
	} else if (!sim_predictor_foresees(&p->predictor, insn, next)) {
		insn->events[SIM_EVENT_BRANCH_MISS]++;
		sim_fetch_restart(&p->fetch, p->at + 1 + p->machine.mispredict, SIM_CAUSE_BRANCH);
	}
	if (next != insn->pc + INSN_BYTES) {
		sim_fetch_taken(&p->fetch);
		if (p->machine.group_bytes)
			p->group = UINT64_MAX;
	}
}

/* Charge the cycles since the last issue to this instruction. */
static void charge(struct sim_pipeline *p, struct sim_insn *insn, bool slotted)
{
	uint64_t cycle = p->now + 1;
	uint32_t i;

	if (p->at == p->now)
		return;
	for (i = 0; i < p->delay_count; i++) {
		if (p->delays[i].until > cycle) {
			insn->cycles[p->delays[i].cause] += p->delays[i].until - cycle;
			cycle = p->delays[i].until;
		}
	}
	insn->cycles[slotted && p->at == p->now + 1 ? SIM_CAUSE_SLOT : SIM_CAUSE_ISSUE]++;
	if (p->at >= p->samplers->next)
		sim_samplers_take(p->samplers, insn, p->at);
}

static void issue(struct sim_pipeline *p, const struct sim_insn *insn, bool fit)
{
	if (!fit || (p->at != p->now && p->machine.group_bytes == 0)) {
		p->issued = 0;
		p->reach = reach_with(1, p->machine.pipes[insn->op.kind]);
		p->group = p->machine.group_bytes ? insn->pc / p->machine.group_bytes : 0;
		p->loaded = p->stored = false;
	}
	p->now = p->at;
	p->issued++;
	p->loaded |= loads(insn->op.kind);
	p->stored |= stores(insn->op.kind);
}

/* Return true if a store issued machine.store_load cycles ago, so that no load can issue now. */
static bool behind_store(const struct sim_pipeline *p)
{
	uint64_t distance = p->machine.store_load;

	return distance > 0 && p->at > distance &&
	       p->stores[(p->at - distance) % SIM_RECENT] == p->at - distance;
}

void sim_pipeline_step(struct sim_pipeline *p, struct sim_insn *insn, uint64_t next,
		       const struct sim_access *accesses, uint32_t count)
{
	const struct sim_op *op = &insn->op;
	enum sim_unit unit = unit_of(op->kind);
	bool slotted = false, fit;
	uint64_t walked = 0;

	if (p->samplers->late_any)
		sim_samplers_skid(p->samplers, insn);
	p->at = p->now;
	p->delay_count = 0;
	hold_fetch(p, insn);
	hold_operands(p, op);
	if (unit != SIM_UNIT_NONE)
		hold(p, p->unit_free[unit], unit_cause(unit));
	if (op->kind == SIM_FP_BARRIER)
		hold(p, p->arithmetic_done, SIM_CAUSE_UNIT);
	fit = (p->machine.group_bytes || p->at == p->now) && fits(p, insn, &slotted);
	if (!fit)
		hold(p, p->now + 1, SIM_CAUSE_SLOT);
	while (loads(op->kind) && behind_store(p))
		hold(p, p->at + 1, SIM_CAUSE_UNIT);
	if (loads(op->kind) || stores(op->kind))
		hold(p, p->port_free, SIM_CAUSE_UNIT);
	if (count > 0)
		hold_translation(p, insn, accesses, count, &walked);
	hold_memory(p, insn, accesses, count);
	charge(p, insn, slotted);
	issue(p, insn, fit);
	result(p, insn, accesses, count, walked);
	control(p, insn, next);
	insn->executed++;
	p->instructions++;
}

void sim_pipeline_deinit(struct sim_pipeline *pipeline)
{
	sim_memory_deinit(&pipeline->memory);
	sim_predictor_deinit(&pipeline->predictor);
}
