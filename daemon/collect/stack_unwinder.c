// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/stack_unwinder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/stack_store.h"
#include "daemon/collect/unwind_tables.h"
#include "daemon/image/image_table.h"
#include "daemon/source/source_stack.h"
#include "db/profile_write.h"
#include "lib/clock.h"

#define KERNEL_FRAMES_MAX 128
/* And one each for the state, the reason and the profiler. */
#define FRAMES_MAX (UNWIND_FRAMES_MAX + KERNEL_FRAMES_MAX + 3)

/* Time for which a stack may delay a flush, */
#define HOLD_NS (2 * NS_PER_SECOND)
/* and the maximum time to wait for unwind tables after sampling has ended. */
#define END_WAIT_NS (2 * NS_PER_SECOND)

/* Stacks that wait for unwind tables. */
#define HELD_MAX 1024

enum {
	STORE_SAMPLES,
	STORE_OFF_CPU,
	STORES
};

/* @since_ns: CLOCK_MONOTONIC; @stack: its arrays are in @data */
struct held_stack {
	struct held_stack *next;
	size_t bytes;
	uint64_t since_ns;
	struct source_stack stack;
	_Alignas(8) uint8_t data[];
};

/*
 * @frames:    of the current stack, innermost first; @count of them
 * @store:     the stacks of samples, and of off-CPU time
 * @ends:      number of stacks of each store by the reason of their end
 * @held:      stacks that need a table under construction, oldest first; @held_end: where to add
 * one
 * @revision:  of the image table when stacks were last tried
 * @postponed: number of stacks that ended because of the limit of the CPU time of tables
 * @is_postponed: the current stack does
 */
struct stack_unwinder {
	struct stack_unwinder_code code;
	struct unwind_tables *tables;
	struct stack_store *store[STORES];
	struct held_stack *held;
	struct held_stack **held_end;
	size_t held_count;
	size_t held_bytes;
	uint64_t ends[STORES][UNWIND_ENDS];
	uint64_t records;
	uint64_t total_frames;
	uint64_t revision;
	uint64_t postponed;
	bool is_postponed;
	struct stack_frame frames[FRAMES_MAX];
	size_t count;
};

struct stack_unwinder *stack_unwinder_create(const struct stack_unwinder_code *code,
					     uint32_t nodes_max)
{
	struct stack_unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (unwinder == NULL)
		return NULL;
	unwinder->code = *code;
	unwinder->held_end = &unwinder->held;
	unwinder->tables = unwind_tables_create(&unwinder->code);
	for (int i = 0; i < STORES; i++)
		unwinder->store[i] = stack_store_create(nodes_max);
	if (unwinder->tables == NULL || unwinder->store[STORE_SAMPLES] == NULL ||
	    unwinder->store[STORE_OFF_CPU] == NULL) {
		stack_unwinder_destroy(unwinder);
		return NULL;
	}
	return unwinder;
}

void stack_unwinder_destroy(struct stack_unwinder *unwinder)
{
	struct held_stack *next;

	if (unwinder == NULL)
		return;
	for (struct held_stack *held = unwinder->held; held != NULL; held = next) {
		next = held->next;
		free(held);
	}
	unwind_tables_destroy(unwinder->tables);
	for (int i = 0; i < STORES; i++)
		stack_store_destroy(unwinder->store[i]);
	free(unwinder);
}

struct stack_store *stack_unwinder_store(struct stack_unwinder *unwinder)
{
	return unwinder->store[STORE_SAMPLES];
}

struct stack_store *stack_unwinder_off_cpu(struct stack_unwinder *unwinder)
{
	return unwinder->store[STORE_OFF_CPU];
}

void stack_unwinder_clear(struct stack_unwinder *unwinder)
{
	for (int i = 0; i < STORES; i++)
		stack_store_clear(unwinder->store[i]);
}

/* The current stack. */
struct unwinding {
	struct stack_unwinder *unwinder;
	const struct source_stack *stack;
	uint64_t start;
};

static enum unwind_end word_read(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwinding *unwinding = context;
	const struct source_stack *stack = unwinding->stack;
	uint64_t at = address - unwinding->start;

	if (address < unwinding->start || address > UINT64_MAX - sizeof(*ret))
		return UNWIND_END_OTHER_STACK;
	if (at + sizeof(*ret) > stack->stack_bytes)
		return stack->cut ? UNWIND_END_SHORT : UNWIND_END_UNREADABLE;
	memcpy(ret, stack->stack + at, sizeof(*ret));
	return UNWIND_END_COMPLETE;
}

static void frame_add(struct stack_unwinder *unwinder, uint32_t image, uint64_t offset)
{
	if (unwinder->count < FRAMES_MAX - 2)
		unwinder->frames[unwinder->count++] = (struct stack_frame){image, offset};
}

