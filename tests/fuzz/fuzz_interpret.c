// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz both interpreters: the input is register values and memory that repeats. They must stop
 * within their bound for any input.
 */
#include <stdlib.h>

#include "kmod/core/interpret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
	const uint8_t *data;
	size_t bytes;
	unsigned int reads;
};

static bool input_read(void *context, u64 address, void *to, size_t bytes)
{
	struct input *input = context;
	uint8_t *out = to;
	size_t i;

	input->reads++;
	if (address >> 62 == 1)
		return false;
	for (i = 0; i < bytes; i++)
		out[i] = input->data[(address + i) % input->bytes];
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct interpret_state state;
	struct interpret_edge edge;
	struct input input;
	enum interpret_end end;

	if (bytes < sizeof(state) + 2)
		return 0;
	memcpy(&state, data, sizeof(state));
	input.data = data + sizeof(state) + 1;
	input.bytes = bytes - sizeof(state) - 1;
	input.reads = 0;
	if (data[sizeof(state)] & 1)
		end = interpret_x86_64(&state, input_read, &input, &edge);
	else
		end = interpret_arm64(&state, input_read, &input, &edge);
	if (end >= INTERPRET_NR || edge.steps < 1 || edge.steps > INTERPRET_STEPS_MAX ||
	    input.reads > 4 * INTERPRET_STEPS_MAX)
		abort();
	return 0;
}
