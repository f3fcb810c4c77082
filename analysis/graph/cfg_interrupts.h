/* SPDX-License-Identifier: GPL-2.0-only */
/* The first instructions at which interrupts are possible, after code that disables them. */
#ifndef DCPI_CFG_INTERRUPTS_H
#define DCPI_CFG_INTERRUPTS_H

#include "analysis/graph/cfg.h"

/**
 * cfg_interrupts_enabled() - find the instruction that may have enabled interrupts
 * @insn:  a delayed interrupt may have been taken before it
 * @moved: at the instruction before @insn, whose samples were moved back (skid.h): @insn itself may
 *         enable interrupts
 *
 * Return: an instruction of @cfg; UINT32_MAX: none. Instructions after a call count as none,
 * because the callee's last instructions are unknown.
 */
uint32_t cfg_interrupts_enabled(const struct cfg *cfg, uint32_t insn, bool moved);

#endif
