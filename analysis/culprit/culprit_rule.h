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

/* Standard deviations that are noise. */
#define CULPRIT_NOISE_SIGMAS 2

/* This share of a stall need not be accounted for, nor is a cause of less worth a line. */
#define CULPRIT_MINOR_SHARE 0.15

/* Doubt that can't be greater. */
#define CULPRIT_DOUBT_MAX 5

/* Ways that fewer of an instruction's executions come by than this are ignored. */
#define CULPRIT_NEGLIGIBLE 0.01

/**
 * struct culprit_stall - a dynamic stall that wants explaining
 * @insns:     of all instructions: cpi and what the schedule says, no culprits yet
 * @regions:   of the procedure
 * @insn:      that stalled
 * @block:     where it is
 * @cycles:    how long
 * @frequency: executions of the instruction, as struct frequency_estimate has them
 */
struct culprit_stall {
	const struct culprit_input *input;
	const struct instruction_cpi *insns;
	const struct culprit_regions *regions;
	uint32_t insn;
	uint32_t block;
	double cycles;
	double frequency;
};

/**
 * struct culprit_bound - what a cause may be guilty of
 * @high:     cycles at most; INFINITY: as many as there are
 * @from:     see struct culprit
 * @doubt: a cause is listed only where those of less doubt are not enough. 0: what is to
 *         be expected where it can happen (mispredicts, loads that miss); 1: rarer things;
 *         2: what processors and programs avoid (loads of the stack, pages of code)
 */
struct culprit_bound {
	double high;
	uint32_t from;
	unsigned int doubt;
};

/**
 * struct culprit_rule - a cause
 * @name, @key, @letter: see culprit_name() and those behind it
 * @bound: out: filled in, to begin with, with "itself may be guilty of everything".
 *         Return: false if the cause is ruled out
 */
struct culprit_rule {
	const char *name;
	const char *key;
	char letter;
	bool (*bound)(const struct culprit_stall *stall, struct culprit_bound *ret);
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
bool culprit_other_bound(const struct culprit_stall *stall, struct culprit_bound *ret);

/**
 * culprit_event_bound() - cycles at most, by the samples of an event
 * @first, @last: instructions that the samples of such an event may have fallen on
 * @cycles:       that one event costs at most
 *
 * Return: INFINITY if the event was not collected.
 */
double culprit_event_bound(const struct culprit_stall *stall, enum profile_event_role role,
			   uint32_t first, uint32_t last, double cycles);

/**
 * culprit_edge_most() - how often control goes along an edge at most
 *
 * Return: the estimate's upper end; of an edge that nothing is known of, what its ends
 * allow.
 */
double culprit_edge_most(const struct culprit_input *input, uint32_t edge);

/**
 * culprit_edge_share() - the share of a block's executions that come by an edge
 *
 * Return: 0 .. 1; edges that nothing is known of share what the others leave.
 */
double culprit_edge_share(const struct culprit_input *input, uint32_t edge);

#endif
