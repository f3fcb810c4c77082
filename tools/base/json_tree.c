// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/json_tree.h"

#include <errno.h>

int json_tree_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value != NULL && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}
