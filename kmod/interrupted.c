// SPDX-License-Identifier: GPL-2.0-only
#include "interrupted.h"

#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "core/interpret.h"

#if defined(CONFIG_X86_64)

#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/e820/types.h>
#include <asm/fsgsbase.h>
#include <asm/perf_event.h>
#include <asm/pgtable.h>

/*
 * The PC of an AMD IBS sample is that of the tagged instruction, whereas all other registers are
 * those of the place that the interrupt struck later, possibly in the kernel. perf marks such a PC
 * as exact.
 */
static bool context_64bit(struct pt_regs *regs)
{
	return any_64bit_mode(regs) && !(regs->flags & PERF_EFLAGS_EXACT);
}

/*
 * The bases of fs and gs come after the sixteen registers. User code has its thread-local variables
 * at fs, whose base the kernel does not change. Its gs, which is rarely used, is swapped out while
 * this code runs. The kernel has its per-CPU variables at gs. Kernel code that runs before swapgs
 * does not use gs otherwise, and the interpreter stops at swapgs.
 */
#define REGISTER_FS_BASE 16
#define REGISTER_GS_BASE 17

bool interrupted_registers(struct pt_regs *regs, struct interpret_state *state)
{
	const u64 reg[] = {regs->ax,  regs->cx,	 regs->dx,  regs->bx, regs->sp,	 regs->bp,
			   regs->si,  regs->di,	 regs->r8,  regs->r9, regs->r10, regs->r11,
			   regs->r12, regs->r13, regs->r14, regs->r15};

	memset(state->reg, 0, sizeof(state->reg));
	memcpy(state->reg, reg, sizeof(reg));
	state->pc = regs->ip;
	state->flags = regs->flags;
	state->flags_known = ~0ULL;
	state->known = 0xffff;
	if (user_mode(regs)) {
		state->reg[REGISTER_FS_BASE] = x86_fsbase_read_cpu();
		state->known |= 1U << REGISTER_FS_BASE;
	} else {
		state->reg[REGISTER_GS_BASE] = per_cpu_offset(smp_processor_id());
		state->known |= 1U << REGISTER_GS_BASE;
	}
	return true;
}

/*
 * The direct map and the kernel's image; modules have a separate range. The direct map includes the
 * legacy ISA range, which contains devices on a PC.
 */
static bool kernel_memory(unsigned long address)
{
	unsigned long physical;

	if (!virt_addr_valid((void *)address))
		return address >= MODULES_VADDR && address < MODULES_END;
	physical = __pa(address);
	return physical < ISA_START_ADDRESS || physical >= ISA_END_ADDRESS;
}

#elif defined(CONFIG_ARM64)

#include <linux/sched/task.h>

#include "compat/kernel_image.h"

static bool context_64bit(struct pt_regs *regs)
{
	return !compat_user_mode(regs);
}

bool interrupted_registers(struct pt_regs *regs, struct interpret_state *state)
{
	static_assert(sizeof(regs->regs) == 31 * sizeof(u64));

	memcpy(state->reg, regs->regs, sizeof(regs->regs));
	state->reg[31] = regs->sp;
	state->pc = regs->pc;
	state->flags = regs->pstate;
	state->flags_known = ~0ULL;
	state->known = ~0U;
	return true;
}

/*
 * The linear map and part of the kernel's image, which lies among the vmalloc areas: the range
 * between two symbols known to modules. It contains the text, the constants and the beginning of
 * the data.
 */
static bool kernel_memory(unsigned long address)
{
	return virt_addr_valid((void *)address) ||
	       (address >= compat_kernel_image_begin() && address < (unsigned long)&init_task);
}

#else

static bool context_64bit(struct pt_regs *regs)
{
	return false;
}

bool interrupted_registers(struct pt_regs *regs, struct interpret_state *state)
{
	return false;
}

static bool kernel_memory(unsigned long address)
{
	return false;
}

#endif

bool interrupted_init(struct interrupted *interrupted, struct pt_regs *regs)
{
	interrupted->user = user_mode(regs);
	interrupted->pc = instruction_pointer(regs);
	interrupted->sp = kernel_stack_pointer(regs);
	return context_64bit(regs);
}

/*
 * Look up pages by their frames, as perf does in NMIs. The lookup rejects everything that is not
 * ordinary memory (devices mapped into the process) and never faults. It may run in any context: a
 * CPU that was interrupted in user mode holds no lock that releasing the page could need.
 */
static bool read_user(unsigned long address, void *to, size_t bytes)
{
	struct page *page;
	size_t piece;
	int found;

	for (; bytes > 0; bytes -= piece, to += piece, address += piece) {
		piece = min(bytes, PAGE_SIZE - offset_in_page(address));
		/*
		 * Nothing faults here, but in interrupts access_ok() requires page faults to be
		 * disabled.
		 */
		pagefault_disable();
		found = get_user_pages_fast_only(address, 1, 0, &page);
		pagefault_enable();
		if (found != 1)
			return false;
		memcpy(to, page_address(page) + offset_in_page(address), piece);
		put_page(page);
	}
	return true;
}

/*
 * The vmalloc areas, which contain stacks and modules but also devices, are separated by unmapped
 * pages. So the pages next to a page in use belong to the same area or are not mapped.
 */
static bool near_page(unsigned long address, unsigned long of, unsigned long pages_below)
{
	return address - ((of & PAGE_MASK) - pages_below * PAGE_SIZE) <
	       (pages_below + 2) * PAGE_SIZE;
}

static bool kernel_readable(const struct interrupted *interrupted, unsigned long address)
{
	return kernel_memory(address) || near_page(address, interrupted->sp, 0) ||
	       near_page(address, interrupted->pc, 1);
}

bool interrupted_read(void *context, u64 address, void *to, size_t bytes)
{
	const struct interrupted *interrupted = context;

	if (interrupted->user)
		return read_user((unsigned long)address, to, bytes);
	/* Upper half only: user memory that the kernel accesses is not read. */
	if ((s64)address >= 0 || address + bytes < address)
		return false;
	return kernel_readable(interrupted, (unsigned long)address) &&
	       kernel_readable(interrupted, (unsigned long)(address + bytes - 1)) &&
	       copy_from_kernel_nofault(to, (const void *)(unsigned long)address, bytes) == 0;
}
