/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths in contexts (dcpix --mode context-paths): their listing, and the paths to call sites. */
#ifndef DCPI_CONTEXT_PATHS_H
#define DCPI_CONTEXT_PATHS_H

#include "instrument/calls/call_map.h"
#include "instrument/calls/context_tree.h"
#include "instrument/paths/paths_profile.h"
#include "instrument/paths/paths_report.h"
#include "tools/calls/call_names.h"

struct error;

/**
 * struct context_paths - freed by context_paths_deinit()
 * @map: of the paths; its procedures are numbered as in the call map
 */
struct context_paths {
	const struct context_tree *tree;
	const struct call_names *names;
	struct paths_map map;
	struct paths_profile profile;
};

/**
 * context_paths_read() - read the paths of all contexts
 * @calls: map of the program; @tree: contexts of the files
 * @files: for the numbers of paths that were lost
 *
 * Return: 0; -ENODATA the program does not record paths; -EBADMSG damaged; errors of
 * paths_profile_add(); -ENOMEM.
 */
int context_paths_read(struct context_paths *ret, const struct call_map *calls,
		       const struct context_tree *tree, const struct call_names *names,
		       char *const *files, size_t count, struct error *err);

void context_paths_deinit(struct context_paths *paths);

/**
 * context_paths_print() - print a report like that of dcpipaths, with the context of each path
 * @options: @print_context and @contexts are set here
 *
 * Return: as paths_report_print().
 */
int context_paths_print(FILE *out, const struct context_paths *paths,
			struct paths_report_options options, struct error *err);

/**
 * context_paths_single() - count the call sites that were reached in a record by exactly one path
 * @ret: out: number of these call sites; two paths that are the same up to the call count as one
 *
 * Return: 0 or -ENOMEM.
 */
int context_paths_single(const struct context_paths *paths, uint64_t *ret);

#endif
