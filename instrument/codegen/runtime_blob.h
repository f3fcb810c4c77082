/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of runtime/ that is put into every rewritten program (PROFILE_LAYOUT_ENTER), and its
 * unwind information from compiler and assembler: an .eh_frame section, relocated to directly
 * follow the code.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_BLOB_H
#define DCPI_INSTRUMENT_RUNTIME_BLOB_H

#include <stddef.h>
#include <stdint.h>

const uint8_t *runtime_blob(void);
size_t runtime_blob_bytes(void);
const uint8_t *runtime_blob_frames(void);
size_t runtime_blob_frames_bytes(void);

#endif
