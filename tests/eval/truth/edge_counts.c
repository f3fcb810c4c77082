// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/edge_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS (1U << 16)
#define THREADS 4096
#define RECENT 2

struct edge {
	struct edge *next;
	struct guest_place from;
	struct guest_place to;
	enum edge_kind kind;
	uint64_t count;
	uint64_t weight;
};

/* @recent: cache of the latest edges that left the block, by their targets */
struct edge_block {
	struct guest_place first;
	struct guest_place last;
	enum edge_kind kind;
	uint32_t instructions;
	uint32_t turn;
	struct {
		const struct edge_block *to;
		struct edge *edge;
	} recent[RECENT];
};

/*
 * @left: the block whose end was reached last; NULL if another one has begun since
 * @run:  instructions since the last branch
 */
struct thread {
	struct edge_block *left;
	uint64_t run;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locking;
static struct edge *buckets[BUCKETS];
static size_t edge_total;
static struct thread threads[THREADS];

static enum edge_kind kind_aarch64(const unsigned char *code, size_t bytes)
{
	uint32_t word;

	if (bytes < sizeof(word))
		return EDGE_OTHER;
	memcpy(&word, code, sizeof(word));
	if ((word & 0x7c000000) == 0x14000000) /* b, bl */
		return EDGE_DIRECT;
	if ((word & 0xff000010) == 0x54000000 || /* b.cond */
	    (word & 0x7c000000) == 0x34000000)	 /* cbz, cbnz, tbz, tbnz */
		return EDGE_CONDITIONAL;
	if ((word & 0xfe000000) == 0xd6000000) /* br, blr, ret */
		return EDGE_INDIRECT;
	return (word & 0xffe0001f) == 0xd4000001 ? EDGE_SYSTEM_CALL : EDGE_OTHER;
}

static enum edge_kind kind_alpha(const unsigned char *code, size_t bytes)
{
	uint32_t word, opcode;

	if (bytes < sizeof(word))
		return EDGE_OTHER;
	memcpy(&word, code, sizeof(word));
	opcode = word >> 26;
	if (opcode == 0x30 || opcode == 0x34) /* br, bsr */
		return EDGE_DIRECT;
	if (opcode > 0x30)
		return EDGE_CONDITIONAL;
	if (opcode == 0x1a) /* jmp, jsr, ret, jsr_coroutine */
		return EDGE_INDIRECT;
	return word == 0x83 ? EDGE_SYSTEM_CALL : EDGE_OTHER; /* call_pal callsys */
}

static bool x86_prefix(unsigned char byte)
{
	return memchr("\x66\x67\xf2\xf3\x2e\x3e\x26\x36\x64\x65", byte, 10) || byte >> 4 == 4;
}

static enum edge_kind kind_x86_64(const unsigned char *code, size_t bytes)
{
	while (bytes > 0 && x86_prefix(*code))
		code++, bytes--;
	if (bytes >= 1 && (code[0] >> 4 == 7 || (code[0] >= 0xe0 && code[0] <= 0xe3)))
		return EDGE_CONDITIONAL;
	if (bytes >= 1 && (code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb))
		return EDGE_DIRECT;
	if (bytes >= 1 && (code[0] == 0xc2 || code[0] == 0xc3))
		return EDGE_INDIRECT;
	if (bytes < 2)
		return EDGE_OTHER;
	if (code[0] == 0xff && ((code[1] >> 3 & 7) == 2 || (code[1] >> 3 & 7) == 4))
		return EDGE_INDIRECT;
	if (code[0] == 0x0f && code[1] >> 4 == 8)
		return EDGE_CONDITIONAL;
	return code[0] == 0x0f && code[1] == 0x05 ? EDGE_SYSTEM_CALL : EDGE_OTHER;
}

enum edge_kind edge_kind_of(const char *target, const void *code, size_t bytes)
{
	if (strcmp(target, "aarch64") == 0)
		return kind_aarch64(code, bytes);
	if (strcmp(target, "x86_64") == 0)
		return kind_x86_64(code, bytes);
	if (strcmp(target, "alpha") == 0)
		return kind_alpha(code, bytes);
	return EDGE_OTHER;
}

struct edge_block *edge_block_create(struct guest_place first, struct guest_place last,
				     enum edge_kind kind, uint32_t instructions)
{
	struct edge_block *block = calloc(1, sizeof(*block));

