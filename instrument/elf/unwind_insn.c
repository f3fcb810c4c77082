// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/unwind_insn.h"

#include <dwarf.h>
#include <errno.h>

/* Compilers may pad numbers to more bytes than necessary. */
static void skip_leb128(struct bounded_reader *reader)
{
	while (bounded_reader_u8(reader) & 0x80)
		;
}

static void skip_block(struct bounded_reader *reader)
{
	bounded_reader_bytes(reader, bounded_reader_uleb128(reader));
}

int unwind_insn_next(struct bounded_reader *reader, uint64_t *advance)
{
	uint8_t opcode;

	*advance = 0;
	if (bounded_reader_left(reader) == 0)
		return 0;
	opcode = bounded_reader_u8(reader);
	switch (opcode & 0xc0) {
	case DW_CFA_advance_loc:
		*advance = opcode & 0x3f;
		return 1;
	case DW_CFA_offset:
		skip_leb128(reader);
		return 1;
	case DW_CFA_restore:
		return 1;
	}
	switch (opcode) {
	case DW_CFA_advance_loc1:
		*advance = bounded_reader_u8(reader);
		break;
	case DW_CFA_advance_loc2:
		*advance = bounded_reader_u8(reader);
		*advance |= (uint64_t)bounded_reader_u8(reader) << 8;
		break;
	case DW_CFA_advance_loc4:
		*advance = bounded_reader_u32(reader);
		break;
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		break;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		skip_leb128(reader);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_register:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		skip_leb128(reader);
		skip_leb128(reader);
		break;
	case DW_CFA_def_cfa_expression:
		skip_block(reader);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		skip_leb128(reader);
		skip_block(reader);
		break;
	default:
		return -ENOTSUP;
	}
	return bounded_reader_failed(reader) ? -ENOTSUP : 1;
}
