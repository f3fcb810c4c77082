// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stack_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/image/demangle.h"
#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/u64_map.h"
#include "tools/base/text.h"
#include "tools/report/cli.h"
#include "tools/report/image_symbols.h"
#include "tools/report/profiler_class.h"
#include "tools/stacks/stored_stacks.h"

/* In @merged: the node of an excluded frame. */
#define OWN_NODE UINT64_MAX

/*
 * @stored:     of all epochs
 * @known:      children of nodes that exist: parent and procedure to the number
 * @merged:     of the current epoch: number in the database to the number in the profile
 * @whole:      sum of all values
 * @chains:     procedures of inlined functions, see struct stored_stack
 */
struct loading {
	struct stack_profile *profile;
	struct profile_reader *reader;
	const struct cli *cli;
	struct error *err;
	struct stored_stacks stored;
	size_t node_capacity;
	size_t procedure_capacity;
	size_t image_capacity;
	struct u64_map known;
	struct u64_map merged;
	uint32_t *chains;
	size_t chain_count;
	size_t chain_capacity;
	uint64_t whole;
};

/*
 * An image whose frames get their procedures.
 *
 * @symbols: NULL: the image of unknown frames
 * @numbers: symbol to procedure, plus 1
 * @inlined: hash of the name of an inlined function to procedure, plus 1
 * @offsets: offset to the index of its chain (upper half), and its length plus 1
 */
struct naming {
	struct image_symbols *symbols;
	const char *path;
	struct u64_map numbers;
	struct u64_map inlined;
	struct u64_map offsets;
};

static void naming_deinit(struct naming *naming)
{
	u64_map_deinit(&naming->numbers);
	u64_map_deinit(&naming->inlined);
	u64_map_deinit(&naming->offsets);
	image_symbols_close(naming->symbols);
}

static const char *const end_names[PROFILE_STACK_ENDS] = {
	[PROFILE_STACK_COMPLETE] = "[code in no image]",
	[PROFILE_STACK_SHORT] = "[unfinished: stack copy too short]",
	[PROFILE_STACK_UNREADABLE] = "[unfinished: stack not in memory]",
	[PROFILE_STACK_OTHER] = "[unfinished: other stack]",
	[PROFILE_STACK_NO_TABLE] = "[unfinished: image without call frame information]",
	[PROFILE_STACK_NO_RULE] = "[unfinished: code without call frame information]",
	[PROFILE_STACK_EXPRESSION] = "[unfinished: call frame information not supported]",
	[PROFILE_STACK_REGISTER] = "[unfinished: register not known]",
	[PROFILE_STACK_BAD_FRAME] = "[unfinished: frame out of order]",
	[PROFILE_STACK_BAD_ADDRESS] = "[unfinished: return address in no image]",
	[PROFILE_STACK_FRAMES] = "[unfinished: too many frames]",
	[PROFILE_STACK_NO_REGISTERS] = "[unfinished: no registers]",
	[PROFILE_STACK_WAITING] = "[unfinished: call frame information not read in time]",
	[PROFILE_STACK_CHAIN] = "[unfinished: recorded call chain too short]",
	[PROFILE_STACK_DAMAGED] = "[unfinished: recording of the stack is malformed]",
};

static const char *const state_names[PROFILE_OFF_CPU_STATES] = {
	[PROFILE_OFF_CPU_RUNNABLE - PROFILE_OFF_CPU_RUNNABLE] = "[runnable]",
	[PROFILE_OFF_CPU_SLEEP - PROFILE_OFF_CPU_RUNNABLE] = "[sleep]",
	[PROFILE_OFF_CPU_IO - PROFILE_OFF_CPU_RUNNABLE] = "[I/O]",
	[PROFILE_OFF_CPU_LOCK - PROFILE_OFF_CPU_RUNNABLE] = "[lock]",
	[PROFILE_OFF_CPU_BLOCKED - PROFILE_OFF_CPU_RUNNABLE] = "[uninterruptible]",
};

static const char profiler_frame[] = "[profiler]";

const char *stack_profile_unknown_name(uint64_t offset)
{
	if (offset == PROFILE_STACK_OF_PROFILER)
		return profiler_frame;
	if (offset >= PROFILE_OFF_CPU_RUNNABLE && offset <= PROFILE_OFF_CPU_BLOCKED)
		return state_names[offset - PROFILE_OFF_CPU_RUNNABLE];
	return end_names[offset < PROFILE_STACK_ENDS ? offset : 0];
}