	if (block) {
		block->first = first;
		block->last = last;
		block->kind = kind;
		block->instructions = instructions;
	}
	return block;
}

static bool same(struct guest_place a, struct guest_place b)
{
	return a.image == b.image && a.offset == b.offset;
}

static struct edge *edge_find(const struct edge_block *from, struct guest_place to)
{
	uint64_t hash = (from->last.offset * 31 + to.offset) ^ from->last.image * 2654435761U;
	struct edge **bucket = &buckets[(hash ^ hash >> 16) % BUCKETS];
	struct edge *edge;

	for (edge = *bucket; edge; edge = edge->next) {
		if (same(edge->from, from->last) && same(edge->to, to))
			return edge;
	}
	edge = calloc(1, sizeof(*edge));
	if (!edge) {
		fprintf(stderr, "plugin: out of memory for edges\n");
		exit(2);
	}
	edge->from = from->last;
	edge->to = to;
	edge->kind = from->kind;
	edge->next = *bucket;
	*bucket = edge;
	edge_total++;
	return edge;
}

static struct edge *edge_recent(struct edge_block *from, const struct edge_block *to)
{
	size_t i;

	for (i = 0; i < RECENT; i++) {
		if (from->recent[i].to == to)
			return from->recent[i].edge;
	}
	i = from->turn++ % RECENT;
	from->recent[i].edge = edge_find(from, to->first);
	from->recent[i].to = to;
	return from->recent[i].edge;
}

static void edge_add(struct edge_block *from, const struct edge_block *to, uint64_t run)
{
	struct edge *edge;

	if (locking)
		pthread_mutex_lock(&lock);
	edge = edge_recent(from, to);
	edge->count++;
	edge->weight += run < EDGE_REACH ? run : EDGE_REACH;
	if (locking)
		pthread_mutex_unlock(&lock);
}

static struct thread *thread_of(unsigned int vcpu)
{
	if (vcpu >= THREADS) {
		fprintf(stderr, "plugin: more than %d threads\n", THREADS);
		exit(2);
	}
	return &threads[vcpu];
}

void edge_block_began(unsigned int vcpu, void *data)
{
	struct thread *thread = thread_of(vcpu);
	struct edge_block *block = data, *left = thread->left;

	if (left)
		edge_add(left, block, thread->run);
	if (!left || (left->kind != EDGE_DIRECT && left->kind != EDGE_OTHER))
		thread->run = 0;
	thread->run += block->instructions;
	thread->left = NULL;
}

void edge_block_ended(unsigned int vcpu, void *data)
{
	thread_of(vcpu)->left = data;
}

void edge_counts_lock(void)
{
	locking = true;
}

static int place_compare(struct guest_place a, struct guest_place b)
{
	if (a.image != b.image)
		return a.image < b.image ? -1 : 1;
	return a.offset < b.offset ? -1 : a.offset > b.offset;
}

static int edge_compare(const void *a, const void *b)
{
	const struct edge *x = *(struct edge *const *)a, *y = *(struct edge *const *)b;
	int order = place_compare(x->from, y->from);

	return order ? order : place_compare(x->to, y->to);
}

int edge_counts_write(FILE *file, char *const *images)
{
	static const char *const names[] = {"other", "conditional", "indirect", "direct", "system"};
	struct edge **edges = calloc(edge_total + 1, sizeof(struct edge *)), *edge;
	size_t i, n = 0;

	if (!edges)
		return -ENOMEM;
	for (i = 0; i < BUCKETS; i++) {
		for (edge = buckets[i]; edge; edge = edge->next)
			edges[n++] = edge;
	}
	qsort(edges, n, sizeof(struct edge *), edge_compare);
	for (i = 0; i < n; i++) {
		edge = edges[i];
		fprintf(file, "%s %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\t%s\t%s\n",
			names[edge->kind], edge->from.offset, edge->to.offset, edge->count,
			edge->weight, images[edge->from.image], images[edge->to.image]);
	}
	free(edges);
	return 0;
}
