// SPDX-License-Identifier: GPL-2.0-only
#include "lib/encoded_pointer.h"

#include <dwarf.h>
#include <errno.h>

size_t encoded_pointer_bytes(uint8_t encoding, size_t word_bytes)
{
	switch (encoding & ENCODED_POINTER_FORMAT) {
	case DW_EH_PE_absptr:
		return word_bytes;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	}
	return 0;
}

uint64_t encoded_pointer_read(struct bounded_reader *reader, uint8_t encoding, size_t bytes)
{
	uint64_t value = 0;

	if (bytes == 8)
		return bounded_reader_u64(reader);
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)bounded_reader_u8(reader) << (8 * i);
	if ((encoding & DW_EH_PE_signed) && (value >> (8 * bytes - 1) & 1))
		value |= UINT64_MAX << (8 * bytes);
	return value;
}

int encoded_pointer_resolve(uint64_t *ret, struct bounded_reader *reader, uint8_t encoding,
			    size_t word_bytes, uint64_t place)
{
	size_t bytes = encoded_pointer_bytes(encoding, word_bytes);
	uint8_t base = encoding & ENCODED_POINTER_BASE;

	if (bytes == 0 || (encoding & DW_EH_PE_indirect) != 0 ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel))
		return -ENOTSUP;
	*ret = encoded_pointer_read(reader, encoding, bytes);
	if (*ret != 0 && base == DW_EH_PE_pcrel)
		*ret += place;
	if (word_bytes == 4)
		*ret &= UINT32_MAX;
	return 0;
}
