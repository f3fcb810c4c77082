/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Building the graph of a procedure from its code.
 *
 * All bytes are decoded in order of address, and control is followed from the entry. If a branch
 * leads into the middle of an instruction, decoding also starts there. Calls that are known or
 * found not to return end their block. Code that the compiler split off a procedure is a part of
 * its graph.
 */
#ifndef DCPI_CFG_CREATE_H
#define DCPI_CFG_CREATE_H

#include "analysis/graph/cfg.h"

struct error;

/**
 * cfg_create() - build the graph of a procedure
 * @index:    index in image_code_procedures()
 * @evidence: may be NULL
 * @ret:      out; freed by cfg_destroy()
 *
 * Time and memory are in proportion to the procedure (with its jump tables).
 *
 * Return: 0; -ENOENT if the procedure is a part of another one; -ENODATA if no instruction could be
 * decoded; -ENOMEM.
 */
int cfg_create(struct cfg **ret, struct image_code *image, size_t index,
	       const struct cfg_evidence *evidence, struct error *err);

/**
 * cfg_create_from_code() - build the graph of bare code without an image (tests, JIT)
 * @address: address of the first byte, which is the entry
 */
int cfg_create_from_code(struct cfg **ret, const struct insn_decoder *decoder, const uint8_t *code,
			 size_t bytes, uint64_t address, struct error *err);

#endif
