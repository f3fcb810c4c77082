// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reference path profile: the paths that the procedures of a program took, with their counts. A
 * plugin for QEMU's user mode, for x86-64 guests with one thread:
 *
 *	qemu-x86_64 -plugin build/tests/path_plugin.so,image=PATH,spec=FILE,out=FILE PATH
 *
 * The plugin does not use path numbers. The spec file describes in lines of words (addresses of the
 * image, hexadecimal) the nodes of procedures and the edges between them:
 *
 * - node ADDRESS PROCEDURE: a node of a procedure
 * - on FROM TO: a path continues from node to node
 * - cut FROM TO: a path ends at FROM, and another one begins
 * - end FROM: a path ends at FROM, regardless of the next node
 * - stop ADDRESS: the instruction before ADDRESS always ends a path
 *
 * Activations are distinguished by the stack addresses of their return addresses. A call ends all
 * activations at lower stack addresses. If an older activation continues, the activations above it
 * have ended. A path also ends if its procedure continues where no edge leads. (This version of
 * QEMU does not report that a return reads these addresses again.)
 *
 * The out file gets a line for each path: its count, and its nodes. With contexts=yes, paths are
 * distinguished by context, and lines have its procedures between the count and "-". The context is
 * the procedures of all frames; a procedure that is active already ends the path from the root.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/eval/truth/guest_image.h"
#include "tests/eval/truth/qemu_plugin.h"

#define BUCKETS (1U << 18)

enum fact_kind {
	FACT_NODE,
	FACT_ON,
	FACT_CUT,
	FACT_END,
	FACT_STOP,
	FACT_KINDS,
};

/* A line of the spec file. */
struct fact {
	struct fact *next;
	enum fact_kind kind;
	uint64_t from;
	uint64_t to; /* FACT_NODE: the procedure */
};

struct path {
	struct path *next;
	uint64_t count;
	size_t length;
	uint64_t nodes[];
};

/*
 * @at: address of the return address on the stack; @procedure 0: not known
 * @astray: no edge leads to its last node, so another activation may have continued
 */
struct frame {
	uint64_t at;
	uint64_t procedure;
	uint64_t *nodes;
	size_t length;
	size_t capacity;
	int astray;
};

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct fact *facts[BUCKETS];
static struct path *paths[BUCKETS];
static struct frame *frames;
static size_t depth;
static size_t frame_capacity;
static char *image_path;
static char *out_path;
static uint64_t unfinished;
static int calling;
static int contexts;

static void die(const char *what)
{
	fprintf(stderr, "path_plugin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *checked(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

/* --- facts from the spec file -------------------------------------------- */

static struct fact **bucket_of(enum fact_kind kind, uint64_t from)
{
	return &facts[(from * 31 + kind) * 2654435761U % BUCKETS];
}

static void fact_add(enum fact_kind kind, uint64_t from, uint64_t to)
{
	struct fact *fact = checked(calloc(1, sizeof(*fact)));
	struct fact **bucket = bucket_of(kind, from);

	*fact = (struct fact){.next = *bucket, .kind = kind, .from = from, .to = to};
	*bucket = fact;
}

static const struct fact *fact_find(enum fact_kind kind, uint64_t from)
{
	const struct fact *fact = *bucket_of(kind, from);

	while (fact && (fact->kind != kind || fact->from != from))
		fact = fact->next;
	return fact;
}

static int is_way(enum fact_kind kind, uint64_t from, uint64_t to)
{
	const struct fact *fact;

	for (fact = *bucket_of(kind, from); fact; fact = fact->next) {
		if (fact->kind == kind && fact->from == from && fact->to == to)
			return 1;
	}
	return 0;
}

static void read_facts(const char *path)
{
	static const char *const names[] = {"node", "on", "cut", "end", "stop"};
	FILE *file = fopen(path, "r");
	uint64_t from, to;
	char line[128], name[16];

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		to = 0;
		if (sscanf(line, "%15s %" SCNx64 " %" SCNx64, name, &from, &to) < 2)
			continue;
		for (int kind = 0; kind < FACT_KINDS; kind++) {
			if (strcmp(names[kind], name) == 0)
				fact_add((enum fact_kind)kind, from, to);
		}
	}
	fclose(file);
}

/* --- paths ---------------------------------------------------------------- */

static void path_count(const uint64_t *nodes, size_t length)
{
	struct path **bucket, *path;
	uint64_t hash = 14695981039346656037U;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ nodes[i]) * 1099511628211U;
	bucket = &paths[(hash ^ hash >> 32) % BUCKETS];
	for (path = *bucket; path; path = path->next) {
		if (path->length == length &&
		    memcmp(path->nodes, nodes, length * sizeof(*nodes)) == 0)
			break;
	}
	if (!path) {
		path = checked(calloc(1, sizeof(*path) + length * sizeof(*nodes)));
		path->length = length;
		memcpy(path->nodes, nodes, length * sizeof(*nodes));
		path->next = *bucket;
		*bucket = path;
	}
	path->count++;
}

