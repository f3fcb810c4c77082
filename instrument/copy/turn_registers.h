/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that are put again, and have their checks' number in a register while they run: one
 * that is free all the time. From memory to memory it takes a processor longer to count than a
 * small loop's turn; and a loop that is put again once fills no caches, as several turns do, which
 * is what it takes to have fewer checks.
 */
#ifndef DCPI_INSTRUMENT_TURN_REGISTERS_H
#define DCPI_INSTRUMENT_TURN_REGISTERS_H

#include "instrument/code/liveness.h"
#include "instrument/copy/turn_strides.h"

/**
 * turn_registers_find() - choose them: those that have one are put again once
 *
 * Not where flags but the carry matter to the loop's first block, for counting changes them, nor
 * where a way leads out of the procedure.
 */
void turn_registers_find(struct turn_strides *strides, const struct liveness *liveness);

#endif
