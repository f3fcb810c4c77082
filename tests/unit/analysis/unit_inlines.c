// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inlined functions at addresses of this program: known calls, and libdw's scopes as the reference
 * model.
 */
#include "tests/lib/unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/unit_inlines.h"

#define INLINE static inline __attribute__((always_inline))
/* Number of addresses of each range of a unit. */
#define ADDRESSES 150

static volatile int sink;
static uintptr_t place;

/* The address of this line is in three inlined functions. */
INLINE void inner_inline(void)
{
	uintptr_t here;

#if defined(__aarch64__)
	__asm__ volatile("adr %0, ." : "=r"(here));
#else
	__asm__ volatile("lea (%%rip), %0" : "=r"(here));
#endif
	place = here;
}

INLINE void middle_inline(void)
{
	sink++;
	inner_inline();
	sink++;
}

INLINE void outer_inline(void)
{
	sink++;
	middle_inline();
}

static __attribute__((noinline)) void caller(void)
{
	outer_inline();
	sink++;
}

struct fixture {
	int fd;
	Dwarf *dwarf;
	struct unit_inlines *inlines;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	fixture->dwarf = dwarf_begin(fixture->fd, DWARF_C_READ);
	fixture->inlines = unit_inlines_create();
	assert_non_null(fixture->inlines);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unit_inlines_destroy(fixture->inlines);
	dwarf_end(fixture->dwarf);
	close(fixture->fd);
	free(fixture);
	return 0;
}

/* Return: the difference of an address in memory and one of the file. */
static uintptr_t load_bias(struct fixture *fixture)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, child;
	Dwarf_Addr low;

	while (dwarf_get_units(fixture->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (dwarf_child(&die, &child) != 0)
			continue;
		do {
			const char *name = dwarf_diename(&child);

			if (dwarf_tag(&child) == DW_TAG_subprogram && name != NULL &&
			    strcmp(name, "caller") == 0 && dwarf_lowpc(&child, &low) == 0)
				return (uintptr_t)caller - low;
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	fail_msg("no function 'caller'");
	return 0;
}

static void known_calls_are_found(void **state)
{
	struct fixture *fixture = *state;
	const char *names[UNIT_INLINES_MAX];
	Dwarf_CU *unit = NULL;
	bool is_found = false;
	uint64_t address;
	Dwarf_Die die;

	if (fixture->dwarf == NULL) /* a build without debug information */
		skip();
	caller();
	address = place - load_bias(fixture);
	while (dwarf_get_units(fixture->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		size_t count;

		if (dwarf_haspc(&die, address) <= 0)
			continue;
		assert_int_equal(unit_inlines_find(fixture->inlines, fixture->dwarf,
						   dwarf_dieoffset(&die), address, names, &count),
				 0);
		assert_int_equal(count, 3);
		assert_string_equal(names[0], "outer_inline");
		assert_string_equal(names[1], "middle_inline");
		assert_string_equal(names[2], "inner_inline");
		is_found = true;
	}
	assert_true(is_found);
}

/*
 * The model: the inlined functions among the parents of the innermost scope. The other results of
 * dwarf_getscopes() are parents of the source, not of the code. Return: their number.
 */
static size_t model_find(Dwarf_Die *unit, uint64_t address, const char *names[UNIT_INLINES_MAX])
{
	Dwarf_Die *scopes = NULL, *parents = NULL;
	int parent_count = 0;
	size_t count = 0;

	if (dwarf_getscopes(unit, address, &scopes) > 0)
		parent_count = dwarf_getscopes_die(&scopes[0], &parents);
	for (int i = 0; i < parent_count && count < UNIT_INLINES_MAX; i++) {
		if (dwarf_tag(&parents[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&parents[i]) == DW_TAG_inlined_subroutine)
			names[count++] = dwarf_diename(&parents[i]);
	}
	free(scopes);
	free(parents);
	return count;
}

/* Return: the number of inlined functions. */
static size_t address_compare(struct fixture *fixture, Dwarf_Die *unit, uint64_t address)
{
	const char *names[UNIT_INLINES_MAX], *expected[UNIT_INLINES_MAX];
	size_t count, expected_count = model_find(unit, address, expected);

	assert_int_equal(unit_inlines_find(fixture->inlines, fixture->dwarf, dwarf_dieoffset(unit),
					   address, names, &count),
			 0);
	assert_int_equal(count, expected_count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(names[i], expected[count - 1 - i]);
	return count;
}

static void names_are_those_of_scopes(void **state)
{
	struct fixture *fixture = *state;
	Dwarf_CU *unit = NULL;
	size_t inlined = 0;
	uint64_t random = 46;
	Dwarf_Die die;

	if (fixture->dwarf == NULL)
		skip();
	while (dwarf_get_units(fixture->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
			for (int i = 0; i < ADDRESSES && start < end; i++)
				inlined += address_compare(fixture, &die,
							   start + unit_random(&random) %
									   (end - start));
		}
	}
	assert_true(inlined > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(known_calls_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_those_of_scopes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
