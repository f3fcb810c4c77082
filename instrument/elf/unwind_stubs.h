/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linkers describe the frames of all lazy PLT stubs by one formula over the low bits of the program
 * counter: from its eleventh byte on, a stub has pushed a number. This does not hold for stubs at
 * other addresses, so each stub gets a description of its own.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_STUBS_H
#define DCPI_INSTRUMENT_UNWIND_STUBS_H

#include "instrument/elf/unwind_frame.h"

/**
 * unwind_stubs_divide() - split a frame that ends with stubs
 * @rest: in: the frame; out: the stubs
 * @head: out: the code before the stubs
 *
 * Return: true if the frame ends with stubs.
 */
bool unwind_stubs_divide(struct unwind_frame *rest, struct unwind_frame *head);

/** unwind_stubs_next() - take the next stub from @rest. Return: true if there was one. */
bool unwind_stubs_next(struct unwind_frame *rest, struct unwind_frame *stub);

#endif
