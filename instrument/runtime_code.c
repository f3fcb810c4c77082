// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime_code.h"

#include <string.h>

static void put_u32(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

void runtime_code_check(struct machine_code *code, const struct runtime_code *runtime,
			uint32_t otherwise)
{
	uint8_t slot[] = {0x64, 0x81, 0x3c, 0x25, 0, 0, 0, 0, 0, 0, 0, 0}; /* cmpl $, %fs: */
	uint8_t guard[] = {0x81, 0x3d, 0, 0, 0, 0, 0, 0, 0, 0};		   /* cmpl $, (%rip) */

	put_u32(slot + 4, (uint32_t)(int32_t)runtime->slot);
	put_u32(slot + 8, runtime->ready);
	put_u32(guard + 6, runtime->ready);
	machine_code_bytes(code, slot, sizeof(slot));
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
	machine_code_refer(code, guard, sizeof(guard), 2, RUNTIME_CODE_GUARD);
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
}

/* Below the red zone. */
void runtime_code_enter(struct machine_code *code)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

	machine_code_bytes(code, down, sizeof(down));
	machine_code_enter(code, MACHINE_CALL, RUNTIME_CODE_ENTER);
	machine_code_bytes(code, up, sizeof(up));
}
