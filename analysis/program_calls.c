// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/program_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/call_site.h"
#include "analysis/frequency/call_network.h"
#include "analysis/frequency/delayed_samples.h"
#include "analysis/frequency/frequency_estimators.h"
#include "analysis/frequency/estimate_cache.h"
#include "analysis/kernel_counts.h"
#include "analysis/place_list.h"
#include "analysis/probe_pairs.h"
#include "analysis/stack_paths.h"

/* Greatest recursive share: with more recursive calls, calls from outside are lost in the noise. */
#define RECURSION_MAX 0.9
/* Least number of returns to a place for a comparison. */
#define RETURNS_MIN 2.0
/*
 * Relative variance of shares that does not shrink with their counts: returns are sampled where the
 * program waits, which may depend on the caller's data.
 */
#define SHARE_BIAS 0.3
/*
 * Additional deviation of the kernel's code, which runs after entries that leave neither
 * predictions nor translations of addresses, and of code whose samples are delayed ones.
 */
#define KERNEL_SPREAD 2.0
#define DELAYED_SPREAD 2.5
/* Deviation of procedures without samples, whose executions are known from calls only. */
#define UNSAMPLED_SPREAD 20.0
/* With more uncertainty, the factor of a measured procedure may be corrected by calls. */
#define MEASURED_SPREAD_MAX 0.1
/* Limit on the memory for cached estimates; further ones are computed again. */
#define CACHE_BYTES_MAX ((size_t)64 << 20)
/* Weight of a probe's direction, relative to a sampled direction, which is biased. */
#define PROBE_WORTH 4.0

/*
 * struct observed_edge - observed edges that leave a procedure (returns), or a call (indirect ones)
 * @bias: relative variance of shares of @count
 */
struct observed_edge {
	struct place from;
	struct place to;
	uint32_t procedure;
	double count;
	double bias;
};

/* struct tail_call - a called procedure returned through another one */
struct tail_call {
	uint32_t called;
	uint32_t returned;
	double count;
};

/*
 * struct known_procedure - a procedure by its entry: its index in the network; @cache: NULL: no
 * cached estimates
 */
struct known_procedure {
	struct place entry;
	uint32_t number;
	struct estimate_cache *cache;
};

struct program_calls {
	size_t cached_bytes;
	struct place_list known;       /* struct known_procedure */
	struct place_list network;     /* struct call_network_procedure */
	struct place_list returned;    /* double: observed returns, parallel to network */
	struct place_list sites;       /* struct call_site */
	struct place_list returns;     /* struct observed_edge */
	struct place_list indirect;    /* struct observed_edge, of indirect calls */
	struct place_list tail_calls;  /* struct tail_call */
	struct place_list constraints; /* struct call_network_call */
	struct place_list probed;      /* struct probed */
	struct place_list paths;       /* struct stack_path */
	struct place_list targets;     /* struct call_network_target */
	struct place_list counted;     /* struct kernel_counted */
	struct place_list leaving;     /* bool: of each procedure of the network */
	struct place_list pairs;       /* struct call_network_pair */
};

int program_calls_create(struct program_calls **ret)
{
	struct program_calls *calls = calloc(1, sizeof(*calls));

	if (calls == NULL)
		return -ENOMEM;
	calls->known.bytes = sizeof(struct known_procedure);
	calls->network.bytes = sizeof(struct call_network_procedure);
	calls->returned.bytes = sizeof(double);
	calls->sites.bytes = sizeof(struct call_site);
	calls->returns.bytes = calls->indirect.bytes = sizeof(struct observed_edge);
	calls->tail_calls.bytes = sizeof(struct tail_call);
	calls->constraints.bytes = sizeof(struct call_network_call);
	calls->probed.bytes = sizeof(struct probed);
	calls->paths.bytes = sizeof(struct stack_path);
	calls->targets.bytes = sizeof(struct call_network_target);
	calls->counted.bytes = sizeof(struct kernel_counted);
	calls->leaving.bytes = sizeof(bool);
	calls->pairs.bytes = sizeof(struct call_network_pair);
	*ret = calls;
	return 0;
}

