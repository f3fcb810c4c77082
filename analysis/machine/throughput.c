// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/throughput.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/*
 * Simulated iterations of a loop: the first ones to reach the steady state, then the measured ones.
 */
#define WARM_UP 4
#define STEADY 4
#define STORES_MAX 8

static const struct bound_cost *cost_at(const struct machine_bound *bound, unsigned int which)
{
	while (bound->costs[which].busy == 0 && bound->base != NULL)
		bound = bound->base;
	return &bound->costs[which];
}

static const struct bound_cost *cost_of(const struct machine_bound *bound, const struct insn *insn)
{
	bool memory = (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0;

	if ((insn->flags & INSN_ZEROES) != 0)
		return cost_at(bound, BOUND_NOTHING);
	for (const struct machine_bound *from = bound; from != NULL; from = from->base)
		for (size_t i = 0; i < from->exception_count; i++)
			if (from->exceptions[i].opcode == insn->opcode &&
			    !(memory && from->exceptions[i].registers_only))
				return &from->exceptions[i].cost;
	return cost_at(bound, insn->class);
}

/* Return true for instructions that do more with memory than loading from it. */
static bool has_extra_load(const struct insn *insn)
{
	return (insn->flags & INSN_READS_MEMORY) != 0 && insn->class != INSN_LOAD;
}

static bool has_extra_store(const struct insn *insn)
{
	return (insn->flags & INSN_WRITES_MEMORY) != 0 && insn->class != INSN_STORE;
}

double throughput_latency(const struct machine_bound *bound, const struct insn *insn)
{
	double cycles;

	if (bound == NULL)
		return 1;
	cycles = cost_of(bound, insn)->latency;
	return has_extra_load(insn) ? cycles + cost_at(bound, BOUND_LOAD)->latency : cycles;
}

/* Return true for a branch that passes together with the comparison before it. */
static bool is_fused(const struct machine_bound *bound, const struct insn *insns, size_t index)
{
	const struct insn *before;

	if (!bound->fuses || index == 0 || insns[index].flow != INSN_FLOW_BRANCH)
		return false;
	before = &insns[index - 1];
	return before->class == INSN_ALU && (before->flags & INSN_WRITES_MEMORY) == 0 &&
	       insn_regs_meet(&before->writes, &insns[index].reads);
}

/*
 * Return the front-end operations: memory accesses pass together with the operation that needs
 * them.
 */
static unsigned int front_of(const struct machine_bound *bound, const struct insn *insns,
			     size_t index)
{
	const struct insn *insn = &insns[index];
	unsigned int front;

	if (is_fused(bound, insns, index))
		return 0;
	front = cost_of(bound, insn)->front;
	return has_extra_store(insn) ? front + cost_at(bound, BOUND_STORE)->front : front;
}

/* struct port_load - operations that can go to the same set of ports */
struct port_load {
	uint16_t ports;
	double cycles;
};

struct port_loads {
	struct port_load sets[BOUND_PORTS_MAX];
	size_t count;
};

static void add_load(struct port_loads *loads, const struct bound_cost *cost)
{
	double cycles = (double)cost->back * cost->busy;

	if (cost->ports == 0 || cost->back == 0)
		return;
	for (size_t i = 0; i < loads->count; i++)
		if (loads->sets[i].ports == cost->ports) {
			loads->sets[i].cycles += cycles;
			return;
		}
	if (loads->count < BOUND_PORTS_MAX)
		loads->sets[loads->count++] =
			(struct port_load){.ports = cost->ports, .cycles = cycles};
}

static double cycles_within(const struct port_loads *loads, uint16_t ports)
{
	double cycles = 0;

	for (size_t i = 0; i < loads->count; i++)
		if ((loads->sets[i].ports & ~ports) == 0)
			cycles += loads->sets[i].cycles;
	return cycles / __builtin_popcount(ports);
}

/* The busiest ports are those of one set, or of two that overlap. */
static double port_bound(const struct machine_bound *bound, const struct insn *insns, size_t count)
{
	struct port_loads loads = {.count = 0};
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_fused(bound, insns, i))
			add_load(&loads, cost_of(bound, &insns[i]));
		if (has_extra_load(&insns[i]))
			add_load(&loads, cost_at(bound, BOUND_LOAD));
		if (has_extra_store(&insns[i]))
			add_load(&loads, cost_at(bound, BOUND_STORE));
	}
	for (size_t i = 0; i < loads.count; i++)
		for (size_t j = i; j < loads.count; j++) {
			double cycles =
				cycles_within(&loads, loads.sets[i].ports | loads.sets[j].ports);

			most = cycles > most ? cycles : most;
		}
	return most;
}

