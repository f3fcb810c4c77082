// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/call_returns.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/image/image_memory.h"
#include "analysis/image/image_text.h"
#include "analysis/image/no_return_names.h"
#include "lib/array.h"
#include "lib/u64_map.h"

/* Limits for one procedure; longer code without a return on any path is rare. */
#define INSNS_MAX 4000
#define DEPTH_MAX 12

/* enum answer - values in the map of results */
enum answer {
	ANSWER_NONE,
	ANSWER_RETURNS,
	ANSWER_NEVER,
};

struct call_returns {
	struct image_text *text;
	pthread_mutex_t lock;
	struct u64_map answers; /* address -> enum answer */
};

/* struct place - where a path continues, in a procedure that ends at @end */
struct place {
	uint64_t address;
	uint64_t end;
};

/* struct walk - traversal of the paths of one procedure */
struct walk {
	struct call_returns *returns;
	struct u64_map seen; /* beginnings of paths */
	struct place *pending;
	size_t pending_count;
	size_t pending_capacity;
	struct insn *calls; /* that may or may not return */
	size_t call_count;
	size_t call_capacity;
	unsigned int budget;
	unsigned int depth;
};

static bool may_return(struct call_returns *returns, const struct insn *call, unsigned int depth);

enum call_argument call_returns_argument(const struct insn_decoder *decoder,
					 const struct insn *insn, enum call_argument before)
{
	if (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH)
		return CALL_ARGUMENT_UNKNOWN;
	if (!insn_regs_has(&insn->writes, decoder->argument))
		return before;
	/* A constant depends on no input and is not 0; the constant of adrp is an address. */
	return insn->destination == decoder->argument && insn->immediate != 0 &&
			       insn->class == INSN_ALU &&
			       !(insn->flags & (INSN_READS_MEMORY | INSN_CONDITIONAL)) &&
			       (insn->reads.words[0] | insn->reads.words[1]) == 0
		       ? CALL_ARGUMENT_FAILURE
		       : CALL_ARGUMENT_UNKNOWN;
}

/* Return the symbol that a call is bound to through the global offset table. NULL: unknown. */
static const char *slot_name(const struct image_text *text, const struct insn *call)
{
	const struct insn_memory *memory = &call->memory;

	return (call->flags & INSN_READS_MEMORY) && memory->pc_relative
		       ? image_memory_slot_name(text->memory, (uint64_t)memory->displacement)
		       : NULL;
}

/* Return the name of the called procedure if it is in another image, or NULL. */
static const char *import_name(const struct image_text *text, const struct insn *call)
{
	const struct procedure *procedure;
	long index;

	if (call->flow != INSN_FLOW_CALL)
		return slot_name(text, call);
	index = image_text_find(text, call->target);
	if (index < 0)
		return NULL;
	procedure = procedure_table_get(text->procedures, (size_t)index);
	return procedure->source == PROCEDURE_PLT && procedure->address == call->target
		       ? procedure->name
		       : NULL;
}

/*
 * Return true for error(1, ...). Only the system's counts: many programs have an error() that
 * returns.
 */
static bool fails(const struct image_text *text, const struct insn *call,
		  enum call_argument argument)
{
	const char *name;

	if (argument != CALL_ARGUMENT_FAILURE)
		return false;
	name = import_name(text, call);
	return name != NULL && no_return_names_fails(name);
}

/* Return the end of the procedure that contains an address, or 0. */
static uint64_t end_at(const struct image_text *text, uint64_t address)
{
	long index = image_text_find(text, address);
	const struct procedure *procedure;

	if (index < 0)
		return 0;
	procedure = procedure_table_get(text->procedures, (size_t)index);
	return procedure->address + procedure->bytes;
}

static bool call_returns_push(struct walk *walk, uint64_t address, uint64_t end)
{
	uint64_t *seen;

	if (address < end) {
		seen = u64_map_insert(&walk->seen, address);
		if (seen == NULL)
			return false;
		if (*seen)
			return true;
		*seen = 1;
		if (array_reserve(&walk->pending, &walk->pending_capacity, walk->pending_count + 1,
				  sizeof(*walk->pending)) < 0)
			return false;
		walk->pending[walk->pending_count++] = (struct place){address, end};
	}
	return true;
}

/* Continue at the target of a jump in any procedure. Return: false to give up. */
static bool push_target(struct walk *walk, uint64_t target)
{
	struct image_text *text = walk->returns->text;
	uint64_t end = end_at(text, target);

	if (image_text_never_returns(text, target))
		return true;
	return end != 0 && call_returns_push(walk, target, end);
}

static bool defer(struct walk *walk, const struct insn *call)
{
	if (array_reserve(&walk->calls, &walk->call_capacity, walk->call_count + 1,
			  sizeof(*walk->calls)) < 0)
		return false;
	walk->calls[walk->call_count++] = *call;
	return true;
}

