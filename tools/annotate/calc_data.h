/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of the data that instructions access (analysis/machine/data_footprint.h). */
#ifndef DCPI_CALC_DATA_H
#define DCPI_CALC_DATA_H

#include <stdint.h>
#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

struct json_stream;

/**
 * calc_data_sentence() - print the size of the data that a stalled instruction accesses
 * @insn: the instruction, or UINT32_MAX: nothing is printed
 *
 * One sentence, with the caches that are too small for the data. Nothing is printed for
 * instructions without known accesses.
 */
void calc_data_sentence(FILE *stream, const struct calc_procedure *procedure, uint32_t insn);

/**
 * calc_data_phrase() - print @before and the size of the data that an instruction accesses
 *
 * As in calc_data_sentence(). Nothing is printed if the accesses are not known.
 */
void calc_data_phrase(FILE *stream, const char *before, const struct calc_procedure *procedure,
		      uint32_t insn);

/**
 * calc_data_sharing() - print ", false sharing with 0x1180: bytes 0 to 7 and 8 to 15 of the line"
 *
 * Nothing is printed if no access of another thread to the instruction's lines is known.
 */
void calc_data_sharing(FILE *stream, const struct calc_procedure *procedure, uint32_t insn);

/**
 * calc_data_print() - print a line for each instruction with known accesses, for --evidence
 *
 * Instructions with few samples of accesses are left out.
 */
void calc_data_print(FILE *stream, const struct calc_procedure *procedure);

/**
 * calc_data_table() - print a table of the instructions with known accesses, for --data
 *
 * Instructions that others wait for come first.
 *
 * Return: 0 or -ENOMEM.
 */
int calc_data_table(FILE *stream, const struct calc_procedure *procedure);

/** calc_data_json() - add an array "data" with the same contents */
void calc_data_json(struct json_stream *json, const struct calc_procedure *procedure);

#endif