/* Not waiting for any instruction. */
#define NO_INSN UINT32_MAX

/* struct value - time when it is ready; @from: instruction of the block that computes it */
struct value {
	double ready;
	uint32_t from;
};

/*
 * struct link - element of a dependence chain
 * @from:    the last operand's producer that the instruction waited for
 * @ready:   time when its own result is ready
 * @latency: difference of the two times
 */
struct link {
	double ready;
	double latency;
	uint32_t from;
};

/*
 * struct dataflow - times when results are ready if dependences are the only limit: of registers,
 * and of values that were stored and are loaded again through the same operand
 */
struct dataflow {
	struct value registers[INSN_REGS];
	struct {
		struct insn_memory memory;
		struct value value;
	} stores[STORES_MAX];
	size_t store_count;
	double last;
};

static bool same_memory(const struct insn_memory *a, const struct insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->displacement == b->displacement && a->bytes == b->bytes;
}

static bool uses(const struct insn_memory *memory, const struct insn_regs *regs)
{
	return insn_regs_has(regs, memory->base) || insn_regs_has(regs, memory->index);
}

/* Drop stores that a new store replaces, or whose address registers change. */
static void forget_stores(struct dataflow *flow, const struct insn *insn, bool stores)
{
	size_t kept = 0;

	for (size_t i = 0; i < flow->store_count; i++)
		if (!uses(&flow->stores[i].memory, &insn->writes) &&
		    !(stores && same_memory(&flow->stores[i].memory, &insn->memory)))
			flow->stores[kept++] = flow->stores[i];
	flow->store_count = kept;
}

static struct value later(struct value a, struct value b)
{
	return b.ready > a.ready ? b : a;
}

static const struct value at_once = {0, NO_INSN};

static struct value value_of_memory(const struct dataflow *flow, const struct insn *insn)
{
	if ((insn->flags & INSN_READS_MEMORY) == 0)
		return at_once;
	for (size_t i = 0; i < flow->store_count; i++)
		if (same_memory(&flow->stores[i].memory, &insn->memory))
			return flow->stores[i].value;
	return at_once;
}

static struct value value_of_registers(const struct dataflow *flow, const struct insn_regs *regs)
{
	struct value last = at_once;

	for (unsigned int w = 0; w < 2; w++)
		for (uint64_t bits = regs->words[w]; bits != 0; bits &= bits - 1)
			last = later(last,
				     flow->registers[w * 64 + (unsigned int)__builtin_ctzll(bits)]);
	return last;
}

static struct value delayed(struct value value, double latency)
{
	return (struct value){value.ready + latency, value.from};
}

/*
 * Compute when a result is ready, and the last operand it waited for. The address is needed before
 * the load, other operands only after it.
 */
