// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sandbox.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"

#define NOBODY 65534
#define MEMORY_MIN (512ULL << 20)
#define FILE_BYTES_MAX (16ULL << 30)
#define PROCESSES_MAX 256
#define FILTER_MAX 512

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER 1
#else
#define SANITIZER 0
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Linux's offset of system call numbers of x32 programs, which the filter does not handle. */
#define X32_CALLS 0x40000000

/* Calls that are allowed with any arguments. */
static const int calls_allowed[] = {
	/* Open files. */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_fstatfs,
	SYS_ftruncate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fallocate,
	SYS_fadvise64,
	SYS_flock,
	SYS_dup,
	SYS_dup3,
	SYS_memfd_create,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendto,
	SYS_recvfrom,
	SYS_ppoll,
	SYS_pselect6,
	SYS_signalfd4,
	/* glibc calls it for fstat(). The call reveals attributes of files, never contents. */
	SYS_newfstatat,
	/* Memory. */
	SYS_brk,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	/* Threads and signals of this process. */
	SYS_futex,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_timer_create,
	SYS_timer_settime,
	SYS_timer_delete,
	SYS_exit,
	SYS_exit_group,
	/* Information. */
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getrusage,
	SYS_sysinfo,
	SYS_uname,
	SYS_getcwd,
	SYS_getrandom,
	SYS_gettimeofday,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
#ifdef __x86_64__
	SYS_time,
	SYS_poll,
	SYS_select,
	SYS_dup2,
#endif
#if SANITIZER
	/* Sanitizer reports read the process's own maps, and the leak check traces the process. */
	SYS_clone,
	SYS_openat,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_prctl,
	SYS_ptrace,
	SYS_wait4,
	SYS_prlimit64,
	SYS_process_vm_readv,
#ifdef __x86_64__
	SYS_readlink,
	SYS_open,
#endif
#endif
};

/* Locks, flags and copies of descriptors. F_SETOWN could send signals to other processes. */
static const uint32_t fcntl_allowed[] = {
	F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC,
};

/* Requests of stdio and of full-screen programs to a terminal. TIOCSTI would type into it. */
static const uint32_t ioctl_allowed[] = {
	TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ, FIONREAD,
};

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short length;
};

static void filter_add(struct filter *filter, struct sock_filter insn)
{
	filter->code[filter->length++] = insn;
}

