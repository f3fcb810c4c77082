/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides whether BOLT can rewrite a file. */
#ifndef DCPI_BOLT_CANDIDATE_H
#define DCPI_BOLT_CANDIDATE_H

struct elf_file;

/**
 * bolt_candidate_reason() - return why BOLT cannot rewrite a program
 *
 * Return: a static string, fit for "not worth it: REASON"; NULL: no reason is known.
 */
const char *bolt_candidate_reason(const struct elf_file *file);

#endif
