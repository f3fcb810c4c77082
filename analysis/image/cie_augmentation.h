/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Properties of frame descriptions (FDEs) that their CIE defines: the augmentation of .eh_frame
 * (LSB Core 10.6).
 */
#ifndef DCPI_CIE_AUGMENTATION_H
#define DCPI_CIE_AUGMENTATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cie_augmentation - the properties
 * @personality: the encoded pointer, in the section's bytes; @personality_bytes 0: none
 * @address_encoding: encoding of addresses in FDEs
 * @handler_encoding: encoding of FDEs' pointers to handler tables; DW_EH_PE_omit: no pointers
 * @augmented:   FDEs have augmentation data
 * @signal:      frames belong to signal handlers
 * @other_key:   return addresses are signed with the second key (arm64)
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
 * cie_augmentation_read() - read the augmentation of a CIE
 * @word_bytes: size of a pointer
 *
 * Return: false if it is truncated or unknown.
 */
bool cie_augmentation_read(struct cie_augmentation *ret, const Dwarf_CIE *cie, size_t word_bytes);

#endif
