// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_row.h"

#include "analysis/image/procedure_names.h"
#include "db/profile.h"
#include "tools/base/json_tree.h"

uint64_t tally_count_scaled(const struct tally_count *count)
{
	uint64_t sum;

	/* In a damaged database the times may yield any factor. */
	if (count->extra >= (double)INT64_MAX ||
	    __builtin_add_overflow(count->samples, (uint64_t)(count->extra + 0.5), &sum))
		return UINT64_MAX;
	return sum;
}

void tally_count_add(struct tally_count *count, uint64_t samples, double factor)
{
	count->samples += samples;
	count->extra += (double)samples * (factor - 1);
}

const char *tally_row_note(const struct tally_row *row)
{
	if (row->note != NULL)
		return row->note;
	return row->names != NULL ? row->names->note : NULL;
}

const char *tally_row_alias_list(const struct tally_row *row)
{
	return row->names != NULL ? row->names->list : "";
}

struct json_object *tally_row_aliases(const struct tally_row *row)
{
	if (row->names == NULL)
		return json_tree_texts(NULL, 0);
	return json_tree_texts(row->names->aliases, row->names->alias_count);
}

const char *tally_row_build_id(const struct tally_row *row)
{
	bool digest = row->file != NULL && (row->file->identity_kind == PROFILE_IDENTITY_CONTENT ||
					    row->file->identity_kind == PROFILE_IDENTITY_FILE);

	return row->identity + (digest ? 2 * PROFILE_IDENTITY_DIGEST_BYTES : 0);
}