void program_calls_destroy(struct program_calls *calls)
{
	if (calls == NULL)
		return;
	for (size_t i = 0; i < calls->known.count; i++)
		free(((struct known_procedure *)calls->known.items)[i].cache);
	free(calls->known.items);
	free(calls->network.items);
	free(calls->returned.items);
	free(calls->sites.items);
	free(calls->returns.items);
	free(calls->indirect.items);
	free(calls->tail_calls.items);
	free(calls->constraints.items);
	free(calls->probed.items);
	free(calls->paths.items);
	free(calls->targets.items);
	free(calls->counted.items);
	free(calls->leaving.items);
	free(calls->pairs.items);
	free(calls);
}

_Static_assert(offsetof(struct known_procedure, entry) == 0 &&
		       offsetof(struct call_site, return_address) == 0 &&
		       offsetof(struct observed_edge, from) == 0,
	       "lists are sorted by the place they begin with");

static bool is_stub(const struct image_code *code, uint64_t address)
{
	long index = image_code_find(code, address);

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(code), (size_t)index)->source ==
		       PROCEDURE_PLT;
}

struct builder {
	struct program_calls *calls;
	struct image_code *code;
	const struct image_samples *samples;
	const struct procedure_analysis *analysis;
	struct call_network_procedure *self;
	uint32_t number;
	double own_calls;
	struct frequency_flow_scale scale;
};

/* @target: 0: not known */
static int call_site_add(struct builder *builder, const struct insn *insn, uint64_t target,
			 const struct frequency_estimate *estimate)
{
	int64_t image = builder->samples->image;
	struct call_site *site;

	if (estimate->value <= 0)
		return 0;
	site = place_list_add(&builder->calls->sites);
	if (site == NULL)
		return -ENOMEM;
	*site = (struct call_site){
		.return_address = place_of(builder->code, image, insn->address + insn->bytes),
		.at = place_of(builder->code, image, insn->address),
		.target = place_of(builder->code, image, target),
		.caller = builder->number,
		.callee = UINT32_MAX,
		.stub = target != 0 && is_stub(builder->code, target),
		.calls = estimate->value,
		.spread = frequency_flow_spread(estimate, &builder->scale),
	};
	return 0;
}

static int program_calls_add_site(struct builder *builder, const struct cfg_call *call)
{
	const struct procedure_analysis *analysis = builder->analysis;
	const struct insn *insn = &analysis->cfg->insns[call->insn];
	const struct frequency_estimate *estimate = procedure_analysis_call(analysis, call);
	size_t count = builder->calls->sites.count;
	int r;

	if (call->target != 0 &&
	    image_code_find(builder->code, call->target) == (long)analysis->index && !call->tail)
		builder->own_calls += estimate->value;
	r = call_site_add(builder, insn, call->target, estimate);
	if (r == 0 && call->tail && builder->calls->sites.count > count)
		((struct call_site *)builder->calls->sites.items)[count].return_address.offset = 0;
	return r;
}

/* System calls are calls of the kernel. Other instructions of the class never have a stack above.
 */
static int system_calls_add(struct builder *builder)
{
	const struct procedure_analysis *analysis = builder->analysis;
	const struct cfg *cfg = analysis->cfg;
	int r = 0;

	for (uint32_t i = 0; i < cfg->insn_count && r == 0; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->class == INSN_SYSTEM && insn->flow == INSN_FLOW_NEXT)
			r = call_site_add(builder, insn, 0,
					  &analysis->frequency.blocks[cfg->block_of[i]]);
	}
	return r;
}

static int stacks_add(struct builder *builder)
{
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent, count;

	if (builder->samples->stack_count == 0)
		return 0;
	count = image_samples_parts(builder->code, builder->analysis->index, parts, &parent);
	return stack_paths_add(&builder->calls->paths, builder->code, builder->samples, parts,
			       count, builder->number);
}

static int counts_add(struct builder *builder)
{
	const struct image_samples *samples = builder->samples;
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(builder->code), builder->analysis->index);

	if (samples->counted == NULL)
		return 0;
	return kernel_counts_add(&builder->calls->counted, samples->counted, procedure->name,
				 samples->time.period, builder->number);
}