static void filter_return(struct filter *filter, uint32_t action)
{
	filter_add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void filter_load(struct filter *filter, size_t offset)
{
	filter_add(filter,
		   (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Load the low half, which holds an entire int. */
static void filter_load_argument(struct filter *filter, unsigned int number)
{
	filter_load(filter, offsetof(struct seccomp_data, args) + 8 * number);
}

/* Run the next @count instructions only if the value is @number. */
static void filter_if(struct filter *filter, uint32_t number, unsigned char count)
{
	filter_add(filter,
		   (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, count));
}

static void filter_allow_if_one_of(struct filter *filter, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		filter_if(filter, values[i], 1);
		filter_return(filter, SECCOMP_RET_ALLOW);
	}
}

/* Allow a call whose argument has one of these values. */
static void filter_allow_values(struct filter *filter, int call, unsigned int argument,
				const uint32_t *values, size_t count)
{
	filter_if(filter, (uint32_t)call, (unsigned char)(2 * count + 2));
	filter_load_argument(filter, argument);
	filter_allow_if_one_of(filter, values, count);
	filter_return(filter, SECCOMP_RET_ERRNO | EPERM);
}

/* Allow a call whose argument has (@wanted), or does not have, one of these bits. */
static void filter_allow_bits(struct filter *filter, int call, unsigned int argument, uint32_t bits,
			      bool wanted)
{
	filter_if(filter, (uint32_t)call, 4);
	filter_load_argument(filter, argument);
	filter_add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits,
							wanted ? 0 : 1, wanted ? 1 : 0));
	filter_return(filter, SECCOMP_RET_ALLOW);
	filter_return(filter, SECCOMP_RET_ERRNO | EPERM);
}

/* Allow a call whose argument is a null pointer, all 64 bits of it. */
static void filter_allow_null(struct filter *filter, int call, unsigned int argument)
{
	filter_if(filter, (uint32_t)call, 6);
	filter_load_argument(filter, argument);
	filter_if(filter, 0, 3);
	filter_load(filter, offsetof(struct seccomp_data, args) + 8 * argument + 4);
	filter_if(filter, 0, 1);
	filter_return(filter, SECCOMP_RET_ALLOW);
	filter_return(filter, SECCOMP_RET_ERRNO | EPERM);
}

static void filter_add_arguments(struct filter *filter)
{
	const uint32_t self = (uint32_t)getpid();

	filter_allow_bits(filter, SYS_mmap, 2, PROT_EXEC, false);
	filter_allow_bits(filter, SYS_mprotect, 2, PROT_EXEC, false);
	if (!SANITIZER)
		filter_allow_bits(filter, SYS_clone, 0, CLONE_THREAD, true);
	/*
	 * The flags of clone3() are in memory, out of the filter's reach. The C library falls back
	 * to clone().
	 */
	filter_if(filter, SYS_clone3, 1);
	filter_return(filter, SECCOMP_RET_ERRNO | ENOSYS);
	filter_allow_values(filter, SYS_fcntl, 1, fcntl_allowed,
			    sizeof(fcntl_allowed) / sizeof(*fcntl_allowed));
	filter_allow_values(filter, SYS_ioctl, 1, ioctl_allowed,
			    sizeof(ioctl_allowed) / sizeof(*ioctl_allowed));
	filter_allow_values(filter, SYS_tgkill, 0, &self, 1);
	filter_allow_values(filter, SYS_kill, 0, &self, 1);
	filter_allow_null(filter, SYS_prlimit64, 2);
}

#ifdef ARCHITECTURE
static int filter_install(struct error *err)
{
	struct filter filter = {.length = 0};
	struct sock_fprog program = {.filter = filter.code};

	filter_load(&filter, offsetof(struct seccomp_data, arch));
	filter_add(&filter,
		   (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
	filter_return(&filter, SECCOMP_RET_KILL_PROCESS);
	filter_load(&filter, offsetof(struct seccomp_data, nr));
	filter_add(&filter,
		   (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1));
	filter_return(&filter, SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; i < sizeof(calls_allowed) / sizeof(*calls_allowed); i++) {
		filter_if(&filter, (uint32_t)calls_allowed[i], 1);
		filter_return(&filter, SECCOMP_RET_ALLOW);
	}
	filter_add_arguments(&filter);
	filter_return(&filter, SECCOMP_RET_ERRNO | EPERM);
	program.len = filter.length;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 0;
	return error_set_errno(err, "seccomp is not available");
}
#else
static int filter_install(struct error *err)
{
	return error_set(err, ENOSYS, "seccomp filters are not known for this architecture");
}
#endif

static void lower_limits(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return;
	if (limit.rlim_cur > soft)
		limit.rlim_cur = soft;
	if (limit.rlim_max > hard)
		limit.rlim_max = hard;
	setrlimit((__rlimit_resource_t)resource, &limit);
}

static void lower_limit(int resource, uint64_t value)
{
	lower_limits(resource, value, value);
}

struct sandbox_limits sandbox_limits_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	struct sandbox_limits limits = {.memory_bytes = MEMORY_MIN, .files = 256};
	uint64_t half =
		pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 : 0;

	if (half > limits.memory_bytes)
		limits.memory_bytes = half;
	return limits;
}

static void set_limits(const struct sandbox_limits *limits)
{
	/* A sanitizer reserves address space for its shadow memory. */
	if (!SANITIZER)
		lower_limit(RLIMIT_DATA, limits->memory_bytes);
	/* At the hard limit the signal is SIGKILL, which has no reason. */
	if (limits->cpu_seconds > 0)
		lower_limits(RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 1ULL);
	lower_limit(RLIMIT_NOFILE, limits->files);
	lower_limit(RLIMIT_CORE, 0);
	lower_limit(RLIMIT_MEMLOCK, 0);
	lower_limit(RLIMIT_MSGQUEUE, 0);
	lower_limit(RLIMIT_FSIZE, FILE_BYTES_MAX);
}

/*
 * Where there is no filter, an empty root directory hides all files. The directory of this
 * process's descriptors serves as one: every process may enter it, and it holds nothing that can be
 * opened for writing.
 */
static void leave_root(void)
{
	if (SANITIZER)
		return;
	if (chroot("/proc/self/fdinfo") == 0 && chdir("/") < 0)
		_exit(2);
	/* A user namespace may lack these ids; then only the capabilities are dropped, below. */
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return;
	lower_limit(RLIMIT_NPROC, PROCESSES_MAX);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	syscall(SYS_capset, &header, data);
}

void sandbox_close_from(int first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
	for (int fd = first; fd < 1024; fd++)
		close(fd);
}

int sandbox_enter(const struct sandbox_limits *limits, struct error *err)
{
	set_limits(limits);
	if (geteuid() == 0)
		leave_root();
	if (!SANITIZER) {
		drop_capabilities();
		prctl(PR_SET_DUMPABLE, 0);
	}
	/* A change of the user id clears this setting. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set_errno(err, "seccomp is not available");
	return filter_install(err);
}

bool sandbox_check(bool (*check)(void *context), void *context, unsigned int seconds)
{
	struct sandbox_limits limits = sandbox_limits_default();
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		limits.cpu_seconds = seconds;
		/*
		 * Without a filter, the other limits have to suffice; the report has already said
		 * so.
		 */
		sandbox_enter(&limits, NULL);
		_exit(check(context) ? 0 : 1);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
