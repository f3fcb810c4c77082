// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/call_automaton.h"

/* Odd, so that there is a median. */
#define CALIBRATIONS 31

/* Keeps the compiler from moving accesses that a signal handler can observe. */
#define barrier() __asm__ volatile("" : : : "memory")

/* One instruction, which no signal handler can interrupt. */
static inline void add_at_once(uint64_t *counter, uint64_t value)
{
	__asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(value) : "cc");
}

/* --- the metric ----------------------------------------------------------- */

static inline uint64_t metric_now(const struct call_area *area)
{
	if (area->head.metric == CALL_METRIC_CYCLES)
		return __builtin_ia32_rdtsc();
	return *(const volatile uint64_t *)&area->head.instructions;
}

/*
 * Charge the metric since its last reading to a state. If a signal handler interrupts this, it
 * charges its own part, and the loop repeats. There is no lock prefix, since other threads do not
 * access the area. A counter that has gone backwards (on another CPU) is not charged.
 */
static inline void charge(struct call_area *area, uint32_t state)
{
	uint64_t before = area->head.clock, now;
	uint8_t same = 0;

	if (area->head.metric == CALL_METRIC_NONE)
		return;
	do {
		now = metric_now(area);
		__asm__ volatile("cmpxchgq %3, %1"
				 : "+a"(before), "+m"(area->head.clock), "=@ccz"(same)
				 : "r"(now)
				 : "memory");
	} while (!same);
	if ((int64_t)(now - before) > 0)
		add_at_once(&area->states[state].metric, now - before);
}

/* Return the median of the times between two events. */
static uint64_t measure_event(struct call_area *area)
{
	uint64_t times[CALIBRATIONS], metric = area->states[CALL_LAYOUT_ROOT].metric, before;

	charge(area, CALL_LAYOUT_ROOT);
	for (uint32_t i = 0; i < CALIBRATIONS; i++) {
		uint32_t at = i;

		before = area->head.clock;
		charge(area, CALL_LAYOUT_ROOT);
		for (; at > 0 && times[at - 1] > area->head.clock - before; at--)
			times[at] = times[at - 1];
		times[at] = area->head.clock - before;
	}
	area->states[CALL_LAYOUT_ROOT].metric = metric;
	return times[CALIBRATIONS / 2];
}

/* --- transitions ---------------------------------------------------------- */

static inline uint32_t hash_of(uint32_t from, uint32_t procedure, uint32_t site)
{
	uint64_t key = ((uint64_t)from << 32 | procedure) + site * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(key * UINT64_C(0xd6e8feb86659fd93) >> 32);
}

/* Return the slot of a transition, or the free slot for it. There always is a free slot. */
static inline uint32_t *find_slot(struct call_area *area, uint32_t from, uint32_t procedure,
				  uint32_t site)
{
	uint32_t slots = 1U << area->head.bits, slot = hash_of(from, procedure, site);

	for (;; slot++) {
		uint32_t *at = &area->slots[slots + (slot & (slots - 1))];
		const struct call_transition *transition = &area->transitions[*at];

		if (*at == 0 || (transition->from == from && transition->procedure == procedure &&
				 transition->site == site))
			return at;
	}
}

/* Return a free slot, even if others have the same key, which is possible for digests. */
static uint32_t *free_slot(struct call_area *area, const struct call_transition *entry,
			   uint32_t bits)
{
	uint32_t slots = 1U << bits, slot = hash_of(entry->from, entry->procedure, entry->site);

	while (area->slots[slots + (slot & (slots - 1))] != 0)
		slot++;
	return &area->slots[slots + (slot & (slots - 1))];
}

/* Make a table of twice the size after the current one. Return: false if there is no room. */
static int grow(struct call_area *area)
{
	if (area->head.bits == CALL_LAYOUT_BITS_LAST)
		return 0;
	for (uint32_t i = 1; i < area->head.transition_count; i++)
		*free_slot(area, &area->transitions[i], area->head.bits + 1) = i;
	barrier();
	area->head.bits++;
	return 1;
}

static int has_room(struct call_area *area, uint32_t count)
{
	uint32_t slots = 1U << area->head.bits,
		 most = area->head.bits < CALL_LAYOUT_BITS_LAST ? slots / 2 : slots / 4 * 3;

	return area->head.transition_count + count <= most || grow(area);
}

/* @slot: free; Return: the transition's number. */
static inline uint32_t add_transition(struct call_area *area, uint32_t *slot,
				      struct call_transition entry)
{
	uint32_t number = area->head.transition_count;