static void add_executions(struct builder *builder)
{
	const struct procedure_analysis *analysis = builder->analysis;
	const struct cfg *cfg = analysis->cfg;
	double executions = 0, spread = 0;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct frequency_estimate *estimate = &analysis->frequency.edges[e];

		if (cfg->edges[e].kind != CFG_EDGE_ENTRY)
			continue;
		executions += estimate->value;
		spread = fmax(spread, frequency_flow_spread(estimate, &builder->scale));
	}
	builder->self->entry_spread = spread;
	builder->self->all_executions = executions;
	if (builder->own_calls < RECURSION_MAX * executions)
		builder->self->executions = executions - builder->own_calls;
}

/* Add an observed edge from an instruction of the procedure. */
static int program_calls_add_edge(struct builder *builder, const struct insn *insn, struct place to,
				  double count, double bias)
{
	struct program_calls *calls = builder->calls;
	struct observed_edge *edge;

	if (insn->flow == INSN_FLOW_RETURN)
		((double *)calls->returned.items)[builder->number] += count;
	edge = place_list_add(insn->flow == INSN_FLOW_RETURN ? &calls->returns : &calls->indirect);
	if (edge == NULL)
		return -ENOMEM;
	*edge = (struct observed_edge){
		.from = place_of(builder->code, builder->samples->image, insn->address),
		.to = to,
		.procedure = builder->number,
		.count = count,
		.bias = bias,
	};
	return 0;
}

/*
 * Return the number of times that an edge of an instruction would have been sampled. The executions
 * of the instruction are known from samples, the directions better from probes than from samples,
 * which are biased.
 */
static double count_of(const struct branch_count *branch, double samples, double probes)
{
	double seen = samples + PROBE_WORTH * probes;

	return seen > 0 ? samples * (branch->count + PROBE_WORTH * branch->probes) / seen : 0;
}

/* Return the relative variance of shares: probes dilute the bias of samples. */
static double bias_of(double samples, double probes)
{
	double part = probes > 0 ? samples / (samples + PROBE_WORTH * probes) : 1;

	return SHARE_BIAS * part * part;
}

/* Add the edges of a return or an indirect call. */
static int add_edges_of(struct builder *builder, const struct insn *insn)
{
	const struct image_samples *samples = builder->samples;
	size_t first = image_samples_branch(samples, insn->address), end;
	double sampled = 0, probes = 0, bias;
	int r = 0;

	for (end = first;
	     end < samples->branch_count && samples->branches[end].from == insn->address; end++) {
		sampled += samples->branches[end].count;
		probes += samples->branches[end].probes;
	}
	bias = bias_of(sampled, probes);
	for (size_t b = first; r == 0 && b < end; b++) {
		const struct branch_count *branch = &samples->branches[b];
		struct place to = place_of_target(builder->code, samples->image, branch);

		if (branch->count + branch->probes <= 0)
			continue;
		r = program_calls_add_edge(builder, insn, to, count_of(branch, sampled, probes),
					   bias);
	}
	return r;
}

static int add_edges(struct builder *builder)
{
	const struct cfg *cfg = builder->analysis->cfg;
	int r = 0;

	for (uint32_t i = 0; i < cfg->insn_count && r == 0; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->flow == INSN_FLOW_RETURN || insn->flow == INSN_FLOW_CALL_INDIRECT)
			r = add_edges_of(builder, insn);
	}
	return r;
}

static int cache_estimates(struct program_calls *calls, struct known_procedure *known,
			   const struct procedure_analysis *analysis)
{
	size_t bytes = estimate_cache_bytes(analysis->cfg);

	if (bytes > CACHE_BYTES_MAX - calls->cached_bytes)
		return 0;
	calls->cached_bytes += bytes;
	return frequency_keep(&known->cache, &analysis->frequency, analysis->cfg);
}

static struct call_network_procedure self_of(const struct procedure_analysis *analysis,
					     const struct image_samples *samples,
					     const struct frequency_flow_scale *scale)
{
	double spread = hypot(scale->spread, FREQUENCY_FLOW_PROCEDURE_SPREAD);

	if (samples->stack_count > 0)
		spread = hypot(spread, KERNEL_SPREAD);
	if (analysis->profile.total <= 0)
		spread = UNSAMPLED_SPREAD;
	else if (delayed_samples_most(&analysis->profile, analysis->cfg))
		spread = hypot(spread, DELAYED_SPREAD);
	return (struct call_network_procedure){
		.scale_spread = scale->measured ? scale->spread : spread,
		.measured = scale->measured && scale->spread <= MEASURED_SPREAD_MAX,
		.factor = 1,
	};
}

