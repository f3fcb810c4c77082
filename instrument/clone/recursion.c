// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/recursion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/strong_components.h"
#include "analysis/image/elf_file.h"
#include "lib/array.h"

#define NO_CALLEE UINT32_MAX

struct builder {
	const struct candidates *candidates;
	uint32_t *first;
	uint32_t *targets;
	size_t count;
	size_t capacity;
	bool interposes;
	bool failed;
};

/* --- names ---------------------------------------------------------------- */

static bool is_named(const char *name, const char *const *names, size_t count)
{
	size_t bytes = strcspn(name, "@");

	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == bytes && memcmp(names[i], name, bytes) == 0)
			return true;
	}
	return false;
}

/* Return the name of a call's target; NULL: unknown. */
static const char *recursion_name_of(const struct candidates *candidates, const struct insn *call)
{
	long index;

	if (call->target == 0)
		return call->memory.pc_relative
			       ? image_code_slot_name(candidates->code,
						      (uint64_t)call->memory.displacement)
			       : NULL;
	index = image_code_find(candidates->code, call->target);
	return index < 0
		       ? NULL
		       : procedure_table_get(image_code_procedures(candidates->code), (size_t)index)
				 ->name;
}

/* Return true for a function of another image that calls no procedure back. */
static bool is_harmless(const char *name)
{
	static const char *const names[] = {
		"memcpy",
		"memmove",
		"memset",
		"memcmp",
		"memchr",
		"memrchr",
		"mempcpy",
		"rawmemchr",
		"strlen",
		"strnlen",
		"strcmp",
		"strncmp",
		"strcasecmp",
		"strncasecmp",
		"strcoll",
		"strchr",
		"strrchr",
		"strchrnul",
		"strstr",
		"strspn",
		"strcspn",
		"strpbrk",
		"strcpy",
		"strncpy",
		"stpcpy",
		"strcat",
		"strtol",
		"strtoul",
		"strtoll",
		"strtoull",
		"strtod",
		"malloc",
		"calloc",
		"realloc",
		"free",
		"strdup",
		"strndup",
		"toupper",
		"tolower",
		"__ctype_b_loc",
		"__ctype_tolower_loc",
		"__ctype_toupper_loc",
		"__ctype_get_mb_cur_max",
		"mbrtowc",
		"wcrtomb",
		"__errno_location",
		"__stack_chk_fail",
		"__memcpy_chk",
		"__memset_chk",
		"__memmove_chk",
		"__strcpy_chk",
		"read",
		"write",
		"lseek",
		"close",
		"memmem",
		"time",
		"gettimeofday",
		"clock_gettime",
		"getpid",
		"sin",
		"cos",
		"exp",
		"log",
		"pow",
		"sqrt",
		"floor",
		"ceil",
		"fmod",
	};

	return is_named(name, names, sizeof(names) / sizeof(names[0]));
}

bool recursion_returns_twice(const struct recursion *graph, const struct insn *call)
{
	static const char *const names[] = {
		"setjmp",  "_setjmp", "sigsetjmp", "__sigsetjmp", "getcontext",
		"savectx", "vfork",   "__vfork",   "fork",	  "_Fork",
		"__fork",  "clone",   "__clone",   "forkpty",	  "__libc_fork",
	};
	const char *name = recursion_name_of(graph->candidates, call);

	return name != NULL && is_named(name, names, sizeof(names) / sizeof(names[0]));
}

/* --- edges ---------------------------------------------------------------- */

static uint32_t outside_of(const struct candidates *candidates)
{
	return (uint32_t)candidates->count;
}

static uint32_t candidate_of(const struct candidates *candidates, uint64_t address)
{
	long candidate = candidates_of(candidates, address);

	return candidate < 0 ? NO_CALLEE : (uint32_t)candidate;
}

/* Return the node that a call or a jump leads to. */
static uint32_t callee_of(const struct candidates *candidates, bool interposes,
			  const struct insn *call)
{
	uint32_t callee = call->target != 0 ? candidate_of(candidates, call->target) : NO_CALLEE;
	const char *name;

	if (callee != NO_CALLEE)
		return callee;
	name = recursion_name_of(candidates, call);
	return name != NULL && !interposes && is_harmless(name) ? NO_CALLEE
								: outside_of(candidates);
}

static void recursion_add(struct builder *builder, uint32_t target)
{
	if (target == NO_CALLEE)
		return;
	if (builder->failed || array_reserve(&builder->targets, &builder->capacity,
					     builder->count + 1, sizeof(*builder->targets)) < 0) {
		builder->failed = true;
		return;
	}
	builder->targets[builder->count++] = target;
}

