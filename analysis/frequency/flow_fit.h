/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maximum-likelihood frequencies of a procedure's blocks, for machines on which time is weak
 * evidence of frequency. On out-of-order processors, even a good model predicts the cycles per
 * execution of a block only within a factor of three, while branch directions can be sampled
 * exactly.
 *
 * The unknowns are the probability of each edge and the number of executions of the procedure. The
 * objective is the sum of these log likelihoods:
 * - For each block, that of its samples: Poisson with mean frequency x cycles x stall, where the
 *   stall has a gamma distribution (together: negative binomial). Blocks without samples count,
 *   too. Where stalls are heavy, the scale of the gamma distribution is itself gamma-distributed.
 *   Far more samples than expected then cost only their logarithm: a block that waits for memory
 *   may take a hundred times as long as others and must not determine their frequencies.
 * - For each branch, that of the sampled directions, as a multinomial distribution.
 * - For two blocks whose executions were counted relative to each other, a normal distribution of
 *   the logarithm of their ratio.
 * - For the callers' estimate of the executions, a normal distribution of its logarithm.
 *
 * The maximum is found by L-BFGS with exact gradients; each step solves a sparse system twice.
 *
 * Levin, Newman and Haber (2008) and profi (POPL 2022) fit counts to flow by minimum-cost
 * circulation. That method has no place for branch directions, and an absolute difference gives hot
 * blocks the greatest weight although their relative stalls are no smaller.
 */
#ifndef DCPI_FLOW_FIT_H
#define DCPI_FLOW_FIT_H

#include "analysis/frequency/flow_chain.h"

/*
 * Lower bound of probabilities. The solver of the chain subtracts probabilities from 1, so smaller
 * ones have no precision. A loop makes some 10^10 iterations in a few seconds.
 */
#define FLOW_PROBABILITY_MIN 1e-12

/** struct flow_block_evidence - evidence of a node's frequency; all zero: none. */
struct flow_block_evidence {
	double samples;
	double cycles;	  /* per execution, on average over code; 0: ignore the block */
	double evenness;  /* shape of the gamma distribution: 1 / relative variance */
	double heaviness; /* 1 / shape of the distribution of its scale; 0: no heavy stalls */
};

/**
 * flow_block_part() - return the part of a block's samples that is not heavy
 *
 * The slope of the log likelihood with respect to the logarithm of expected samples x is evenness
 * (samples - x) / (x + evenness / part). It is the negative binomial's slope where heaviness is 0,
 * and at most 1 / heaviness elsewhere.
 */
static inline double flow_block_part(const struct flow_block_evidence *block)
{
	return 1 / (1 + block->samples * block->heaviness);
}

/**
 * struct flow_link - executions of one node relative to another node
 * @nodes:  executions of the first node are counted per execution of the second
 * @log:    logarithm of that ratio
 * @weight: 1 / variance of @log
 */
struct flow_link {
	uint32_t nodes[2];
	double log;
	double weight;
};

/**
 * struct flow_evidence - evidence of a procedure's frequencies
 * @blocks: one for each node
 * @seen:   executions of each edge that were observed, plus a prior; > 0
 * @known:  for each node: the observed shares of its outgoing edges are exact. NULL: for no node
 * @links:  @link_count ratios between nodes
 * @calls:  executions by the callers' estimate; @calls_weight: 1 / its relative variance, 0:
 *          unknown
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

/** flow_evidence_knows() - return true if the probabilities of a node's edges are known exactly. */
static inline bool flow_evidence_knows(const struct flow_evidence *evidence, uint32_t node)
{
	return evidence->known != NULL && evidence->known[node];
}

/**
 * struct flow_fit - the result
 * @nodes:  frequency of each node; that of the entry is the procedure's
 * @edges:  probability of each edge
 * @spread: for each node, the standard deviation of the logarithm of its frequency, from the
 *          curvature of the likelihood; NULL until flow_spread_find()
 */
struct flow_fit {
	double *nodes;
	double *edges;
	double *spread;
};

/**
 * flow_fit_create() - find the frequencies of maximum likelihood
 * @ret: out; freed by flow_fit_deinit()
 *
 * Return: 0; -ENOMEM; -EDOM.
 */
int flow_fit_create(struct flow_fit *ret, struct flow_chain *chain,
		    const struct flow_evidence *evidence);

void flow_fit_deinit(struct flow_fit *fit);

#endif