int program_calls_add(struct program_calls *calls, struct image_code *code,
		      const struct image_samples *samples,
		      const struct procedure_analysis *analysis, bool keep)
{
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(code), analysis->index);
	struct builder builder = {
		calls,	 code,
		samples, analysis,
		NULL,	 (uint32_t)calls->network.count,
		0,	 frequency_flow_scale(&analysis->frequency, analysis->cfg)};
	struct known_procedure *known;
	double *returned;
	bool *leaving;
	int r = 0;

	if (analysis->profile.total <= 0 && analysis->profile.call_stacks == NULL)
		return 0;
	known = place_list_add(&calls->known);
	returned = place_list_add(&calls->returned);
	builder.self = place_list_add(&calls->network);
	leaving = place_list_add(&calls->leaving);
	if (known == NULL || returned == NULL || leaving == NULL || builder.self == NULL)
		return -ENOMEM;
	*known =
		(struct known_procedure){{samples->image, procedure->offset}, builder.number, NULL};
	*returned = 0;
	*leaving = samples->stack_count == 0 &&
		   delayed_samples_most(&analysis->profile, analysis->cfg);
	*builder.self = self_of(analysis, samples, &builder.scale);
	for (uint32_t i = 0; i < analysis->cfg->call_count && r == 0; i++)
		r = program_calls_add_site(&builder, &analysis->cfg->calls[i]);
	if (r == 0)
		r = system_calls_add(&builder);
	if (r == 0)
		r = stacks_add(&builder);
	if (r == 0)
		r = counts_add(&builder);
	if (r == 0)
		r = add_edges(&builder);
	if (r == 0)
		r = probe_pairs_add(&calls->probed, code, samples, analysis, builder.number,
				    &builder.scale);
	add_executions(&builder);
	return r == 0 && keep ? cache_estimates(calls, known, analysis) : r;
}

static uint32_t number_at(const struct program_calls *calls, const struct place *entry)
{
	const struct known_procedure *known = place_list_find(&calls->known, entry);

	return known != NULL ? known->number : UINT32_MAX;
}

/*
 * Return the share of an indirect call's executions that call @procedure; @variance: out: relative
 */
static double share_of(const struct program_calls *calls, const struct call_site *site,
		       uint32_t procedure, double *variance)
{
	const struct observed_edge *all = calls->indirect.items,
				   *found = place_list_find(&calls->indirect, &site->at);
	double to = 0, total = 0;

	if (found == NULL)
		return 0;
	while (found > all && place_compare(&found[-1], &site->at) == 0)
		found--;
	for (; found < all + calls->indirect.count && place_compare(found, &site->at) == 0;
	     found++) {
		total += found->count;
		if (number_at(calls, &found->to) == procedure)
			to += found->count;
	}
	*variance = to > 0 ? (1 - to / total) / to : 0;
	return to / total;
}

/*
 * Assign the returns of a tail-called procedure to the procedure that was called, which is the
 * target of the call. They count for both. If the target has no samples, the returns stay with the
 * returning procedure: every call must return from some procedure.
 */
static int attribute(struct program_calls *calls, struct observed_edge *returns)
{
	const struct call_site *site = place_list_find(&calls->sites, &returns->to);
	uint32_t callee = returns->procedure;
	struct tail_call *tail_call;

	if (site != NULL && site->target.offset != 0 && !site->stub)
		callee = number_at(calls, &site->target);
	if (callee == returns->procedure || callee == UINT32_MAX)
		return 0;
	tail_call = place_list_add(&calls->tail_calls);
	if (tail_call == NULL)
		return -ENOMEM;
	*tail_call = (struct tail_call){callee, returns->procedure, returns->count};
	((double *)calls->returned.items)[callee] += returns->count;
	returns->procedure = callee;
	return 0;
}