	area->transitions[number] = entry;
	barrier();
	area->head.transition_count = number + 1;
	*slot = number;
	return number;
}

/* --- states --------------------------------------------------------------- */

/* Return: the state's number; CALL_LAYOUT_OTHER if there is no room. */
static uint32_t add_state(struct call_area *area, struct call_state state)
{
	uint32_t number = area->head.state_count;

	if (number >= CALL_LAYOUT_STATES)
		return CALL_LAYOUT_OTHER;
	area->states[number] = state;
	barrier();
	area->head.state_count = number + 1;
	return number;
}

/*
 * Compute the history after a call of @procedure. An earlier activation of it is marked, since only
 * the last one counts. A marked entry is needed as the caller of the next entry, or as the callee
 * of the previous one. Between marked entries it is omitted, which keeps histories finite.
 * Return: number of entries written to @out, at most @length + 1.
 */
static uint32_t extend_history(uint32_t *out, const uint32_t *history, uint32_t length,
			       uint32_t procedure)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < length; i++) {
		uint32_t entry =
			history[i] == procedure ? procedure | CALL_LAYOUT_MARK : history[i];
		uint32_t next = i + 1 < length ? history[i + 1] : procedure;
		int next_is_marked =
			(next & CALL_LAYOUT_MARK) != 0 || (i + 1 < length && next == procedure);

		if (count > 0 && (entry & CALL_LAYOUT_MARK) != 0 &&
		    (out[count - 1] & CALL_LAYOUT_MARK) != 0 &&
		    (next_is_marked || out[count - 1] == entry))
			continue;
		out[count++] = entry;
	}
	out[count++] = procedure;
	return count;
}

