/* SPDX-License-Identifier: GPL-2.0-only */
/* The code of runtime/, as it is put into every rewritten program (PROFILE_LAYOUT_ENTER). */
#ifndef DCPI_INSTRUMENT_RUNTIME_BLOB_H
#define DCPI_INSTRUMENT_RUNTIME_BLOB_H

#include <stddef.h>
#include <stdint.h>

const uint8_t *runtime_blob(void);
size_t runtime_blob_bytes(void);

#endif
