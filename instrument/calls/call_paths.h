/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of paths in contexts (flow/flow_mode.h), in the area of a thread after its struct
 * call_area. It has one entry for each path and state of the automaton in which the path was
 * executed. The table is open-addressed.
 */
#ifndef DCPI_INSTRUMENT_CALL_PATHS_H
#define DCPI_INSTRUMENT_CALL_PATHS_H

#include "instrument/calls/call_layout.h"

#define CALL_PATHS_BITS 18
#define CALL_PATHS_PROBES 16
#define CALL_PATHS_ENTRIES ((1U << CALL_PATHS_BITS) + CALL_PATHS_PROBES)
#define CALL_PATHS_BYTES (CALL_PATHS_ENTRIES * sizeof(struct call_path))

/* Bits of a key: the number of the path, then the state, then 1 + the number of the procedure. */
#define CALL_PATHS_STATE_AT 28
#define CALL_PATHS_PROCEDURE_AT 46
#define CALL_PATHS_PROCEDURES_MAX ((1U << 18) - 1)

/**
 * struct call_path - an entry of the table
 * @key: 0: free
 */
struct call_path {
	uint64_t key;
	uint64_t count;
};

_Static_assert(CALL_LAYOUT_STATES <= 1U << (CALL_PATHS_PROCEDURE_AT - CALL_PATHS_STATE_AT),
	       "bits of a state");
_Static_assert(CALL_PATHS_PROCEDURES_MAX < UINT64_C(1) << (64 - CALL_PATHS_PROCEDURE_AT),
	       "bits of a procedure");

/** call_paths_number() - return the number of the path in a key */
static inline uint32_t call_paths_number(uint64_t key)
{
	return (uint32_t)key & ((1U << CALL_PATHS_STATE_AT) - 1);
}

/** call_paths_state() - return the state in a key */
static inline uint32_t call_paths_state(uint64_t key)
{
	return (uint32_t)(key >> CALL_PATHS_STATE_AT) & (CALL_LAYOUT_STATES - 1);
}

/** call_paths_procedure() - return 1 + the number of the procedure in a key */
static inline uint32_t call_paths_procedure(uint64_t key)
{
	return (uint32_t)(key >> CALL_PATHS_PROCEDURE_AT);
}

#endif
