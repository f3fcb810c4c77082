/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recognises the DWARF expressions that occur in call frame information. Linkers generate one for
 * procedure linkage tables, compilers two for functions that align their stack, the C library some
 * for the return from signal handlers, and assembly code of libcrypto a few more. Anything else is
 * not evaluated.
 */
#ifndef DCPI_UNWIND_EXPRESSION_H
#define DCPI_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/unwind/unwind_rule.h"
#include "lib/bounded_reader.h"

/** unwind_expression_cfa() - set the CFA of a rule; unchanged if the expression is not known */
void unwind_expression_cfa(struct unwind_rule *rule, const struct unwind_machine *machine,
			   struct bounded_reader expression);

/**
 * unwind_expression_slot() - read the address of a register's slot: frame pointer plus offset
 *
 * Return: false if it has another form.
 */
bool unwind_expression_slot(int64_t *offset, const struct unwind_machine *machine,
			    struct bounded_reader expression);

/**
 * unwind_expression_is_signal() - return true if the rule of a signal frame agrees with the layout
 * of the kernel's frame (unwind_step.c)
 */
bool unwind_expression_is_signal(const struct unwind_rule *rule,
				 const struct unwind_machine *machine);

#endif
