// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/json_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"

int json_tree_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value != NULL && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

struct json_object *json_tree_texts(char *const *texts, size_t count)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; list != NULL && i < count; i++) {
		_cleanup_free_ char *clean = text_clean(texts[i]);
		struct json_object *item = clean != NULL ? json_object_new_string(clean) : NULL;

		if (item == NULL || json_object_array_add(list, item) < 0) {
			json_object_put(item);
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}
