// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/page_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
#include "tools/stacks/stack_profile.h"

/* Deeper frames are left out, too: a browser's parser is limited in depth. */
#define DEPTH_MAX 256

/* struct frame - a node of the tree; @children: NULL: it is left out, or has none yet */
struct frame {
	struct json_object *object;
	struct json_object *children;
	uint32_t depth;
};

static int frame_describe(struct json_object *object, const struct stack_profile *profile,
			  const struct stack_profile_node *node)
{
	const struct stack_procedure *procedure = &profile->procedures[node->procedure];
	char address[24];
	int r;

	snprintf(address, sizeof(address), "0x%" PRIx64, procedure->address);
	r = json_tree_add(object, "name", json_object_new_string(procedure->name));
	if (r == 0 && procedure->image[0] != '\0')
		r = json_tree_add(object, "image", json_object_new_string(procedure->image));
	if (r == 0 && procedure->address != 0)
		r = json_tree_add(object, "address", json_object_new_string(address));
	return r == 0 ? json_tree_add(object, "value", json_object_new_int64((int64_t)node->total))
		      : r;
}

/* Make the object of a frame and hang it into its caller's. */
static int frame_add(struct frame *frames, const struct stack_profile *profile, size_t number)
{
	const struct stack_profile_node *node = &profile->nodes[number];
	struct frame *parent = &frames[node->parent];

	frames[number].object = json_object_new_object();
	if (frames[number].object == NULL)
		return -ENOMEM;
	if (parent->children == NULL) {
		parent->children = json_object_new_array();
		if (json_tree_add(parent->object, "children", parent->children) < 0) {
			json_object_put(frames[number].object);
			return -ENOMEM;
		}
	}
	if (json_object_array_add(parent->children, frames[number].object) < 0) {
		json_object_put(frames[number].object);
		return -ENOMEM;
	}
	frames[number].depth = parent->depth + 1;
	return frame_describe(frames[number].object, profile, node);
}

/* Callers come before those that they call. */
static int tree_make(struct json_object *root, const struct stack_profile *profile)
{
	uint64_t least = profile->nodes[0].total / PAGE_STACKS_SHARES;
	_cleanup_free_ struct frame *frames = calloc(profile->node_count, sizeof(*frames));
	int r = 0;

	if (frames == NULL)
		return -ENOMEM;
	frames[0].object = root;
	for (size_t i = 1; i < profile->node_count && r == 0; i++) {
		const struct stack_profile_node *node = &profile->nodes[i];
		const struct frame *parent = &frames[node->parent];

		if (parent->object != NULL && parent->depth < DEPTH_MAX && node->total > least)
			r = frame_add(frames, profile, i);
	}
	return r;
}

static int stacks_add(struct json_object *document, const struct stack_profile *profile)
{
	struct json_object *root = json_object_new_object();
	int r;

	if (json_tree_add(document, "stacks", root) < 0)
		return -ENOMEM;
	r = json_tree_add(root, "name", json_object_new_string("all"));
	if (r == 0)
		r = json_tree_add(root, "value",
				  json_object_new_int64((int64_t)profile->nodes[0].total));
	if (r == 0)
		r = json_tree_add(root, "sampled", json_object_new_int64((int64_t)profile->stacks));
	if (r == 0)
		r = json_tree_add(root, "complete",
				  json_object_new_int64((int64_t)profile->complete));
	return r == 0 ? tree_make(root, profile) : r;
}

int page_stacks_add(struct page_source *source, struct page_document *document, struct error *err)
{
	struct stack_profile profile = {.node_count = 0};
	int r = stack_profile_load(&profile, source->reader, source->cli, PROFILE_RECORDING_STACKS,
				   err);

	if (r == 0 && profile.stacks > 0 && stacks_add(document->root, &profile) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	stack_profile_deinit(&profile);
	return r == -ENOENT ? 0 : r;
}
