// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/stack_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/* A semicolon in a name would separate frames. */
void stack_tree_frame(FILE *stream, const char *name)
{
	for (; *name != '\0'; name++)
		fputc(*name == ';' ? ':' : *name, stream);
}

int stack_tree_folded(FILE *stream, const struct stack_tree *tree)
{
	_cleanup_free_ uint32_t *stack = calloc(tree->count + 1, sizeof(*stack));

	if (stack == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->count; i++) {
		size_t depth = 0;

		if (tree->nodes[i].value == 0)
			continue;
		for (uint32_t at = i; at != 0; at = tree->nodes[at].parent)
			stack[depth++] = at;
		while (depth-- > 0) {
			stack_tree_frame(stream, tree->nodes[stack[depth]].name);
			fputc(depth > 0 ? ';' : ' ', stream);
		}
		fprintf(stream, "%" PRIu64 "\n", tree->nodes[i].value);
	}
	return 0;
}