/* Follow one path to its end. Return: false if the procedure returns, or may return. */
static bool call_returns_follow(struct walk *walk, struct place place)
{
	const struct insn_decoder *decoder = walk->returns->text->decoder;
	size_t available = 0;
	const uint8_t *bytes = image_text_bytes(walk->returns->text, place.address, &available);
	enum call_argument argument = CALL_ARGUMENT_UNKNOWN;
	uint64_t at = place.address;
	bool padding = true;

	while (at < place.end) {
		struct insn insn;
		size_t length = 0;

		if (bytes == NULL || at - place.address >= available || walk->budget-- == 0)
			return false;
		length = decoder->decode(&insn, bytes + (at - place.address),
					 available - (at - place.address), at);
		if (length == 0)
			return false;
		at += length;
		padding = padding && insn.class == INSN_NOP;
		switch ((enum insn_flow)insn.flow) {
		case INSN_FLOW_NEXT:
			break;
		case INSN_FLOW_BRANCH:
			if (!push_target(walk, insn.target))
				return false;
			break;
		case INSN_FLOW_JUMP:
			return push_target(walk, insn.target);
		case INSN_FLOW_CALL:
		case INSN_FLOW_CALL_INDIRECT:
			return fails(walk->returns->text, &insn, argument) || defer(walk, &insn);
		case INSN_FLOW_STOP:
			return true;
		case INSN_FLOW_RETURN:
		case INSN_FLOW_JUMP_INDIRECT:
			return false;
		}
		argument = call_returns_argument(decoder, &insn, argument);
	}
	/* End of the procedure: padding after a call, or fall through into the next procedure. */
	return padding || push_target(walk, at);
}

static bool follow_all(struct walk *walk)
{
	while (walk->pending_count > 0) {
		if (!call_returns_follow(walk, walk->pending[--walk->pending_count]))
			return false;
	}
	return true;
}

/*
 * Follow all paths that do not continue after a call first, because most procedures return on one
 * of them. Then follow the paths after calls, call by call.
 */
static bool walk_never_returns(struct walk *walk, uint64_t address)
{
	if (!push_target(walk, address) || !follow_all(walk))
		return false;
	while (walk->call_count > 0) {
		struct insn call = walk->calls[--walk->call_count];
		uint64_t next = call.address + call.bytes;

		if (!may_return(walk->returns, &call, walk->depth + 1))
			continue;
		if (!call_returns_push(walk, next, end_at(walk->returns->text, call.address)) ||
		    !follow_all(walk))
			return false;
	}
	return true;
}

static enum answer find_answer(struct call_returns *returns, uint64_t target, unsigned int depth)
{
	struct walk walk = {.returns = returns, .budget = INSNS_MAX, .depth = depth};
	bool never;

	if (depth >= DEPTH_MAX)
		return ANSWER_RETURNS;
	never = walk_never_returns(&walk, target);
	u64_map_deinit(&walk.seen);
	free(walk.pending);
	free(walk.calls);
	return never ? ANSWER_NEVER : ANSWER_RETURNS;
}

static bool target_returns(struct call_returns *returns, uint64_t target, unsigned int depth)
{
	uint64_t *known = u64_map_find(&returns->answers, target);
	enum answer answer;

	if (known != NULL)
		return *known == ANSWER_RETURNS;
	if (image_text_never_returns(returns->text, target)) {
		answer = ANSWER_NEVER;
	} else {
		/* For recursive queries during the search: assume that it returns. */
		known = u64_map_insert(&returns->answers, target);
		if (known == NULL)
			return true;
		*known = ANSWER_RETURNS;
		answer = find_answer(returns, target, depth);
	}
	known = u64_map_insert(&returns->answers, target);
	if (known != NULL)
		*known = answer;
	return answer == ANSWER_RETURNS;
}

static bool may_return(struct call_returns *returns, const struct insn *call, unsigned int depth)
{
	const char *name;

	if (call->flow == INSN_FLOW_CALL)
		return target_returns(returns, call->target, depth);
	name = slot_name(returns->text, call);
	return name == NULL || !no_return_names_has(name);
}

int call_returns_create(struct call_returns **ret, struct image_text *text)
{
	struct call_returns *returns = calloc(1, sizeof(*returns));

	if (returns == NULL)
		return -ENOMEM;
	returns->text = text;
	pthread_mutex_init(&returns->lock, NULL);
	*ret = returns;
	return 0;
}

void call_returns_destroy(struct call_returns *returns)
{
	if (returns == NULL)
		return;
	u64_map_deinit(&returns->answers);
	pthread_mutex_destroy(&returns->lock);
	free(returns);
}

bool call_returns_query(struct call_returns *returns, const struct insn *call,
			enum call_argument argument)
{
	bool answer;

	if (fails(returns->text, call, argument))
		return false;
	pthread_mutex_lock(&returns->lock);
	answer = may_return(returns, call, 0);
	pthread_mutex_unlock(&returns->lock);
	return answer;
}
