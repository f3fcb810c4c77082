/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frequencies of a procedure's blocks that explain best what was sampled, on a
 * machine where time says little of frequency: on out-of-order processors the cycles of
 * a block per execution are within a factor of three of any prediction, however good
 * the model of the block, while the directions of branches can be sampled exactly.
 *
 * Unknown are the probability of each edge and how often the procedure was executed.
 * What is maximised is the sum of
 *  - for each block, the logarithm of the likelihood of its samples: Poisson around
 *    frequency x cycles x stall, the stall being drawn from a gamma distribution
 *    (together: negative binomial). Blocks without samples count, too. Where stalls are
 *    heavy, the gamma distribution's own scale is drawn from another one: far more samples
 *    than expected then cost as their logarithm does, not in proportion. For a block that
 *    waits for memory takes a hundred times as long as others, and says nothing of these;
 *  - for each branch, that of the directions seen, as a multinomial distribution;
 *  - for two blocks that were counted against each other, a normal one of the logarithm of
 *    their ratio;
 *  - for the callers' estimate of the executions, a normal one of its logarithm.
 * By L-BFGS, with exact gradients: two solutions of a sparse system for each step.
 *
 * Levin, Newman and Haber (2008) and profi (POPL 2022) fit counts to flow by
 * minimum-cost circulation; there is no room for branch directions in these, and an
 * absolute difference weighs hot blocks most, though their stalls are no smaller.
 */
#ifndef DCPI_FLOW_FIT_H
#define DCPI_FLOW_FIT_H

#include "analysis/frequency/flow_chain.h"

/** struct flow_block_evidence - of a node; all zero: nothing is known. */
struct flow_block_evidence {
	double samples;
	double cycles;	  /* an execution takes, on average over code; 0: leave it out */
	double evenness;  /* shape of the gamma distribution: 1 / relative variance */
	double heaviness; /* 1 / shape of its scale's distribution; 0: no heavy stalls */
};

/**
 * flow_block_part() - the part of a block's samples that is not heavy
 *
 * The likelihood, by the logarithm of expected samples x, has the slope
 * evenness (samples - x) / (x + evenness / part): the negative binomial's where heaviness
 * is 0, and never more than 1 / heaviness where it is not.
 */
static inline double flow_block_part(const struct flow_block_evidence *block)
{
	return 1 / (1 + block->samples * block->heaviness);
}

/**
 * struct flow_link - how often a node is executed for each execution of another one
 * @nodes:  the first one for each execution of the second
 * @log:    the logarithm of that
 * @weight: 1 / its variance
 */
struct flow_link {
	uint32_t nodes[2];
	double log;
	double weight;
};

/**
 * struct flow_evidence - of a procedure
 * @blocks: one for each node
 * @seen:   of each edge, how often it was taken, with what is known before; > 0
 * @known:  of each node: its edges' shares of what was seen are exact. NULL: of none
 * @links:  what is known of nodes by each other, @link_count
 * @calls:  executions by the callers' estimate, @calls_weight: 1 / its relative
 *          variance; 0: not known
 */
struct flow_evidence {
	struct flow_block_evidence *blocks;
	double *seen;
	bool *known;
	struct flow_link *links;
	size_t link_count;
	double calls;
	double calls_weight;
};

/** flow_evidence_knows() - whether a node's probabilities are known. */
static inline bool flow_evidence_knows(const struct flow_evidence *evidence, uint32_t node)
{
	return evidence->known != NULL && evidence->known[node];
}

/**
 * struct flow_fit - the result
 * @nodes: frequency of each node; that of the entry is the procedure's
 * @edges: probability of each edge
 * @spread: of each node, the standard deviation of the logarithm of its frequency,
 *          as the likelihood's curvature tells; NULL until flow_spread_find()
 */
struct flow_fit {
	double *nodes;
	double *edges;
	double *spread;
};

/**
 * flow_fit_create() - find it
 * @ret: out; freed by flow_fit_deinit()
 *
 * Return: 0; -ENOMEM; -EDOM.
 */
int flow_fit_create(struct flow_fit *ret, struct flow_chain *chain,
		    const struct flow_evidence *evidence);

void flow_fit_deinit(struct flow_fit *fit);

#endif