static struct value result_of(const struct machine_bound *bound, const struct dataflow *flow,
			      const struct insn *insn)
{
	const struct bound_cost *cost = cost_of(bound, insn);
	struct insn_regs address = {0};
	struct value start, loaded;

	if ((insn->flags & INSN_ZEROES) != 0)
		return at_once;
	start = value_of_registers(flow, &insn->reads);
	if (has_extra_load(insn)) {
		insn_regs_add(&address, insn->memory.base);
		insn_regs_add(&address, insn->memory.index);
		loaded = delayed(value_of_registers(flow, &address),
				 cost_at(bound, BOUND_LOAD)->latency);
		start = later(start, loaded);
	}
	loaded = value_of_memory(flow, insn);
	if (loaded.from != NO_INSN)
		loaded.ready += bound->forward_latency;
	if (insn->class == INSN_LOAD)
		return later(delayed(start, cost->latency), loaded);
	return delayed(later(start, loaded), cost->latency);
}

/* Return: the delay by which the result keeps all earlier instructions' retirement waiting. */
static double flow_through(struct dataflow *flow, const struct insn *insn, struct value result)
{
	bool stores = (insn->flags & INSN_WRITES_MEMORY) != 0;
	double before = flow->last;

	forget_stores(flow, insn, stores);
	for (unsigned int w = 0; w < 2; w++)
		for (uint64_t bits = insn->writes.words[w]; bits != 0; bits &= bits - 1)
			flow->registers[w * 64 + (unsigned int)__builtin_ctzll(bits)] = result;
	/* The stack engine updates the stack pointer without latency. */
	if (insn->memory.pushes && insn_regs_has(&insn->writes, insn->memory.base))
		flow->registers[insn->memory.base] = at_once;
	if (stores && flow->store_count < STORES_MAX && !insn->memory.pushes &&
	    !uses(&insn->memory, &insn->writes)) {
		flow->stores[flow->store_count].memory = insn->memory;
		flow->stores[flow->store_count++].value = result;
	}
	if (result.ready <= before)
		return 0;
	flow->last = result.ready;
	return result.ready - before;
}

static void link_to(struct link *links, uint32_t insn, struct value result)
{
	double since = result.from == NO_INSN ? 0 : links[result.from].ready;

	links[insn] = (struct link){result.ready, result.ready - since, result.from};
}

/*
 * Return: the instruction that causes a wait for @insn. That is @insn itself if it is on the
 * loop-carried dependence chain; otherwise the slowest instruction of the chain that @insn depends
 * on.
 */
static uint32_t wait_cause(const struct link *links, size_t count, uint32_t insn)
{
	uint32_t at = insn, slowest;

	/* After this many steps back, @at is on that chain. */
	for (size_t i = 0; i < count && at != NO_INSN; i++)
		at = links[at].from;
	if (at == NO_INSN || at == insn)
		return insn;
	slowest = at;
	for (uint32_t i = links[at].from; i != at; i = links[i].from) {
		if (i == NO_INSN || i == insn)
			return insn;
		if (links[i].latency > links[slowest].latency)
			slowest = i;
	}
	return slowest;
}

/*
 * struct waits - destination of a loop's waits
 * @insns: of the block
 * @links: memory for the same number of elements
 * @part:  part of the dependences' time that no other bound covers
 */
struct waits {
	struct schedule_insn *insns;
	struct link *links;
	uint32_t first;
	uint32_t count;
	double part;
};

/*
 * Add a wait after the instruction that is waited for, because that has retired when the next one
 * is sampled as the oldest. A wait of one cycle is no stall: every dependent instruction takes it.
 */
static void add_wait(const struct waits *waits, uint32_t insn, double cycles)
{
	struct schedule_insn *after = &waits->insns[(insn + 1) % waits->count];
	double wait = cycles * waits->part / STEADY;

	if (cycles <= 1) {
		waits->insns[insn].min_cycles += wait;
		return;
	}
	if (after->stall_count == 0)
		after->stalls[after->stall_count++] = (struct static_stall){
			.kind = STALL_LATENCY,
			.from = waits->first + wait_cause(waits->links, waits->count, insn)};
	after->stalls[0].cycles += wait;
	after->min_cycles += wait;
	after->issues_with_previous = false;
}

/*
 * Compute the cycles per iteration in the steady state.
 * @waits: out: the waits of STEADY iterations; may be NULL
 */
