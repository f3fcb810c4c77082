/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports of the contexts that an instrumented program has recorded (dcpix --mode context). */
#ifndef DCPI_EXPORT_CONTEXTS_H
#define DCPI_EXPORT_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/base/stack_tree.h"
#include "tools/report/cli.h"

struct exporter;

/** struct export_context - a procedure in a context, which belongs to a node of the stacks */
struct export_context {
	uint32_t procedure;
	uint64_t calls;
};

/** struct export_procedure - @address: ELF virtual address; 0: callers outside any procedure */
struct export_procedure {
	const char *name;
	uint64_t address;
};

/**
 * struct export_contexts - the data to be exported
 * @image, @build_id: of the program
 * @title:    of pictures; NULL: @image
 * @metric:   metric of the values: "cycles"; "calls" if nothing was measured
 * @unit:     of the values in formats with units; NULL: a count
 * @counted:  what @contexts count; NULL: "calls"
 * @stacks:   the first node, the root, is not a context
 * @contexts: one for each node of @stacks
 * @start_ns, @end_ns: of the epochs
 * @comment:  origin of the data, one line
 */
struct export_contexts {
	const char *image;
	const char *build_id;
	const char *title;
	const char *metric;
	const char *unit;
	const char *counted;
	struct stack_tree stacks;
	const struct export_context *contexts;
	const struct export_procedure *procedures;
	size_t procedure_count;
	int64_t start_ns;
	int64_t end_ns;
	const char *comment;
};

static inline const char *export_contexts_title(const struct export_contexts *contexts)
{
	return contexts->title != NULL ? contexts->title : contexts->image;
}

/**
 * export_contexts() - write the contexts of the program that the command line selects
 * @exporter: one that has write_contexts
 * @output:   NULL: stdout
 *
 * Return: the status to exit with; errors are printed.
 */
int export_contexts(struct cli *cli, const struct exporter *exporter, const char *output);

#endif
