// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/no_return_names.h"

#include <stdlib.h>
#include <string.h>

/* Longer names of noreturn procedures are from C++ or Rust and recognised by their prefixes. */
#define NAME_BYTES_MAX 96

/* Sorted by strcmp(). */
static const char *const names[] = {
	"Perl_croak",
	"Perl_croak_memory_wrap",
	"Perl_croak_no_mem",
	"Perl_croak_no_modify",
	"Perl_croak_nocontext",
	"Perl_croak_popstack",
	"Perl_croak_sv",
	"Perl_croak_xs_usage",
	"Perl_die_unwind",
	"Perl_my_exit",
	"Perl_my_failure_exit",
	"PyThread_exit_thread",
	"Py_Exit",
	"Py_ExitStatusException",
	"Py_FatalError",
	"_Exit",
	"_Py_FatalErrorFormat",
	"_Py_FatalErrorFunc",
	"_Py_FatalRefcountErrorFunc",
	"_Py_NegativeRefcount",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"__ubsan_handle_builtin_unreachable",
	"__ubsan_handle_missing_return",
	"_dl_signal_error",
	"_exit",
	"_longjmp",
	"abort",
	"caml_raise",
	"err",
	"errx",
	"exit",
	"g_abort",
	"g_assertion_message",
	"g_assertion_message_cmpnum",
	"g_assertion_message_cmpstr",
	"g_assertion_message_expr",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"rust_begin_unwind",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

/* Sorted by strcmp(). Procedures of programs may have these names, and return. */
static const char *const kernel_names[] = {
	"__fortify_panic",
	"__module_put_and_kthread_exit",
	"arch_call_rest_init",
	"arch_cpu_idle_dead",
	"cpu_bringup_and_idle",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"ex_handler_msr_mce",
	"hlt_play_dead",
	"hv_ghcb_terminate",
	"kthread_complete_and_exit",
	"kthread_exit",
	"kunit_try_catch_throw",
	"machine_real_restart",
	"make_task_dead",
	"mpt_halt_firmware",
	"mwait_play_dead",
	"nmi_panic_self_stop",
	"panic",
	"panic_smp_self_stop",
	"rest_init",
	"rewind_stack_and_make_dead",
	"sev_es_terminate",
	"snp_abort",
	"start_kernel",
	"stop_this_cpu",
	"usercopy_abort",
	"x86_64_start_kernel",
	"x86_64_start_reservations",
	"xen_cpu_bringup_again",
	"xen_start_kernel",
};

/* Prefixes of mangled names. */
static const char *const beginnings[] = {
	"_ZN4core6option13expect_failed",
	"_ZN4core6option13unwrap_failed",
	"_ZN4core6result13unwrap_failed",
	"_ZN4core9panicking",
	"_ZN5alloc5alloc18handle_alloc_error",
	"_ZN5alloc7raw_vec12handle_error",
	"_ZN5alloc7raw_vec17capacity_overflow",
	"runtime.gopanic",
	"runtime.goPanic",
	"runtime.panicIndex",
	"runtime.panicSlice",
	"runtime.panicdivide",
	"runtime.panicmem",
	"runtime.throw",
	"runtime.fatalthrow",
};

static int name_compare(const void *key, const void *name)
{
	return strcmp(key, *(const char *const *)name);
}

/* std::__throw_length_error() and similar functions: "_ZSt20__throw_length_errorPKc" */
static bool is_standard_throw(const char *name)
{
	if (strncmp(name, "_ZSt", 4) != 0)
		return false;
	name += 4;
	while (*name >= '0' && *name <= '9')
		name++;
	return strncmp(name, "__throw_", 8) == 0;
}

/*
 * Remove the suffix of the linker or a version, from '@' on. Return: false if the name is too long.
 */
static bool plain_name(char plain[NAME_BYTES_MAX], const char *name)
{
	size_t length = strnlen(name, NAME_BYTES_MAX);
	const char *at = memchr(name, '@', length);

	if (at != NULL)
		length = (size_t)(at - name);
	if (length >= NAME_BYTES_MAX)
		return false;
	memcpy(plain, name, length);
	plain[length] = '\0';
	return true;
}

bool no_return_names_has(const char *name)
{
	char plain[NAME_BYTES_MAX];

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	if (is_standard_throw(name))
		return true;
	if (!plain_name(plain, name))
		return false;
	return bsearch(plain, names, sizeof(names) / sizeof(*names), sizeof(*names),
		       name_compare) != NULL;
}

bool no_return_names_kernel_has(const char *name)
{
	return bsearch(name, kernel_names, sizeof(kernel_names) / sizeof(*kernel_names),
		       sizeof(*kernel_names), name_compare) != NULL;
}

bool no_return_names_fails(const char *name)
{
	char plain[NAME_BYTES_MAX];

	return plain_name(plain, name) &&
	       (strcmp(plain, "error") == 0 || strcmp(plain, "error_at_line") == 0);
}
