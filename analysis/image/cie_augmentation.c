// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/cie_augmentation.h"

#include <dwarf.h>

#include "lib/encoded_pointer.h"

static bool find_personality(struct cie_augmentation *ret, struct bounded_reader *reader,
			     size_t word_bytes)
{
	ret->personality_encoding = bounded_reader_u8(reader);
	ret->personality_bytes = encoded_pointer_bytes(ret->personality_encoding, word_bytes);
	if ((ret->personality_encoding & ENCODED_POINTER_BASE) == DW_EH_PE_aligned)
		return false;
	ret->personality = bounded_reader_bytes(reader, ret->personality_bytes);
	return ret->personality != NULL && ret->personality_bytes > 0;
}

bool cie_augmentation_read(struct cie_augmentation *ret, const Dwarf_CIE *cie, size_t word_bytes)
{
	const char *letter = cie->augmentation;
	struct bounded_reader reader;

	*ret = (struct cie_augmentation){
		.address_encoding = DW_EH_PE_absptr,
		.handler_encoding = DW_EH_PE_omit,
	};
	if (*letter != 'z')
		return *letter == '\0';
	ret->augmented = true;
	bounded_reader_init(&reader, cie->augmentation_data, cie->augmentation_data_size);
	while (*++letter != '\0') {
		switch (*letter) {
		case 'L':
			ret->handler_encoding = bounded_reader_u8(&reader);
			break;
		case 'P':
			if (!find_personality(ret, &reader, word_bytes))
				return false;
			break;
		case 'R':
			ret->address_encoding = bounded_reader_u8(&reader);
			break;
		case 'S':
			ret->signal = true;
			break;
		case 'B':
			ret->other_key = true;
			break;
		default:
			return false;
		}
	}
	return !bounded_reader_failed(&reader);
}