/* Add the frame of a PC in user space. Return: true: it has a place in an image. */
static bool user_frame_add(const struct unwinding *unwinding, uint64_t pc,
			   struct image_place *place, enum unwind_where *where)
{
	struct stack_unwinder *unwinder = unwinding->unwinder;

	*where = UNWIND_WHERE_NO_IMAGE;
	/* A user program can write any address to its stack: one of the kernel is no caller. */
	if (pc >> 63 != 0)
		return false;
	*place = unwinder->code.place(unwinder->code.context, unwinding->stack->tag, pc);
	*where = UNWIND_WHERE_RULE;
	if (place->image != IMAGE_UNKNOWN) {
		frame_add(unwinder, place->image, place->offset);
		return true;
	}
	*where = UNWIND_WHERE_NO_IMAGE;
	if (place->unknown == IMAGE_UNKNOWN_ANONYMOUS) {
		frame_add(unwinder, IMAGE_UNKNOWN, 0);
		*where = UNWIND_WHERE_NO_TABLE;
	}
	return false;
}

static enum unwind_where place_rule(const struct unwinding *unwinding,
				    const struct image_place *place, const struct unwind_rule **ret)
{
	return unwind_tables_find(unwinding->unwinder->tables, place->image, place->offset,
				  dcpi_tag_pid(unwinding->stack->tag), ret,
				  &unwinding->unwinder->is_postponed);
}

static enum unwind_where rule_find(void *context, uint64_t pc, const struct unwind_rule **ret)
{
	const struct unwinding *unwinding = context;
	struct image_place place;
	enum unwind_where where;

	return user_frame_add(unwinding, pc, &place, &where) ? place_rule(unwinding, &place, ret)
							     : where;
}

static void kernel_add(struct stack_unwinder *unwinder, const struct source_stack *stack)
{
	for (size_t i = 0; i < stack->kernel_count && i < KERNEL_FRAMES_MAX; i++) {
		/* Return addresses, except for the sampled PC. */
		bool is_return = i > 0 || stack->is_off_cpu;
		struct image_place place = unwinder->code.place(unwinder->code.context, stack->tag,
								stack->kernel[i] - is_return);

		frame_add(unwinder, place.image, place.image == IMAGE_UNKNOWN ? 0 : place.offset);
		if (place.image != IMAGE_UNKNOWN)
			image_table_sampled(unwinder->code.images, place.image);
	}
}

/* Follow a chain of addresses: only the last one can be that of an outermost frame. */
static enum unwind_end chain_follow(struct stack_unwinder *unwinder,
				    const struct source_stack *stack)
{
	const struct unwinding unwinding = {unwinder, stack, 0};
	const struct unwind_rule *rule = NULL;
	enum unwind_where where = UNWIND_WHERE_NO_TABLE;
	struct image_place place;
	bool is_placed = false;

	for (size_t i = 0; i < stack->chain_count; i++) {
		uint64_t pc = stack->chain[i] - (i > 0 && !stack->chain_calls);

		if (i == UNWIND_FRAMES_MAX)
			return UNWIND_END_FRAMES;
		is_placed = user_frame_add(&unwinding, pc, &place, &where);
		if (where == UNWIND_WHERE_NO_IMAGE)
			return UNWIND_END_BAD_ADDRESS;
		if (is_placed)
			image_table_sampled(unwinder->code.images, place.image);
	}
	if (stack->damaged)
		return UNWIND_END_DAMAGED;
	if (is_placed)
		where = place_rule(&unwinding, &place, &rule);
	if (where == UNWIND_WHERE_WAITING)
		return UNWIND_END_WAITING;
	if (where == UNWIND_WHERE_RULE && rule != NULL && rule->kind == UNWIND_END)
		return UNWIND_END_COMPLETE;
	return stack->chain_full ? UNWIND_END_FRAMES : UNWIND_END_CHAIN;
}

/* @records: out: number of frames that were left by their frame record */
static enum unwind_end user_unwind(struct stack_unwinder *unwinder,
				   const struct source_stack *stack, uint64_t *records)
{
	const struct unwind_machine *machine = unwind_machine_here();
	struct unwind_registers registers = stack->registers;
	struct unwinding unwinding = {unwinder, stack, registers.reg[machine->sp]};
	struct unwind_walk walk = {
		.machine = machine,
		.memory = {word_read, &unwinding},
		.find = rule_find,
		.context = &unwinding,
	};
	enum unwind_end end;
	size_t kernel_frames;

	if (stack->has_chain)
		return chain_follow(unwinder, stack);
	if (registers.known == 0)
		return UNWIND_END_NO_REGISTERS;
	/* While a process executes a new program, it has no user-space stack. */
	if (registers.pc == 0 && unwinding.start == 0 && stack->kernel_count > 0)
		return UNWIND_END_COMPLETE;
	kernel_frames = unwinder->count;
	end = unwind_walk(&walk, &registers);
	*records = walk.frame_records > 0;
	if (walk.doubtful > 0)
		unwinder->count = kernel_frames + walk.doubtful;
	return end;
}

