/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of culprit.c, one for each cause. Internal to culprit*.c.
 *
 * All cycles are per execution of the stalled instruction, on average.
 */
#ifndef DCPI_CULPRIT_RULE_H
#define DCPI_CULPRIT_RULE_H

#include "analysis/culprit/culprit.h"
#include "analysis/culprit/culprit_region.h"

struct culprit_working_set;

/* Number of standard deviations attributed to noise. */
#define CULPRIT_NOISE_SIGMAS 2

/* Share of a stall that needs no cause; causes of a smaller share are not listed. */
#define CULPRIT_MINOR_SHARE 0.15

/*
 * Value of @rank of a cause that takes precedence over all others: samples of a whole section of
 * code are more likely than a stall of one instruction.
 */
#define CULPRIT_RANK_FIRST (-1)
/* Values of @rank out of order: of an unknown cause, and of one that is less likely than that */
#define CULPRIT_RANK_UNKNOWN 4
#define CULPRIT_RANK_IMPROBABLE 5
/* Greatest value of @rank. */
#define CULPRIT_RANK_MAX 7

/* Paths with a smaller share of an instruction's executions are ignored. */
#define CULPRIT_NEGLIGIBLE 0.01

/**
 * struct culprit_stall - a dynamic stall to be explained
 * @insns:     of all instructions: cpi and the static stalls, without causes
 * @regions:   of the procedure
 * @working_set: of the procedure (culprit_data.h)
 * @predicted: out of order, the procedure took less time than its branches would if their
 *             directions were random: they follow patterns that the processor predicts
 * @insn:      stalled instruction
 * @block:     its block
 * @cycles:    length
 * @frequency: executions of the instruction, in the unit of struct frequency_estimate
 */
struct culprit_stall {
	const struct culprit_input *input;
	const struct instruction_cpi *insns;
	const struct culprit_regions *regions;
	const struct culprit_working_set *working_set;
	bool predicted;
	uint32_t insn;
	uint32_t block;
	double cycles;
	double frequency;
};

/**
 * struct culprit_bound - share of a stall that may be due to a cause
 * @high:  upper bound in cycles; INFINITY: no bound
 * @from:  see struct culprit
 * @rank: how unlikely the cause is; it is listed only if more likely ones are not sufficient. 0:
 *         to be expected where possible (mispredictions, loads that miss); 1: rarer events; 2:
 *         events that processors and programs avoid (misses of stack loads or code pages)
 * @certain: share of the stall that is certain to be due to the cause; initially 0
 */
struct culprit_bound {
	double high;
	uint32_t from;
	int rank;
	double certain;
};

/**
 * struct culprit_rule - a cause
 * @name, @key, @letter: see culprit_name(), culprit_key() and culprit_letter()
 * @bound: out: initially an unlimited share, caused by the stalled instruction itself. Return:
 *         false if the cause is ruled out
 * @precise: the cause is of the sampled instruction itself, even if samples may be late
 */
struct culprit_rule {
	const char *name;
	const char *key;
	char letter;
	bool (*bound)(const struct culprit_stall *stall, struct culprit_bound *ret);
	bool precise;
};

extern const struct culprit_rule culprit_rules[CULPRIT_CAUSES];

bool culprit_icache_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_itb_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_dcache_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_dtb_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_write_buffer_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_sync_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_branch_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_imul_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_fdiv_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_interrupts_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_store_forward_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_sharing_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_page_fault_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_latency_bound(const struct culprit_stall *stall, struct culprit_bound *ret);
bool culprit_other_bound(const struct culprit_stall *stall, struct culprit_bound *ret);

/**
 * culprit_event_bound() - return the upper bound in cycles that follows from an event's samples
 * @first, @last: instructions on which the samples of the event may have fallen
 * @cycles:       upper bound of the cost of one event
 *
 * Return: INFINITY if the event was not collected.
 */
double culprit_event_bound(const struct culprit_stall *stall, enum profile_event_role role,
			   uint32_t first, uint32_t last, double cycles);

/**
 * culprit_branch_cost() - return the time of mispredictions in a procedure in samples, if the
 * directions of its branches were random
 */
double culprit_branch_cost(const struct culprit_input *input);

/**
 * culprit_edge_most() - return the upper bound of an edge's frequency
 *
 * Return: the upper end of the estimate's interval; without an estimate, the bound by the edge's
 * blocks.
 */
double culprit_edge_most(const struct culprit_input *input, uint32_t edge);

/**
 * culprit_edge_share() - return the share of a block's executions that arrive along an edge
 *
 * Return: 0 .. 1; edges without an estimate share the remainder.
 */
double culprit_edge_share(const struct culprit_input *input, uint32_t edge);

#endif