/* Find the procedures of the context of a frame. Return: their number. */
static size_t context_of(const struct frame *frame, uint64_t *ret)
{
	size_t length = 0;

	for (const struct frame *at = frames; at <= frame; at++) {
		size_t before = 0;

		if (at->procedure == 0)
			continue;
		while (before < length && ret[before] != at->procedure)
			before++;
		ret[before] = at->procedure;
		length = before + 1;
	}
	return length;
}

static void path_end(struct frame *frame)
{
	static uint64_t *both;
	static size_t capacity;
	size_t needed = frame_capacity + frame->length + 1, length;

	if (frame->length == 0)
		return;
	if (!contexts) {
		path_count(frame->nodes, frame->length);
		frame->length = 0;
		return;
	}
	if (needed > capacity) {
		capacity = 2 * needed;
		both = checked(realloc(both, capacity * sizeof(*both)));
	}
	length = context_of(frame, both);
	both[length++] = 0;
	memcpy(both + length, frame->nodes, frame->length * sizeof(*both));
	path_count(both, length + frame->length);
	frame->length = 0;
}

static void path_leave(struct frame *frame)
{
	unfinished += frame->length > 0;
	frame->length = 0;
}

static void path_add(struct frame *frame, uint64_t node)
{
	if (frame->length == frame->capacity) {
		frame->capacity = frame->capacity ? 2 * frame->capacity : 16;
		frame->nodes =
			checked(realloc(frame->nodes, frame->capacity * sizeof(*frame->nodes)));
	}
	frame->nodes[frame->length++] = node;
}

static void push(uint64_t at)
{
	struct frame *frame;

	if (depth == frame_capacity) {
		size_t more = frame_capacity ? 2 * frame_capacity : 64;

		frames = checked(realloc(frames, more * sizeof(*frames)));
		memset(frames + frame_capacity, 0, (more - frame_capacity) * sizeof(*frames));
		frame_capacity = more;
	}
	frame = &frames[depth++];
	frame->at = at;
	frame->procedure = 0;
	frame->length = 0;
	frame->astray = 0;
}

/* --- events --------------------------------------------------------------- */

/*
 * A call stores its return address at @at: frames at lower addresses have ended. If the top frame
 * is astray, its nodes may belong to the next remaining frame.
 */
static void settle(uint64_t at)
{
	size_t top = depth;

	while (depth > 0 && frames[depth - 1].at <= at)
		depth--;
	if (depth > 0 && depth < top && frames[top - 1].astray &&
	    frames[top - 1].procedure == frames[depth - 1].procedure) {
		struct frame *from = &frames[top - 1], *to = &frames[depth - 1];

		path_leave(to);
		for (size_t i = 0; i < from->length; i++)
			path_add(to, from->nodes[i]);
		from->length = 0;
	}
	while (top > depth)
		path_leave(&frames[--top]);
	if (depth > 0)
		frames[depth - 1].astray = 0;
}

static void calls(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	calling = 1;
}

/* QEMU also calls this for stores of later instructions, which are not calls. */
static void called(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	if (!calling || !qemu_plugin_mem_is_store(info))
		return;
	calling = 0;
	settle(address);
	push(address);
}

static void returned(unsigned int vcpu, void *data)
{
	struct frame *frame;

	(void)vcpu;
	(void)data;
	if (depth == 0)
		return;
	frame = &frames[--depth];
	/* The procedure ended by a jump to a procedure that is not in the spec file. */
	if (frame->length > 0 && fact_find(FACT_END, frame->nodes[frame->length - 1]))
		path_end(frame);
	path_leave(frame);
}

