/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which procedure and instruction of one build of an image is which of another.
 *
 * Procedures are the same if the linker's names are; else, if those of the source are, where
 * that has others (rustc adds a hash of everything to each), of several the one of the same
 * instructions; else, if their instructions are. Where several of a build are alike, they are
 * paired in order, if there are as many in the other one, and not at all if not. Instructions
 * of a pair are aligned by a longest common subsequence.
 *
 * Code is compared by what its instructions do: operation, registers, constants; not by
 * where anything is, as far as that changes when other code does: targets and what is
 * relative to the PC count as there, no more.
 */
#ifndef DCPI_CODE_MATCH_H
#define DCPI_CODE_MATCH_H

#include "analysis/image/image_code.h"

struct code_match;

/**
 * code_match_create() - compare two builds
 * @ret:   out; freed by code_match_destroy()
 * @before, @after: as long as the match is in use; of one architecture
 *
 * Decodes all procedures whose names do not tell. Return: 0; -EINVAL other architectures;
 * -ENOMEM.
 */
int code_match_create(struct code_match **ret, struct image_code *before, struct image_code *after);

void code_match_destroy(struct code_match *match);

/**
 * code_match_procedure() - the procedure of @before that one of @after was
 *
 * Return: its index, or -ENOENT.
 */
long code_match_procedure(const struct code_match *match, size_t after);

/**
 * code_match_address() - the instruction of @before that one of @after was
 * @address: in procedure @after; @ret: out
 *
 * Alignments are remembered for the last procedure asked for: ask for all of one in turn.
 *
 * Return: 0; -ENOENT there is none; -E2BIG the procedures are too long to be compared
 * (8 million pairs of instructions); -ENOMEM.
 */
int code_match_address(struct code_match *match, size_t after, uint64_t address, uint64_t *ret);

#endif