static void frames_reverse(struct stack_unwinder *unwinder)
{
	struct stack_frame *frames = unwinder->frames;

	for (size_t i = 0; i < unwinder->count / 2; i++) {
		struct stack_frame frame = frames[i];

		frames[i] = frames[unwinder->count - 1 - i];
		frames[unwinder->count - 1 - i] = frame;
	}
}

static bool is_of_profiler(const struct stack_unwinder *unwinder, const struct source_stack *stack)
{
	const struct stack_unwinder_code *code = &unwinder->code;

	return code->is_profiler != NULL && code->is_profiler(code->context, stack->tag);
}

/* The whole interval is one stack, also if the thread waited for a CPU at its end. */
static void off_cpu_store(struct stack_unwinder *unwinder, const struct source_stack *stack)
{
	uint32_t stacks = 1;

	for (int i = OFF_CPU_STATES; i-- > 0;) {
		if (stack->off_cpu_ns[i] == 0)
			continue;
		unwinder->frames[unwinder->count - 1] =
			(struct stack_frame){IMAGE_UNKNOWN, PROFILE_OFF_CPU_RUNNABLE + (uint64_t)i};
		stack_store_add(unwinder->store[STORE_OFF_CPU], unwinder->frames, unwinder->count,
				(struct stack_store_amount){stacks, stack->off_cpu_ns[i]});
		stacks = 0;
	}
}

static void ended_store(struct stack_unwinder *unwinder, const struct source_stack *stack,
			enum unwind_end end, uint64_t records)
{
	unwinder->records += records;
	unwinder->ends[stack->is_off_cpu ? STORE_OFF_CPU : STORE_SAMPLES][end]++;
	unwinder->total_frames += unwinder->count;
	if (end != UNWIND_END_COMPLETE)
		unwinder->frames[unwinder->count++] = (struct stack_frame){IMAGE_UNKNOWN, end};
	if (is_of_profiler(unwinder, stack))
		unwinder->frames[unwinder->count++] =
			(struct stack_frame){IMAGE_UNKNOWN, PROFILE_STACK_OF_PROFILER};
	frames_reverse(unwinder);
	if (stack->is_off_cpu)
		off_cpu_store(unwinder, stack);
	else
		stack_store_add(unwinder->store[STORE_SAMPLES], unwinder->frames, unwinder->count,
				(struct stack_store_amount){1, 1});
}

/* Unwind and store a stack. @last: store it even if it waits for a table. Return: false: it waits
 */
static bool stack_try(struct stack_unwinder *unwinder, const struct source_stack *stack, bool last)
{
	enum unwind_end end = UNWIND_END_COMPLETE;
	uint64_t records = 0;

	unwinder->count = 0;
	unwinder->is_postponed = false;
	if (stack->is_off_cpu)
		frame_add(unwinder, IMAGE_UNKNOWN, 0); /* of the state */
	kernel_add(unwinder, stack);
	if (stack->user_allowed)
		end = user_unwind(unwinder, stack, &records);
	if (end == UNWIND_END_WAITING && !last && !unwinder->is_postponed)
		return false;
	unwinder->postponed += unwinder->is_postponed;
	ended_store(unwinder, stack, end, records);
	return true;
}

/* Return: false if there is no room. */
static bool stack_hold(struct stack_unwinder *unwinder, const struct source_stack *stack)
{
	size_t kernel_bytes = stack->kernel_count * sizeof(*stack->kernel);
	size_t chain_bytes = stack->chain_count * sizeof(*stack->chain);
	size_t bytes = sizeof(struct held_stack) + kernel_bytes + chain_bytes + stack->stack_bytes;
	struct held_stack *held;

	if (unwinder->held_count == HELD_MAX ||
	    unwinder->held_bytes + bytes > unwinder->code.held_bytes)
		return false;
	held = malloc(bytes);
	if (held == NULL)
		return false;
	held->next = NULL;
	held->bytes = bytes;
	held->since_ns = clock_monotonic_ns();
	held->stack = *stack;
	held->stack.kernel = (const void *)held->data;
	held->stack.chain = (const void *)(held->data + kernel_bytes);
	held->stack.stack = held->data + kernel_bytes + chain_bytes;
	if (kernel_bytes > 0)
		memcpy(held->data, stack->kernel, kernel_bytes);
	if (chain_bytes > 0)
		memcpy(held->data + kernel_bytes, stack->chain, chain_bytes);
	if (stack->stack_bytes > 0)
		memcpy(held->data + kernel_bytes + chain_bytes, stack->stack, stack->stack_bytes);
	*unwinder->held_end = held;
	unwinder->held_end = &held->next;
	unwinder->held_count++;
	unwinder->held_bytes += bytes;
	return true;
}

