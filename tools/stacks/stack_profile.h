/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampled call stacks or the off-CPU time of a database, as one tree of procedures over all
 * selected epochs.
 *
 * A stack stands for as many samples as its epoch says, so values are estimates of numbers of
 * samples. Values of off-CPU time are nanoseconds; the innermost frames are the states. Frames that
 * differ only in the address within their procedure are one node. With
 * @cli->inlines, functions inlined there, known from DWARF, are frames called by the procedure.
 */
#ifndef DCPI_STACK_PROFILE_H
#define DCPI_STACK_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile_read.h"

struct cli;
struct error;
struct profile_reader;

/** The name of off-CPU time in --event. */
#define STACK_PROFILE_OFF_CPU "offcpu"

/** The end of the name of an inlined function. */
#define STACK_PROFILE_INLINED " [inlined]"

/**
 * struct stack_procedure - a procedure
 * @name:    clean; in brackets if it stands for unknown frames; with STACK_PROFILE_INLINED if it is
 *           inlined
 * @image:   path of its image; "" for unknown frames
 * @address: ELF virtual address of its start; 0: unknown
 */
struct stack_procedure {
	char *name;
	const char *image;
	uint64_t address;
};

/**
 * struct stack_profile_node - a frame, called by that of its parent
 * @parent: number of the caller's node, less than this one's; 0: none, it is the outermost
 * @stacks: number of stacks that end in this frame
 * @self:   samples in this frame; @total: also those in frames that it called
 */
struct stack_profile_node {
	uint32_t parent;
	uint32_t procedure;
	uint64_t stacks;
	uint64_t self;
	uint64_t total;
};

/**
 * struct stack_profile - freed by stack_profile_deinit()
 * @nodes:  the first is the root, whose @total is that of all stacks
 * @mode:   of the values
 * @stacks: number of sampled stacks, or of recorded intervals; @complete: those with all frames
 * @threshold_ns: off-CPU time: the longest interval that was sampled; longer ones are complete
 * @excluded: number of stacks with a frame of the profiler (profiler_class.h); no other member
 *            counts them unless the command line includes them
 */
struct stack_profile {
	struct stack_profile_node *nodes;
	size_t node_count;
	struct stack_procedure *procedures;
	size_t procedure_count;
	char **images;
	size_t image_count;
	uint64_t stacks;
	uint64_t complete;
	uint64_t excluded;
	uint64_t threshold_ns;
	enum profile_recording_mode mode;
};

/**
 * stack_profile_choose() - choose between call stacks and off-CPU time by the events of the command
 * line
 * @ret: out: PROFILE_RECORDING_STACKS or PROFILE_RECORDING_OFF_CPU
 *
 * Return: 0; -EINVAL: off-CPU time and other events.
 */
int stack_profile_choose(enum profile_recording_mode *ret, const struct cli *cli,
			 struct error *err);

/**
 * stack_profile_load() - read the stacks that the command line selects
 * @profile: zero-initialised
 * @mode:    PROFILE_RECORDING_STACKS or PROFILE_RECORDING_OFF_CPU
 * @reader:  open
 *
 * Return: 0; -ENOENT: no epoch has stacks; -EBADMSG: damaged; -ENOMEM; the reader's errors.
 */
int stack_profile_load(struct stack_profile *profile, struct profile_reader *reader,
		       const struct cli *cli, enum profile_recording_mode mode, struct error *err);

/**
 * stack_profile_unknown_name() - return the name of a frame in the image of unknown samples
 * @offset: 0, enum profile_stack_end or enum profile_off_cpu_state
 */
const char *stack_profile_unknown_name(uint64_t offset);

void stack_profile_deinit(struct stack_profile *profile);

#endif