static double dependence_bound(const struct machine_bound *bound, const struct insn *insns,
			       size_t count, const struct waits *waits)
{
	struct dataflow flow = {0};
	double middle = 0;

	for (unsigned int reg = 0; reg < INSN_REGS; reg++)
		flow.registers[reg] = at_once;
	for (int iteration = 0; iteration < WARM_UP + STEADY; iteration++) {
		if (iteration == WARM_UP)
			middle = flow.last;
		for (uint32_t i = 0; i < count; i++) {
			struct value result;
			double held;

			if (is_fused(bound, insns, i))
				continue;
			result = result_of(bound, &flow, &insns[i]);
			if (waits != NULL)
				link_to(waits->links, i, result);
			result.from = i;
			held = flow_through(&flow, &insns[i], result);
			if (waits != NULL && held > 0 && iteration >= WARM_UP)
				add_wait(waits, i, held);
		}
	}
	return (flow.last - middle) / STEADY;
}

static unsigned int operations_of(const struct machine_bound *bound, const struct insn *insns,
				  size_t count)
{
	unsigned int operations = 0;

	for (size_t i = 0; i < count; i++)
		operations += front_of(bound, insns, i);
	return operations;
}

struct throughput throughput_of_block(const struct machine_bound *bound, const struct insn *insns,
				      size_t count, bool loops)
{
	struct throughput throughput = {0};

	throughput.front = (double)operations_of(bound, insns, count) / bound->width;
	throughput.ports = port_bound(bound, insns, count);
	if (loops) {
		throughput.dependences = dependence_bound(bound, insns, count, NULL);
		/* At most one taken branch per cycle. */
		if (throughput.dependences < 1)
			throughput.dependences = 1;
	}
	return throughput;
}

static bool loops(const struct cfg *cfg, uint32_t block_index)
{
	const struct cfg_block *block = &cfg->blocks[block_index];

	for (uint32_t i = 0; i < block->out_count; i++)
		if (cfg->edges[block->out + i].to == block_index)
			return true;
	return false;
}

/* Divide @cycles in proportion to front-end operations. */
static void share_out(struct schedule_insn *ret, const struct machine_bound *bound,
		      const struct insn *insns, uint32_t count, double cycles)
{
	unsigned int operations = operations_of(bound, insns, count);

	for (uint32_t i = 0; i < count; i++) {
		double share = operations > 0 ? (double)front_of(bound, insns, i) / operations
					      : 1.0 / count;

		ret[i].min_cycles = cycles * share;
		ret[i].issues_with_previous = share <= 0;
	}
}

static void schedule_block(struct schedule *schedule, const struct machine_bound *bound,
			   const struct cfg *cfg, uint32_t block_index, struct link *links)
{
	const struct cfg_block *block = &cfg->blocks[block_index];
	struct schedule_insn *ret = &schedule->insns[block->first];
	const struct insn *insns = &cfg->insns[block->first];
	struct waits waits = {
		.insns = ret, .links = links, .first = block->first, .count = block->count};
	bool again = loops(cfg, block_index);
	struct throughput t = throughput_of_block(bound, insns, block->count, again);
	double busy = fmax(t.front, t.ports), least = again ? fmax(busy, 1) : busy;

	schedule->block_least[block_index] = least;
	share_out(ret, bound, insns, block->count, least);
	if (t.dependences <= least)
		return;
	waits.part = (t.dependences - least) / t.dependences;
	dependence_bound(bound, insns, block->count, &waits);
}

int throughput_schedule(struct schedule *schedule, const struct machine_bound *bound,
			const struct cfg *cfg)
{
	_cleanup_free_ struct link *links = NULL;
	uint32_t most = 1;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		most = cfg->blocks[b].count > most ? cfg->blocks[b].count : most;
	links = malloc(most * sizeof(*links));
	if (links == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		schedule_block(schedule, bound, cfg, b, links);
	return 0;
}
