/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linkers tell of the frames of all lazy stubs of a linkage table at once, by a formula over
 * the low bits of the program counter: from a stub's eleventh byte on it has pushed a number.
 * That is wrong of stubs that were put elsewhere, so each is told of by itself.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_STUBS_H
#define DCPI_INSTRUMENT_UNWIND_STUBS_H

#include "instrument/elf/unwind_frame.h"

/**
 * unwind_stubs_divide() - take a frame apart that ends with stubs
 * @rest: in: the frame; out: the stubs
 * @head: out: what comes before them
 *
 * Return: whether it is such a frame.
 */
bool unwind_stubs_divide(struct unwind_frame *rest, struct unwind_frame *head);

/** unwind_stubs_next() - the next stub of @rest. Return: whether there was one. */
bool unwind_stubs_next(struct unwind_frame *rest, struct unwind_frame *stub);

#endif