static int program_calls_add_pair(struct program_calls *calls, const struct call_site *site,
				  const struct observed_edge *returns, double part, double share,
				  double variance)
{
	const struct call_network_procedure *network = calls->network.items;
	struct call_network_pair *pair = place_list_add(&calls->pairs);
	uint32_t callee = returns->procedure;
	double site_variance = variance + site->spread * site->spread;

	if (pair == NULL)
		return -ENOMEM;
	*pair = (struct call_network_pair){
		.caller = site->caller,
		.callee = callee,
		.ratio = network[callee].all_executions * part / (site->calls * share),
		.spread = sqrt(site_variance + (1 - part) * (1 / returns->count + returns->bias) +
			       network[callee].entry_spread * network[callee].entry_spread),
		.part = part,
		.site_spread = sqrt(site_variance),
	};
	return 0;
}

/*
 * Compare a procedure's returns after a call with the caller's calls and the callee's executions.
 */
static int compare_with_caller(struct program_calls *calls, const struct observed_edge *returns)
{
	const struct call_network_procedure *network = calls->network.items;
	const struct call_site *site = place_list_find(&calls->sites, &returns->to);
	uint32_t callee = returns->procedure;
	double total = ((double *)calls->returned.items)[callee], share = 1, variance = 0;

	if (site == NULL || returns->count < RETURNS_MIN || site->caller == callee ||
	    network[callee].all_executions <= 0)
		return 0;
	if (site->target.offset == 0)
		share = share_of(calls, site, callee, &variance);
	if (share <= 0)
		return 0;
	return program_calls_add_pair(calls, site, returns, returns->count / total, share,
				      variance);
}

/* Compare the returns of a direct jump's target on behalf of the procedure that jumped. */
static int compare_tail_call(struct program_calls *calls, const struct call_site *site)
{
	const struct call_network_procedure *network = calls->network.items;
	const struct tail_call *tail_calls = calls->tail_calls.items;
	uint32_t to = number_at(calls, &site->target);
	struct observed_edge through;
	double count = 0;

	if (to == UINT32_MAX || to == site->caller || network[to].all_executions <= 0)
		return 0;
	for (size_t i = 0; i < calls->tail_calls.count; i++) {
		if (tail_calls[i].called == site->caller && tail_calls[i].returned == to)
			count += tail_calls[i].count;
	}
	if (count < RETURNS_MIN)
		return 0;
	through = (struct observed_edge){.procedure = to, .count = count, .bias = SHARE_BIAS};
	return program_calls_add_pair(calls, site, &through,
				      count / ((double *)calls->returned.items)[to], 1, 0);
}

/* For procedures without observed returns, add up the direct calls. */
static int compare_direct(struct program_calls *calls, const struct call_site *site)
{
	uint32_t callee = site->target.offset != 0 ? number_at(calls, &site->target) : UINT32_MAX;
	struct call_network_call *constraint;

	if (callee == UINT32_MAX || callee == site->caller ||
	    ((double *)calls->returned.items)[callee] >= RETURNS_MIN)
		return 0;
	constraint = place_list_add(&calls->constraints);
	if (constraint == NULL)
		return -ENOMEM;
	*constraint = (struct call_network_call){site->caller, callee, site->calls, site->spread};
	return 0;
}

static void observed_edge_merge(struct observed_edge *edge, const struct observed_edge *other)
{
	double count = edge->count + other->count;

	if (count > 0)
		edge->bias = (edge->bias * edge->count + other->bias * other->count) / count;
	edge->count = count;
}

/* Merge equal edges of several epochs. */
static void program_calls_add_up(struct place_list *list)
{
	struct observed_edge *edges = list->items;
	size_t kept = 0;

	place_list_sort(list);
	for (size_t i = 0; i < list->count; i++) {
		if (kept > 0 && place_compare(&edges[kept - 1].from, &edges[i].from) == 0 &&
		    place_compare(&edges[kept - 1].to, &edges[i].to) == 0)
			observed_edge_merge(&edges[kept - 1], &edges[i]);
		else
			edges[kept++] = edges[i];
	}
	list->count = kept;
}

static int compare_returns(const void *a, const void *b)
{
	const struct observed_edge *x = a, *y = b;

	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	return place_compare(&x->to, &y->to);
}

