// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the reader of messages from the process that parses a recording. An input that is a
 * perf.data file is parsed first, and its messages must be accepted; other inputs are messages.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "daemon/import/branch_stack.h"
#include "daemon/import/perfdata_input.h"
#include "daemon/import/recording.h"
#include "daemon/import/recording_reader.h"
#include "lib/error.h"
#include "tests/fuzz/fuzz.h"

static void stack_check(const struct recording *recording, const struct recorded *recorded)
{
	const struct perfdata_event *event =
		&recording_header(recording)->events.event[recorded->sample.event];
	const struct perfdata_stack *stack = &recorded->stack;
	uint64_t sum = stack->stack_bytes;

	for (size_t i = 0; i < stack->chain.count; i++)
		sum += perfdata_word(&stack->chain, i);
	for (size_t i = 0; i < stack->branches.count; i++)
		sum += perfdata_word(&stack->branches, i);
	for (size_t i = 0; i < stack->registers.count; i++)
		sum += perfdata_word(&stack->registers, i);
	for (size_t i = 0; i < stack->stack_bytes; i++)
		sum += stack->stack[i];
	require(stack->branches.count % PERFDATA_BRANCH_WORDS == 0);
	require(stack->abi == PERF_SAMPLE_REGS_ABI_NONE ||
		stack->registers.count == (size_t)__builtin_popcountll(event->user_registers));
	require(sum != 1 || stack->stack_bytes <= stack->stack_room);
}

/* Runs go forward, and their weights are numbers. */
static void runs_check(const struct recording *recording, const struct recorded *recorded)
{
	const struct perfdata_event *event =
		&recording_header(recording)->events.event[recorded->sample.event];
	struct branch_stack_faults faults = {.invalid = 0};
	struct branch_run runs[BRANCH_RUNS_MAX];
	size_t count;

	count = branch_stack_runs(runs, &recorded->stack.branches, event, recorded->sample.period,
				  &faults);
	require(count <= BRANCH_RUNS_MAX);
	for (size_t i = 0; i < count; i++)
		require(runs[i].start <= runs[i].end && runs[i].weight >= 0);
}

static void recorded_check(const struct recording *recording, const struct recorded *recorded)
{
	const struct image_event *event = &recorded->change.event;

	if (recorded->kind == RECORDED_SAMPLE) {
		require(recorded->sample.event < recording_header(recording)->events.count);
		require(recording_survey(recording)->events[recorded->sample.event].number >= 0);
		stack_check(recording, recorded);
		if (recorded->has_branches)
			runs_check(recording, recorded);
	} else if (recorded->kind == RECORDED_CHANGE) {
		require(event->build_id_bytes <= sizeof(event->build_id));
		require(event->path != NULL || event->type == IMAGE_EVENT_FORK ||
			event->type == IMAGE_EVENT_EXIT);
		require(event->path == NULL || strlen(event->path) < (size_t)1 << 17);
	}
}

static int file_of(const void *data, size_t bytes)
{
	int fd = memfd_create("fuzz", 0);

	require(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct recording *recording;
	struct recorded recorded;
	struct error err;
	int input = file_of(data, bytes), r;
	bool parsed = bytes >= 8 && memcmp(data, "PERFILE2", 8) == 0;

	if (parsed) {
		int messages = file_of("", 0);

		recording_reader_run(&(struct perfdata_input){.fd = input}, messages);
		close(input);
		input = messages;
		require(lseek(input, 0, SEEK_SET) == 0);
	}
	r = recording_receive(&recording, input, &err);
	close(input);
	if (r < 0) {
		require(!parsed || strstr(err.message, "invalid message") == NULL);
		return 0;
	}
	perfdata_header_build_id(recording_header(recording), "/bin/true");
	while ((r = recording_next(recording, &recorded, &err)) > 0)
		recorded_check(recording, &recorded);
	require(!parsed || r == 0 || strstr(err.message, "invalid message") == NULL);
	recording_close(recording);
	return 0;
}
