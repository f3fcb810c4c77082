/* SPDX-License-Identifier: GPL-2.0-only */
/* Additions to json-c. */
#ifndef DCPI_JSON_TREE_H
#define DCPI_JSON_TREE_H

#include <json-c/json.h>

/**
 * json_tree_add() - add a member to an object
 * @value: new; the object takes ownership, also on failure. NULL: it could not be allocated
 *
 * Return: 0 or -ENOMEM.
 */
int json_tree_add(struct json_object *object, const char *key, struct json_object *value);

/**
 * json_tree_texts() - make an array of texts from outside, cleaned. Return: NULL if out of memory
 */
struct json_object *json_tree_texts(char *const *texts, size_t count);

#endif