static void add_calls(struct builder *builder, const struct candidate *candidate)
{
	const struct cfg *cfg = candidate->cfg;

	if (cfg == NULL || cfg->missing || cfg->unresolved_jumps > 0)
		recursion_add(builder, outside_of(builder->candidates));
	for (uint32_t i = 0; cfg != NULL && i < cfg->call_count; i++)
		recursion_add(builder, callee_of(builder->candidates, builder->interposes,
						 &cfg->insns[cfg->calls[i].insn]));
}

static void add_taken(struct builder *builder)
{
	const struct candidates *candidates = builder->candidates;

	for (size_t c = 0; c < candidates->count; c++) {
		if (candidates->all[c].taken)
			recursion_add(builder, (uint32_t)c);
	}
}

/* @strings: index of the section with their names */
struct exports {
	Elf_Data *data;
	size_t count;
	size_t strings;
};

static struct exports exports_of(const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(file, ".dynsym", &header);
	Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;

	if (data == NULL || header.sh_entsize == 0)
		return (struct exports){0};
	return (struct exports){
		.data = data, .count = data->d_size / header.sh_entsize, .strings = header.sh_link};
}

static bool is_export(const struct exports *exports, size_t index, GElf_Sym *ret)
{
	return gelf_getsym(exports->data, (int)index, ret) != NULL && ret->st_shndx != SHN_UNDEF &&
	       GELF_ST_TYPE(ret->st_info) == STT_FUNC;
}

static void add_exported(struct builder *builder, const struct exports *exports)
{
	GElf_Sym symbol;

	for (size_t i = 0; i < exports->count; i++) {
		if (is_export(exports, i, &symbol))
			recursion_add(builder, candidate_of(builder->candidates, symbol.st_value));
	}
}

/* Return true if the image itself defines one of the functions that are known by name. */
static bool interposes(const struct elf_file *file, const struct exports *exports)
{
	GElf_Sym symbol;

	for (size_t i = 0; i < exports->count; i++) {
		const char *name = is_export(exports, i, &symbol)
					   ? elf_strptr(file->elf, exports->strings, symbol.st_name)
					   : NULL;

		if (name != NULL && is_harmless(name))
			return true;
	}
	return false;
}

/* --- all of it ------------------------------------------------------------ */

int recursion_find(struct recursion *ret, const struct candidates *candidates)
{
	const struct elf_file *file = image_code_file(candidates->code);
	struct exports exports = exports_of(file);
	uint32_t nodes = outside_of(candidates) + 1, components;
	struct builder builder = {.candidates = candidates,
				  .interposes = interposes(file, &exports),
				  .first = calloc(nodes + (size_t)1, sizeof(*builder.first))};
	struct recursion graph = {.candidates = candidates,
				  .interposes = builder.interposes,
				  .component = calloc(nodes, sizeof(*graph.component)),
				  .known = calloc(nodes, sizeof(*graph.known))};
	struct strong_graph strong = {.nodes = nodes};
	int r = -ENOMEM;

	if (builder.first != NULL && graph.component != NULL && graph.known != NULL) {
		for (size_t c = 0; c < candidates->count; c++) {
			builder.first[c] = (uint32_t)builder.count;
			add_calls(&builder, &candidates->all[c]);
		}
		builder.first[nodes - 1] = (uint32_t)builder.count;
		add_taken(&builder);
		add_exported(&builder, &exports);
		recursion_add(&builder, nodes - 1); /* at least one target */
		builder.first[nodes] = (uint32_t)builder.count;
		for (size_t i = builder.first[nodes - 1]; i < builder.count && !builder.failed; i++)
			graph.known[builder.targets[i]] = true;
		strong.first = builder.first;
		strong.targets = builder.targets;
		if (!builder.failed)
			r = strong_components_find(graph.component, &components, &strong);
	}
	graph.first = builder.first;
	graph.targets = builder.targets;
	if (r < 0)
		recursion_deinit(&graph);
	else
		*ret = graph;
	return r;
}

void recursion_deinit(struct recursion *graph)
{
	free(graph->first);
	free(graph->targets);
	free(graph->component);
	free(graph->known);
	*graph = (struct recursion){0};
}

bool recursion_is_leaf_call(const struct recursion *graph, const struct insn *call)
{
	return call->flow != INSN_FLOW_NEXT &&
	       callee_of(graph->candidates, graph->interposes, call) == NO_CALLEE;
}

bool recursion_is_possible(const struct recursion *graph, size_t candidate, const struct insn *call)
{
	uint32_t callee = callee_of(graph->candidates, graph->interposes, call);

	return callee != NO_CALLEE && graph->component[callee] == graph->component[candidate];
}
