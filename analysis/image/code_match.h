/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matching of procedures and instructions between two builds of an image.
 *
 * Procedures match if their linker names are equal. Otherwise they match if their source names are
 * equal, where these differ from linker names (rustc adds a hash to each). If several have the same
 * source name, those with equal instructions match. Otherwise they match if their instructions are
 * equal. Groups of equal procedures are matched in order if both builds have the same number of
 * them, and not at all if the numbers differ. Instructions of matched procedures are aligned by a
 * longest common subsequence.
 *
 * Code is compared by the effects of instructions: operation, registers, constants. Locations that
 * change when other code changes are ignored: branch targets and PC-relative operands are compared
 * only for their presence.
 */
#ifndef DCPI_CODE_MATCH_H
#define DCPI_CODE_MATCH_H

#include "analysis/image/image_code.h"

struct code_match;

/**
 * code_match_create() - compare two builds
 * @ret:            out; freed by code_match_destroy()
 * @before, @after: must outlive the match; of the same architecture
 *
 * Decodes all procedures without a match by name. Return: 0; -EINVAL if the architectures differ;
 * -ENOMEM.
 */
int code_match_create(struct code_match **ret, struct image_code *before, struct image_code *after);

void code_match_destroy(struct code_match *match);

/**
 * code_match_procedure() - find the procedure of @before that matches a procedure of @after
 *
 * Return: its index, or -ENOENT.
 */
long code_match_procedure(const struct code_match *match, size_t after);

/**
 * code_match_address() - find the instruction of @before that matches an instruction of @after
 * @address: in procedure @after; @ret: out
 *
 * Only the last procedure's alignment is cached: look up all addresses of a procedure in sequence.
 *
 * Return: 0; -ENOENT if there is none; -E2BIG if the procedures are too long for a comparison (8
 * million pairs of instructions); -ENOMEM.
 */
int code_match_address(struct code_match *match, size_t after, uint64_t address, uint64_t *ret);

#endif