/* Return: the number of a new procedure, or -ENOMEM. @name: becomes the profile's */
static int64_t procedure_add(struct loading *loading, char *name, const char *image,
			     uint64_t address)
{
	struct stack_profile *profile = loading->profile;

	if (name == NULL ||
	    array_reserve(&profile->procedures, &loading->procedure_capacity,
			  profile->procedure_count + 1, sizeof(*profile->procedures)) < 0) {
		free(name);
		return -ENOMEM;
	}
	profile->procedures[profile->procedure_count] =
		(struct stack_procedure){name, image, address};
	return (int64_t)profile->procedure_count++;
}

static int64_t symbol_add(struct loading *loading, const struct image_symbols *symbols,
			  size_t symbol, const char *image)
{
	_cleanup_free_ char *name = NULL;
	uint64_t address = 0;
	bool has_address;

	name = image_symbols_name(symbols, symbol, loading->cli->demangle, &address, &has_address);
	return name == NULL
		       ? -ENOMEM
		       : procedure_add(loading, text_clean(name), image, has_address ? address : 0);
}

/* Return: the number of the procedure of a symbol, or -ENOMEM. */
static int64_t symbol_procedure(struct loading *loading, struct naming *naming, uint64_t symbol)
{
	uint64_t *number = u64_map_insert(&naming->numbers, symbol);
	int64_t added;

	if (number == NULL)
		return -ENOMEM;
	if (*number != 0)
		return (int64_t)*number - 1;
	if (naming->symbols != NULL)
		added = symbol_add(loading, naming->symbols, symbol, naming->path);
	else
		added = procedure_add(loading, strdup(stack_profile_unknown_name(symbol)), "", 0);
	if (added >= 0)
		*number = (uint64_t)added + 1;
	return added;
}

/* Return: the clean name of an inlined function, with its mark; NULL: no memory. */
static char *inlined_name(const struct loading *loading, const char *name)
{
	_cleanup_free_ char *demangled = loading->cli->demangle ? demangle(name) : NULL;
	_cleanup_free_ char *clean = text_clean(demangled != NULL ? demangled : name);
	char *marked = NULL;

	if (clean == NULL || asprintf(&marked, "%s" STACK_PROFILE_INLINED, clean) < 0)
		return NULL;
	return marked;
}

/* Return: the number of the procedure of an inlined function, or -ENOMEM. */
static int64_t inlined_procedure(struct loading *loading, struct naming *naming, const char *name)
{
	uint64_t *number = u64_map_insert(&naming->inlined, XXH3_64bits(name, strlen(name)));
	int64_t added;

	if (number == NULL)
		return -ENOMEM;
	if (*number != 0)
		return (int64_t)*number - 1;
	added = procedure_add(loading, inlined_name(loading, name), naming->path, 0);
	if (added >= 0)
		*number = (uint64_t)added + 1;
	return added;
}

/* Add the inlined functions at an offset to the chains. */
static int chain_add(struct loading *loading, struct naming *naming, struct stored_stack *row)
{
	const char *names[IMAGE_LINES_INLINES_MAX];
	size_t count;
	int r = image_symbols_inlines(naming->symbols, row->offset, names, &count);

	if (r < 0 || array_reserve(&loading->chains, &loading->chain_capacity,
				   loading->chain_count + count + 1, sizeof(*loading->chains)) < 0)
		return -ENOMEM;
	row->inlined = (uint32_t)loading->chain_count;
	row->inlined_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		int64_t procedure = inlined_procedure(loading, naming, names[i]);

		if (procedure < 0)
			return -ENOMEM;
		loading->chains[loading->chain_count++] = (uint32_t)procedure;
	}
	return 0;
}

/* Set the inlined functions of a row. Other rows may have the same offset. */
static int row_inline(struct loading *loading, struct naming *naming, struct stored_stack *row)
{
	uint64_t *chain = u64_map_insert(&naming->offsets, row->offset);

	if (chain == NULL)
		return -ENOMEM;
	if (*chain == 0) {
		if (chain_add(loading, naming, row) < 0)
			return -ENOMEM;
		*chain = (uint64_t)row->inlined << 32 | (row->inlined_count + 1U);
	}
	row->inlined = (uint32_t)(*chain >> 32);
	row->inlined_count = (uint32_t)*chain - 1;
	return 0;
}