/* Merge all returns of a procedure to the same place. */
static void merge_returns(struct place_list *list)
{
	struct observed_edge *edges = list->items;
	size_t kept = 0;

	if (list->count > 0)
		qsort(edges, list->count, sizeof(*edges), compare_returns);
	for (size_t i = 0; i < list->count; i++) {
		if (kept > 0 && compare_returns(&edges[kept - 1], &edges[i]) == 0)
			observed_edge_merge(&edges[kept - 1], &edges[i]);
		else
			edges[kept++] = edges[i];
	}
	list->count = kept;
}

/* Code that a system call returns to is as slow as that of the kernel, for the same reasons. */
static void system_callers_mark(struct program_calls *calls)
{
	struct call_network_procedure *network = calls->network.items;
	const struct call_network_pair *pairs = calls->pairs.items;
	const bool *leaving = calls->leaving.items;

	for (size_t i = 0; i < calls->pairs.count; i++) {
		if (leaving[pairs[i].callee] && !leaving[pairs[i].caller] &&
		    !network[pairs[i].caller].measured)
			network[pairs[i].caller].scale_spread =
				fmax(network[pairs[i].caller].scale_spread, KERNEL_SPREAD);
	}
}

int program_calls_solve(struct program_calls *calls)
{
	struct call_network network;
	int r = 0;

	place_list_sort(&calls->known);
	place_list_sort(&calls->sites);
	for (size_t i = 0; i < calls->sites.count; i++) {
		struct call_site *site = &((struct call_site *)calls->sites.items)[i];

		if (site->target.offset != 0)
			site->callee = number_at(calls, &site->target);
	}
	program_calls_add_up(&calls->indirect);
	for (size_t i = 0; i < calls->returns.count && r == 0; i++)
		r = attribute(calls, &((struct observed_edge *)calls->returns.items)[i]);
	merge_returns(&calls->returns);
	for (size_t i = 0; i < calls->returns.count && r == 0; i++)
		r = compare_with_caller(calls, &((struct observed_edge *)calls->returns.items)[i]);
	for (size_t i = 0; i < calls->sites.count && r == 0; i++) {
		const struct call_site *site = &((struct call_site *)calls->sites.items)[i];

		r = compare_direct(calls, site);
		if (r == 0 && site->return_address.offset == 0 && calls->tail_calls.count > 0)
			r = compare_tail_call(calls, site);
	}
	if (r == 0)
		r = probe_pairs_find(&calls->probed, &calls->pairs);
	if (r == 0)
		r = stack_paths_compare(&calls->paths, &calls->sites, &calls->network,
					calls->returned.items, &calls->pairs, &calls->targets);
	if (r == 0)
		system_callers_mark(calls);
	if (r == 0)
		r = kernel_counts_compare(&calls->counted, &calls->network, &calls->pairs);
	network = (struct call_network){
		.procedures = calls->network.items,
		.procedure_count = calls->network.count,
		.calls = calls->constraints.items,
		.call_count = calls->constraints.count,
		.pairs = calls->pairs.items,
		.pair_count = calls->pairs.count,
		.targets = calls->targets.items,
		.target_count = calls->targets.count,
	};
	return r == 0 ? call_network_solve(&network) : r;
}

void program_calls_apply(const struct program_calls *calls, int64_t image,
			 const struct procedure *procedure, struct procedure_profile *profile)
{
	const struct call_network_procedure *network = calls->network.items;
	struct place entry = {image, procedure->offset};
	uint32_t number = number_at(calls, &entry);

	if (number != UINT32_MAX)
		profile->slowness = 1 / network[number].factor;
}

int program_calls_estimates(const struct program_calls *calls, int64_t image,
			    const struct procedure *procedure, const struct cfg *cfg,
			    struct frequency *ret)
{
	const struct call_network_procedure *network = calls->network.items;
	struct place entry = {image, procedure->offset};
	const struct known_procedure *known = place_list_find(&calls->known, &entry);
	int r;

	if (known == NULL || known->cache == NULL)
		return 0;
	r = frequency_from_kept(ret, known->cache, cfg, network[known->number].factor);
	return r == -EINVAL ? 0 : r;
}