static void arrived(unsigned int vcpu, void *data)
{
	const struct fact *node = data;
	struct frame *frame;
	uint64_t last;

	(void)vcpu;
	if (depth == 0)
		push(UINT64_MAX); /* the program's entry point */
	/* Back from frames that were left without a return. */
	for (size_t i = depth; node->from != node->to && i > 0; i--) {
		if (frames[i - 1].procedure != node->to)
			continue;
		while (depth > i)
			path_leave(&frames[--depth]);
		break;
	}
	frame = &frames[depth - 1];
	last = frame->length > 0 ? frame->nodes[frame->length - 1] : 0;
	if (frame->procedure != node->to) {
		path_end(frame); /* a jump out of the other procedure */
		frame->procedure = node->to;
	} else if (last && is_way(FACT_CUT, last, node->from)) {
		path_end(frame);
	} else if (last && !is_way(FACT_ON, last, node->from)) {
		if (node->from == node->to && fact_find(FACT_END, last))
			path_end(frame); /* a jump out of the procedure, to its own entry */
		path_leave(frame);
		frame->astray = 1;
	} else if (!last) {
		frame->astray = node->from != node->to;
	}
	path_add(frame, node->from);
}

/* @data: not NULL: the instruction is a call, during which the procedure is active */
static void stopped(unsigned int vcpu, void *data)
{
	(void)vcpu;
	if (depth == 0)
		return;
	path_end(&frames[depth - 1]);
	if (contexts && !data)
		frames[depth - 1].procedure = 0;
}

/* --- code ----------------------------------------------------------------- */

static int is_call(const unsigned char *code, size_t bytes)
{
	while (bytes > 1 &&
	       (code[0] >> 4 == 4 || (code[0] != 0 && strchr("\xf2\xf3\x3e\x66\x67\x2e", code[0]))))
		code++, bytes--;
	return code[0] == 0xe8 || (code[0] == 0xff && bytes > 1 && (code[1] >> 3 & 7) == 2);
}

static int is_return(const unsigned char *code, size_t bytes)
{
	while (bytes > 1 && (code[0] == 0xf2 || code[0] == 0xf3))
		code++, bytes--;
	return code[0] == 0xc3 || code[0] == 0xc2;
}

static void translate(struct qemu_plugin_insn *insn, const struct guest_file *file, int inside)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);
	struct guest_place place =
		guest_image_place(qemu_plugin_insn_haddr(insn), qemu_plugin_insn_vaddr(insn));
	size_t bytes = qemu_plugin_insn_size(insn);

	if (inside) {
		uint64_t address = guest_file_address(file, place.offset);
		const struct fact *node = fact_find(FACT_NODE, address);

		if (node)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, arrived, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)node);
		if (fact_find(FACT_STOP, address + bytes))
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, stopped, QEMU_PLUGIN_CB_NO_REGS,
				is_call(code, bytes) ? (void *)(uintptr_t)code : NULL);
	}
	if (is_call(code, bytes)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, calls, QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, called, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
	} else if (is_return(code, bytes)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, returned, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	static struct guest_file file;
	static uint32_t image = UINT32_MAX;

	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t of = guest_image_place(qemu_plugin_insn_haddr(insn),
						qemu_plugin_insn_vaddr(insn))
				      .image;

		if (image == UINT32_MAX && strcmp(guest_image_path(of), image_path) == 0) {
			image = of;
			file = guest_file_open(of);
		}
		translate(insn, &file, of == image);
	}
}

static void finished(qemu_plugin_id_t id, void *data)
{
	FILE *out = fopen(out_path, "w");

	(void)id;
	(void)data;
	if (!out)
		die(out_path);
	for (size_t b = 0; b < BUCKETS; b++) {
		for (const struct path *path = paths[b]; path; path = path->next) {
			fprintf(out, "%" PRIu64, path->count);
			for (size_t i = 0; i < path->length; i++) {
				if (path->nodes[i] == 0)
					fputs(" -", out);
				else
					fprintf(out, " %" PRIx64, path->nodes[i]);
			}
			fputc('\n', out);
		}
	}
	if (fclose(out) != 0)
		die(out_path);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "image=", 6) == 0)
			image_path = checked(strdup(argv[i] + 6));
		else if (strncmp(argv[i], "out=", 4) == 0)
			out_path = checked(strdup(argv[i] + 4));
		else if (strncmp(argv[i], "spec=", 5) == 0)
			read_facts(argv[i] + 5);
		else if (strcmp(argv[i], "contexts=yes") == 0)
			contexts = 1;
	}
	if (!image_path || !out_path) {
		fprintf(stderr, "path_plugin: needs image=, spec= and out=\n");
		return -1;
	}
	guest_image_watch(id);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, finished, NULL);
	return 0;
}