/* Set the procedures of the rows of an image. */
static int image_name(struct loading *loading, struct naming *naming, struct stored_stack *rows,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t symbol = naming->symbols != NULL
					  ? image_symbols_find(naming->symbols, rows[i].offset)
					  : rows[i].offset;
		int64_t procedure = symbol_procedure(loading, naming, symbol);

		if (procedure < 0)
			return -ENOMEM;
		rows[i].procedure = (uint32_t)procedure;
		if (loading->cli->inlines && naming->symbols != NULL &&
		    row_inline(loading, naming, &rows[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Return: the path of an image, owned by the profile; NULL: no memory. */
static char *path_add(struct loading *loading, const char *path)
{
	struct stack_profile *profile = loading->profile;
	char *copy;

	if (array_reserve(&profile->images, &loading->image_capacity, profile->image_count + 1,
			  sizeof(char *)) < 0)
		return NULL;
	copy = strdup(path);
	if (copy != NULL)
		profile->images[profile->image_count++] = copy;
	return copy;
}

/* Mark the rows of an image of the profiler, and the outermost frame of its processes. */
static void own_mark(const struct loading *loading, struct stored_stack *rows, size_t count,
		     const struct profile_image *image)
{
	bool unknown = image->kind == PROFILE_IMAGE_UNKNOWN;
	bool own = profiler_class_of(image, NULL, PROFILER_PROBES_NONE) == PROFILER_WHOLE;

	for (size_t i = 0; !loading->cli->include.profiler && i < count; i++)
		rows[i].own = own || (unknown && rows[i].offset == PROFILE_STACK_OF_PROFILER);
}

static int image_take(struct loading *loading, struct stored_stack *rows, size_t count)
{
	struct naming naming = {.symbols = NULL};
	struct profile_image image;
	char *path;
	int r = profile_reader_image(loading->reader, rows[0].image, &image, loading->err);

	if (r < 0)
		return r;
	path = path_add(loading, image.path);
	if (path == NULL)
		return error_set(loading->err, ENOMEM, ERROR_NO_MEMORY);
	image.path = path;
	own_mark(loading, rows, count, &image);
	if (image.kind != PROFILE_IMAGE_UNKNOWN)
		r = image_symbols_open(&naming.symbols, loading->reader, rows[0].image, &image,
				       &loading->cli->debug, loading->err);
	naming.path = path;
	if (r == 0 && image_name(loading, &naming, rows, count) < 0)
		r = error_set(loading->err, ENOMEM, ERROR_NO_MEMORY);
	naming_deinit(&naming);
	return r;
}

static int images_take(struct loading *loading)
{
	int r = 0;

	for (size_t first = 0, end; first < loading->stored.count && r == 0; first = end) {
		end = first + 1;
		while (end < loading->stored.count &&
		       loading->stored.rows[end].image == loading->stored.rows[first].image)
			end++;
		r = image_take(loading, &loading->stored.rows[first], end - first);
	}
	return r;
}

/* Return: the number of the node of a procedure below a parent; 0: no memory. */
static uint32_t node_find(struct loading *loading, uint32_t parent, uint32_t procedure)
{
	struct stack_profile *profile = loading->profile;
	uint64_t *known =
		u64_map_insert(&loading->known, (uint64_t)parent << 32 | (procedure + 1U));

	if (known == NULL)
		return 0;
	if (*known != 0)
		return (uint32_t)*known;
	if (array_reserve(&profile->nodes, &loading->node_capacity, profile->node_count + 1,
			  sizeof(*profile->nodes)) < 0)
		return 0;
	profile->nodes[profile->node_count] =
		(struct stack_profile_node){.parent = parent, .procedure = procedure};
	*known = profile->node_count++;
	return (uint32_t)*known;
}

static const char *name_of(const struct stack_profile *profile, uint32_t node)
{
	return profile->procedures[profile->nodes[node].procedure].name;
}

/* A stack is unfinished if its outermost frame, but for the mark, stands for the missing ones. */
static bool is_unfinished(const struct stack_profile *profile, uint32_t node)
{
	uint32_t outermost = node;

	for (; profile->nodes[node].parent != 0; node = profile->nodes[node].parent)
		outermost = node;
	if (strcmp(name_of(profile, node), profiler_frame) != 0)
		outermost = node;
	return strncmp(name_of(profile, outermost), "[unfinished:", strlen("[unfinished:")) == 0;
}

/* The parent was added before, because its number is less. */
static int row_merge(struct loading *loading, const struct stored_stack *row)
{
	struct stack_profile *profile = loading->profile;
	const uint64_t *parent =
		row->parent != 0 ? u64_map_find(&loading->merged, row->parent) : NULL;
	bool is_off_cpu = profile->mode == PROFILE_RECORDING_OFF_CPU;
	uint64_t *merged, samples = row->ns;
	uint32_t node;

	if (row->parent >= row->number || (row->parent != 0 && parent == NULL) ||
	    (!is_off_cpu && __builtin_mul_overflow(row->stacks, row->every, &samples)) ||
	    __builtin_add_overflow(loading->whole, samples, &loading->whole) ||
	    loading->whole > INT64_MAX / 2)
		return error_set(loading->err, EBADMSG, ERROR_DATABASE_STACKS);
	if (row->own || (parent != NULL && *parent == OWN_NODE)) {
		merged = u64_map_insert(&loading->merged, row->number);
		if (merged == NULL)
			return error_set(loading->err, ENOMEM, ERROR_NO_MEMORY);
		*merged = OWN_NODE;
		profile->excluded += row->stacks;
		return 0;
	}
	node = node_find(loading, parent != NULL ? (uint32_t)*parent : 0, row->procedure);
	for (uint32_t i = 0; i < row->inlined_count && node != 0; i++)
		node = node_find(loading, node, loading->chains[row->inlined + i]);
	merged = node != 0 ? u64_map_insert(&loading->merged, row->number) : NULL;
	if (merged == NULL)
		return error_set(loading->err, ENOMEM, ERROR_NO_MEMORY);
	*merged = node;
	if (is_off_cpu && row->every > profile->threshold_ns)
		profile->threshold_ns = row->every;
	profile->nodes[node].self += samples;
	profile->nodes[node].stacks += row->stacks;
	profile->stacks += row->stacks;
	if (!is_unfinished(profile, node))
		profile->complete += row->stacks;
	return 0;
}

static int rows_merge(struct loading *loading)
{
	struct stack_profile *profile = loading->profile;
	int r = 0;

	if (array_reserve(&profile->nodes, &loading->node_capacity, 1, sizeof(*profile->nodes)) < 0)
		return error_set(loading->err, ENOMEM, ERROR_NO_MEMORY);
	profile->nodes[profile->node_count++] = (struct stack_profile_node){.parent = 0};
	stored_stacks_sort(&loading->stored);
	for (size_t i = 0; i < loading->stored.count && r == 0; i++) {
		if (i > 0 && loading->stored.rows[i].epoch != loading->stored.rows[i - 1].epoch)
			u64_map_deinit(&loading->merged);
		r = row_merge(loading, &loading->stored.rows[i]);
	}
	for (size_t i = profile->node_count; i-- > 1;) {
		profile->nodes[i].total += profile->nodes[i].self;
		profile->nodes[profile->nodes[i].parent].total += profile->nodes[i].total;
	}
	return r;
}

int stack_profile_choose(enum profile_recording_mode *ret, const struct cli *cli, struct error *err)
{
	bool is_off_cpu = false;

	for (size_t i = 0; i < cli->event_count; i++)
		is_off_cpu |= strcmp(cli->events[i], STACK_PROFILE_OFF_CPU) == 0;
	if (is_off_cpu && cli->event_count > 1)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--event %s", "other events"),
				 STACK_PROFILE_OFF_CPU);
	*ret = is_off_cpu ? PROFILE_RECORDING_OFF_CPU : PROFILE_RECORDING_STACKS;
	return 0;
}

int stack_profile_load(struct stack_profile *profile, struct profile_reader *reader,
		       const struct cli *cli, enum profile_recording_mode mode, struct error *err)
{
	struct loading loading = {.profile = profile, .reader = reader, .cli = cli, .err = err};
	int r = stored_stacks_read(&loading.stored, reader, &cli->filter, mode, err);

	profile->mode = mode;
	if (r == 0 && loading.stored.count == 0 && mode == PROFILE_RECORDING_OFF_CPU)
		r = error_set(err, ENOENT,
			      "'%s' has no off-CPU time: measure it with dcpirun --off-cpu or "
			      "off_cpu_permille of dcpid",
			      cli->database);
	else if (r == 0 && loading.stored.count == 0)
		r = error_set(err, ENOENT,
			      "'%s' has no call stacks: sample them with source bpf or perf and "
			      "stack_every, or "
			      "import a recording with them",
			      cli->database);
	if (r == 0)
		r = images_take(&loading);
	if (r == 0)
		r = rows_merge(&loading);
	stored_stacks_deinit(&loading.stored);
	u64_map_deinit(&loading.known);
	u64_map_deinit(&loading.merged);
	free(loading.chains);
	return r;
}

void stack_profile_deinit(struct stack_profile *profile)
{
	for (size_t i = 0; i < profile->procedure_count; i++)
		free(profile->procedures[i].name);
	for (size_t i = 0; i < profile->image_count; i++)
		free(profile->images[i]);
	free(profile->procedures);
	free(profile->images);
	free(profile->nodes);
	*profile = (struct stack_profile){.node_count = 0};
}