/* Return the digest of a history with one more entry; the digest of an empty history is 0. */
static inline uint32_t extend_digest(uint32_t digest, uint32_t entry)
{
	return (uint32_t)(((uint64_t)digest << 32 | entry) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static uint32_t digest_of(const uint32_t *history, uint32_t length)
{
	uint32_t digest = 0;

	for (uint32_t i = 0; i < length; i++)
		digest = extend_digest(digest, history[i]);
	return digest;
}

/**
 * struct next_history - a history after a call, in the thread's array
 * @first, @length: its entries
 * @used:  number of entries in use with it, from the array's start
 * @digest: digest_of() the history
 */
struct next_history {
	uint32_t first;
	uint32_t length;
	uint32_t used;
	uint32_t digest;
};

/*
 * Append a procedure that is not in the history yet, as in extend_history(). If the history is the
 * last one of the array, both histories share their entries. Return: false if the procedure is in
 * the history.
 */
static inline int append_history(struct next_history *ret, struct call_area *area,
				 const struct call_state *before, uint32_t procedure)
{
	const uint32_t *history = &area->history[before->first];
	uint32_t length = before->length, count = area->head.history_count, first = count;

	for (uint32_t i = 0; i < length; i++) {
		if (history[i] == procedure)
			return 0;
	}
	if (length > 0 && before->first + length == count)
		first = before->first;
	else
		for (uint32_t i = 0; i < length; i++)
			area->history[first + i] = history[i];
	area->history[first + length] = procedure;
	*ret = (struct next_history){.first = first,
				     .length = length + 1,
				     .used = first + length + 1,
				     .digest = extend_digest(before->site, procedure)};
	return 1;
}

static int is_history(const struct call_area *area, uint32_t state, const uint32_t *history,
		      uint32_t length)
{
	const struct call_state *at = &area->states[state];

	if (at->length != length)
		return 0;
	for (uint32_t i = 0; i < length; i++) {
		if (area->history[at->first + i] != history[i])
			return 0;
	}
	return 1;
}

static uint32_t find_history(const struct call_area *area, uint32_t digest, const uint32_t *history,
			     uint32_t length)
{
	uint32_t slots = 1U << area->head.bits, slot = hash_of(CALL_LAYOUT_DIGEST, digest, 0);

	for (;; slot++) {
		uint32_t number = area->slots[slots + (slot & (slots - 1))];
		const struct call_transition *at = &area->transitions[number];

		if (number == 0)
			return 0;
		if (at->from == CALL_LAYOUT_DIGEST && at->procedure == digest &&
		    is_history(area, at->to, history, length))
			return at->to;
	}
}

static uint32_t calls_state(struct call_area *area, uint32_t from, uint32_t procedure)
{
	const struct call_state *before = &area->states[from];
	uint32_t count = area->head.history_count, state;
	struct call_transition entry = {.from = CALL_LAYOUT_DIGEST};
	struct next_history next = {.first = count};

	if (before->length > 0 && before->procedure == procedure)
		return from; /* direct recursion */
	if (count + before->length + 1 > CALL_LAYOUT_HISTORY)
		return CALL_LAYOUT_OTHER;
	if (!append_history(&next, area, before, procedure)) {
		next.length = extend_history(&area->history[count], &area->history[before->first],
					     before->length, procedure);
		next.used = count + next.length;
		next.digest = digest_of(&area->history[count], next.length);
	}
	state = find_history(area, next.digest, &area->history[next.first], next.length);
	if (state != 0)
		return state;
	/* First, so that there never is a state without its history, even if the program is
	 * killed. */
	area->head.history_count = next.used;
	barrier();
	state = add_state(area, (struct call_state){.procedure = procedure,
						    .site = next.digest,
						    .first = next.first,
						    .length = next.length});
	if (state == CALL_LAYOUT_OTHER) {
		area->head.history_count = count;
		return state;
	}
	entry.procedure = next.digest;
	entry.to = state;
	add_transition(area, free_slot(area, &entry, area->head.bits), entry);
	return state;
}

/*
 * Recursion leads back to the existing record, so the tree is finite. If the caller's own call was
 * not recorded, its call site is not used, either: the caller is not known to have made the call.
 */
static uint32_t context_state(struct call_area *area, uint32_t from, uint32_t procedure,
			      uint32_t site)
{
	for (uint32_t s = from; s != CALL_LAYOUT_ROOT; s = area->states[s].first) {
		if (area->states[s].procedure == procedure)
			return s;
	}
	return add_state(area, (struct call_state){.procedure = procedure,
						   .site = from != CALL_LAYOUT_ROOT ? site : 0,
						   .first = from,
						   .length = area->states[from].length + 1});
}

/* Return the offset of a transition from the %gs base. */
static inline uint32_t call_automaton_place_of(const struct call_area *area, uint32_t number)
{
	return area->head.frames +
	       (uint32_t)(__builtin_offsetof(struct call_area, transitions) -
			  __builtin_offsetof(struct call_area, frames)) +
	       number * (uint32_t)sizeof(struct call_transition);
}

/* Put the latest transition first, where it is found fastest. The procedure's own table is even
 * faster. */
static inline void cache_transition(struct call_area *area, uint32_t from, uint32_t procedure,
				    uint32_t number)
{
	uint32_t place = call_layout_place(from, procedure),
		 at = call_automaton_place_of(area, number);

	if (procedure != CALL_LAYOUT_SIGNAL)
		area->last[procedure][from % CALL_LAYOUT_LAST] = at;
	for (uint32_t way = 0; way < CALL_LAYOUT_WAYS; way++) {
		if (area->cache[way][place] == at)
			return;
	}
	for (uint32_t way = CALL_LAYOUT_WAYS - 1; way > 0; way--)
		area->cache[way][place] = area->cache[way - 1][place];
	area->cache[0][place] = at;
}

/*
 * Add the transition of a call that was not made in this state before. @slot: where find_slot()
 * found none. Return: the new state.
 */
static __attribute__((noinline)) uint32_t create_transition(struct call_area *area, uint32_t from,
							    uint32_t procedure, uint32_t site,
							    uint32_t *slot)
{
	struct call_transition entry = {
		.from = from, .procedure = procedure, .site = site, .calls = 1};
	uint32_t state = CALL_LAYOUT_OTHER;

	if (area->head.building) {
		add_at_once(&area->head.losses[CALL_LOSS_NESTED], 1);
		return CALL_LAYOUT_OTHER;
	}
	area->head.building = 1;
	barrier();
	/* For the transition, and for the digest of its state. */
	if (from != CALL_LAYOUT_OTHER && has_room(area, 2))
		state = area->head.policy == CALL_POLICY_CONTEXT
				? context_state(area, from, procedure, site)
				: calls_state(area, from, procedure);
	if (state == CALL_LAYOUT_OTHER) {
		add_at_once(&area->head.losses[CALL_LOSS_FULL], 1);
	} else {
		entry.to = state;
		/* The digest or a signal handler may have taken the slot or made a new table. */
		if (slot < &area->slots[UINT32_C(1) << area->head.bits] || *slot != 0)
			slot = free_slot(area, &entry, area->head.bits);
		cache_transition(area, from, procedure, add_transition(area, slot, entry));
	}
	barrier();
	area->head.building = 0;
	return state;
}

static inline uint32_t call_automaton_follow(struct call_area *area, uint32_t from,
					     uint32_t procedure, uint32_t site)
{
	uint32_t *slot = find_slot(area, from, procedure, site), number = *slot;

	if (number == 0)
		return create_transition(area, from, procedure, site, slot);
	cache_transition(area, from, procedure, number);
	add_at_once(&area->transitions[number].calls, 1);
	return area->transitions[number].to;
}

/* --- frames --------------------------------------------------------------- */

/* Threads that share an area may have moved the depth out of bounds. */
static inline uint32_t depth_of(const struct call_area *area)
{
	uint32_t depth = area->head.depth, frames = area->head.frames;

	if (depth < frames)
		return 0;
	depth = (depth - frames) / sizeof(struct call_frame);
	return depth < CALL_LAYOUT_FRAMES ? depth : CALL_LAYOUT_LAST_FRAME;
}

static inline void set_depth(struct call_area *area, uint32_t depth)
{
	area->head.depth = area->head.frames + depth * (uint32_t)sizeof(struct call_frame);
}

static inline void call_automaton_push(struct call_area *area, uint32_t depth,
				       struct call_frame frame)
{
	area->frames[depth + 1] = frame;
	barrier();
	set_depth(area, depth + 1);
	barrier();
}

static inline int is_kernel(const struct call_frame *frame)
{
	return frame->site == CALL_LAYOUT_KERNEL;
}

/* Return the number of entries to remove below a frame that ends. */
static inline uint32_t kernel_entries(const struct call_frame *frame)
{
	return is_kernel(frame) ? CALL_LAYOUT_GAP : 0;
}

/* Return the depth of the previous frame. A frame of the kernel has CALL_LAYOUT_GAP entries. */
static inline uint32_t below(const struct call_area *area, uint32_t depth)
{
	return depth - (is_kernel(&area->frames[depth]) ? CALL_LAYOUT_GAP : 1);
}

/* Return the depth of the caller for a return address at @stack, searching downwards from a
 * depth. */
static inline uint32_t caller_at(const struct call_area *area, uint32_t depth, uint64_t stack)
{
	while ((area->frames[depth].stack & ~UINT64_C(1)) <= stack &&
	       !(is_kernel(&area->frames[depth]) && area->frames[depth].stack == stack))
		depth = below(area, depth);
	return depth;
}

/*
 * As caller_at(), for a call. If frames above are left over, the caller may have announced its call
 * in one of them, so that the call site is unknown.
 */
static inline uint32_t calling_frame(struct call_area *area, uint64_t stack)
{
	uint32_t depth = depth_of(area), caller = caller_at(area, depth, stack);

	if (caller != depth && !is_kernel(&area->frames[caller]))
		area->frames[caller].site = 0;
	return caller;
}

static inline uint32_t site_of(const struct call_frame *frame)
{
	return is_kernel(frame) ? 0 : frame->site;
}

/* Return the state after a call from a frame. */
static inline uint32_t follow_call(struct call_area *area, const struct call_frame *frame,
				   uint32_t procedure)
{
	return call_automaton_follow(area, frame->state, procedure, site_of(frame));
}

/* Return: the depth of the frame at @stack; 0 if there is no such frame. */
static inline uint32_t find_frame(struct call_area *area, uint64_t stack)
{
	uint32_t depth = depth_of(area);

	charge(area, area->frames[depth].state);
	while (area->frames[depth].stack < stack)
		depth = below(area, depth);
	if ((area->frames[depth].stack & ~UINT64_C(1)) == stack)
		return depth;
	add_at_once(&area->head.losses[CALL_LOSS_UNMATCHED], 1);
	return 0;
}

/* --- events --------------------------------------------------------------- */

void call_automaton_begin(struct call_area *area, uint32_t at, enum call_policy policy,
			  enum call_metric metric)
{
	if (area->head.magic != CALL_LAYOUT_MAGIC) {
		area->head.state_count = CALL_LAYOUT_OTHER + 1;
		area->head.transition_count = 1;
		area->transitions[0].from = CALL_LAYOUT_DIGEST; /* matches no state */
		area->head.bits = CALL_LAYOUT_BITS_FIRST;
	}
	area->head.self = (uint64_t)area;
	area->head.policy = policy;
	area->head.metric = metric;
	area->head.frames = at + (uint32_t) __builtin_offsetof(struct call_area, frames);
	set_depth(area, 0);
	area->head.building = 0;
	area->frames[0] = (struct call_frame){.stack = ~UINT64_C(1) - 1, .state = CALL_LAYOUT_ROOT};
	area->head.clock = metric_now(area);
	if (metric == CALL_METRIC_CYCLES && area->head.event_cycles == 0)
		area->head.event_cycles = measure_event(area);
	barrier();
	area->head.magic = CALL_LAYOUT_MAGIC;
}

void call_automaton_enter(struct call_area *area, uint32_t procedure, uint64_t stack)
{
	uint32_t depth, state;

	charge(area, area->frames[depth_of(area)].state);
	depth = calling_frame(area, stack);
	if (depth + 1 == CALL_LAYOUT_FRAMES) {
		add_at_once(&area->head.losses[CALL_LOSS_DEEP], 1);
		return;
	}
	/* If a handler has ended in a tail call, this procedure is the handler now. */
	stack += (uint64_t)is_kernel(&area->frames[depth]);
	state = follow_call(area, &area->frames[depth], procedure);
	call_automaton_push(area, depth, (struct call_frame){.stack = stack, .state = state});
}

void call_automaton_visit(struct call_area *area, uint32_t procedure, uint64_t stack)
{
	uint32_t depth = calling_frame(area, stack);

	follow_call(area, &area->frames[depth], procedure);
	set_depth(area, depth - kernel_entries(&area->frames[depth]));
}

/* If the context of the visit was lost, so is this one. */
void call_automaton_noreturn(struct call_area *area, uint32_t procedure, uint64_t stack)
{
	uint32_t depth, number;

	charge(area, area->frames[depth_of(area)].state);
	depth = calling_frame(area, stack);
	if (depth + 1 == CALL_LAYOUT_FRAMES) {
		add_at_once(&area->head.losses[CALL_LOSS_DEEP], 1);
		return;
	}
	number = *find_slot(area, area->frames[depth].state, procedure,
			    site_of(&area->frames[depth]));
	call_automaton_push(area, depth,
			    (struct call_frame){.stack = stack,
						.state = number != 0 ? area->transitions[number].to
								     : CALL_LAYOUT_OTHER});
}

/* The kernel, which has called the handler, gets a frame of its own, in case the handler ends in a
 * tail call. One entry is left out, since the interrupted procedure may have written part of a
 * frame there. */
void call_automaton_signal(struct call_area *area, uint32_t procedure, uint64_t stack)
{
	uint32_t depth = depth_of(area), signal, state;

	charge(area, area->frames[depth].state);
	if (depth + CALL_LAYOUT_GAP + 1 >= CALL_LAYOUT_FRAMES) {
		add_at_once(&area->head.losses[CALL_LOSS_DEEP], 1);
		return;
	}
	signal = call_automaton_follow(area, CALL_LAYOUT_ROOT, CALL_LAYOUT_SIGNAL, 0);
	depth += CALL_LAYOUT_GAP;
	call_automaton_push(
		area, depth - 1,
		(struct call_frame){.stack = stack, .state = signal, .site = CALL_LAYOUT_KERNEL});
	state = call_automaton_follow(area, signal, procedure, 0);
	call_automaton_push(area, depth, (struct call_frame){.stack = stack + 1, .state = state});
}

void call_automaton_visit_signal(struct call_area *area, uint32_t procedure)
{
	call_automaton_follow(area,
			      call_automaton_follow(area, CALL_LAYOUT_ROOT, CALL_LAYOUT_SIGNAL, 0),
			      procedure, 0);
}

void call_automaton_leave(struct call_area *area, uint64_t stack)
{
	uint32_t depth = find_frame(area, stack);

	if (depth > 0)
		set_depth(area, depth - 1 - kernel_entries(&area->frames[depth - 1]));
}

void call_automaton_jump(struct call_area *area, uint64_t stack)
{
	uint32_t depth = find_frame(area, stack);

	if (depth > 0)
		set_depth(area, depth - 1);
}

void call_automaton_resume(struct call_area *area, uint32_t procedure, uint64_t stack)
{
	uint32_t depth = depth_of(area);

	charge(area, area->frames[depth].state);
	while (depth > 0 && (area->frames[depth].stack <= stack ||
			     area->states[area->frames[depth].state].procedure != procedure))
		depth = below(area, depth);
	if (depth > 0)
		set_depth(area, depth);
}
