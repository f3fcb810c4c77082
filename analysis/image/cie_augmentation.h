/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CIE says of the descriptions (FDEs) that belong to it: the augmentation of
 * .eh_frame (LSB Core 10.6).
 */
#ifndef DCPI_CIE_AUGMENTATION_H
#define DCPI_CIE_AUGMENTATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cie_augmentation - what it says
 * @personality: the encoded pointer, in the section's bytes; @personality_bytes 0: none
 * @address_encoding: how FDEs write addresses
 * @handler_encoding: how they lead to tables of handlers; DW_EH_PE_omit: they do not
 * @augmented: FDEs have augmentation data
 * @signal:    frames are of handlers of signals
 * @other_key: return addresses are signed with the second key (arm64)
 */
struct cie_augmentation {
	const uint8_t *personality;
	size_t personality_bytes;
	uint8_t personality_encoding;
	uint8_t address_encoding;
	uint8_t handler_encoding;
	bool augmented;
	bool signal;
	bool other_key;
};

/**
 * cie_augmentation_read() - read it
 * @word_bytes: of a pointer
 *
 * Return: false: it is not understood, or cut off.
 */
bool cie_augmentation_read(struct cie_augmentation *ret, const Dwarf_CIE *cie, size_t word_bytes);

#endif
