/* SPDX-License-Identifier: GPL-2.0-only */
/* What json-c's objects lack. */
#ifndef DCPI_JSON_TREE_H
#define DCPI_JSON_TREE_H

#include <json-c/json.h>

/**
 * json_tree_add() - add a member
 * @value: new, and taken over, also on failure; NULL: there was no memory for it
 *
 * Return: 0 or -ENOMEM.
 */
int json_tree_add(struct json_object *object, const char *key, struct json_object *value);

/** json_tree_texts() - an array of texts from outside, cleaned. Return: NULL: out of memory. */
struct json_object *json_tree_texts(char *const *texts, size_t count);

#endif