void stack_unwinder_add(struct stack_unwinder *unwinder, const struct source_stack *stack)
{
	if (!stack_try(unwinder, stack, false) && !stack_hold(unwinder, stack))
		stack_try(unwinder, stack, true);
}

/* Try the stacks that wait again. */
static void held_try(struct stack_unwinder *unwinder, bool last)
{
	struct held_stack **link = &unwinder->held, *held;

	while ((held = *link) != NULL) {
		if (!stack_try(unwinder, &held->stack, last)) {
			link = &held->next;
			continue;
		}
		*link = held->next;
		unwinder->held_count--;
		unwinder->held_bytes -= held->bytes;
		free(held);
	}
	unwinder->held_end = link;
}

void stack_unwinder_settle(struct stack_unwinder *unwinder)
{
	uint64_t revision = image_table_revision(unwinder->code.images);

	if (unwind_tables_take(unwinder->tables) || revision != unwinder->revision)
		held_try(unwinder, false);
	unwind_tables_request(unwinder->tables);
	unwinder->revision = revision;
}

bool stack_unwinder_holds(const struct stack_unwinder *unwinder)
{
	return unwinder->held != NULL;
}

bool stack_unwinder_waits(const struct stack_unwinder *unwinder, uint64_t now_ns)
{
	return unwinder->held != NULL && now_ns < unwinder->held->since_ns + HOLD_NS;
}

/* Wait until no stack waits, or no table is being built. */
static void tables_await(struct stack_unwinder *unwinder, uint64_t end_ns)
{
	bool any = true;

	while (any && unwinder->held != NULL && clock_monotonic_ns() < end_ns) {
		any = unwind_tables_wait(unwinder->tables, end_ns);
		stack_unwinder_settle(unwinder);
	}
}

void stack_unwinder_finish(struct stack_unwinder *unwinder, bool ends)
{
	stack_unwinder_settle(unwinder);
	if (ends)
		tables_await(unwinder, clock_monotonic_ns() + END_WAIT_NS);
	held_try(unwinder, true);
}

/* Return: the number of stacks. */
static uint64_t ends_report(const struct stack_unwinder *unwinder, int store,
			    struct counter_set *tally)
{
	uint64_t stacks = 0;

	for (int i = 0; i < UNWIND_ENDS; i++) {
		uint64_t count = unwinder->ends[store][i];

		stacks += count;
		if (i == UNWIND_END_COMPLETE || count > 0)
			counter_set_put(tally, "stat",
					unwind_end_name((enum unwind_end)i, store == STORE_OFF_CPU),
					count);
	}
	return stacks;
}

static void off_cpu_report(const struct stack_unwinder *unwinder, struct counter_set *tally)
{
	struct stack_store_counts stored = stack_store_counts(unwinder->store[STORE_OFF_CPU]);
	uint64_t stacks = ends_report(unwinder, STORE_OFF_CPU, tally);

	counter_set_put(tally, "stat", "off_cpu_stacks", stacks);
	counter_set_put(tally, "stat", "off_cpu_pruned_us", stored.pruned / NS_PER_US);
	counter_set_put(tally, "stat", "off_cpu_memory_us", stored.refused_weight / NS_PER_US);
}

void stack_unwinder_counters(const struct stack_unwinder *unwinder, struct counter_set *tally)
{
	struct stack_store_counts stored = stack_store_counts(unwinder->store[STORE_SAMPLES]);
	uint64_t stacks = ends_report(unwinder, STORE_SAMPLES, tally);

	counter_set_put(tally, "stat", "stacks", stacks);
	counter_set_put(tally, "stat", "stack_frames", unwinder->total_frames);
	counter_set_put(tally, "stat", "stacks_by_record", unwinder->records);
	counter_set_put(tally, "stat", "stacks_pruned", stored.pruned);
	counter_set_put(tally, "stat", "stacks_memory", stored.refused);
	counter_set_put(tally, "stat", "unwind_tables_postponed", unwinder->postponed);
	unwind_tables_counters(unwinder->tables, tally);
	if (unwinder->code.off_cpu)
		off_cpu_report(unwinder, tally);
}

size_t stack_unwinder_bytes(const struct stack_unwinder *unwinder)
{
	return sizeof(*unwinder) + stack_store_bytes(unwinder->store[STORE_SAMPLES]) +
	       stack_store_bytes(unwinder->store[STORE_OFF_CPU]) + unwinder->held_bytes +
	       unwind_tables_bytes(unwinder->tables);
}
