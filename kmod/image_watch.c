// SPDX-License-Identifier: GPL-2.0-only
#include "image_watch.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include <asm/ptrace.h>

#include "compat/ftrace_argument.h"
#include "compat/inode_modified.h"
#include "uapi/dcpi_image_record.h"

#define CREATE_TRACE_POINTS
#include "image_watch_trace.h"

/* Bytes of struct image_record_map before its path. */
#define PATH_AT offsetof(struct image_record_map, path)
/*
 * System call numbers of mremap() in 64-bit and in 32-bit processes. Neither number unmaps memory
 * in the other kind of process.
 */
#define SYSCALL_MREMAP 216
#define SYSCALL_MREMAP_32 163
/* The ftrace location of a function is after its first instruction or two. */
#define LOCATION_MAX 32

enum watched {
	WATCHED_MAP,
	WATCHED_UNMAP,
	WATCHED_COMM,
	WATCHED_NR,
};

static const char *const watched_names[WATCHED_NR] = {
	[WATCHED_MAP] = "perf_event_mmap",
	[WATCHED_UNMAP] = "unmap_vmas",
	[WATCHED_COMM] = "perf_event_comm",
};

static unsigned long watched[WATCHED_NR];
static struct image_record_map __percpu *records;
static DEFINE_MUTEX(users_lock);
static unsigned int users;
static bool prepared;

static void head_fill(struct image_record *head, u32 type, const struct task_struct *task)
{
	head->time_ns = ktime_get_mono_fast_ns();
	head->type = type;
	head->pid = (u32)task->tgid;
	head->parent = 0;
	head->generation = task->self_exec_id;
}

static void file_fill(struct image_record_map *record, struct file *file)
{
	const struct inode *inode = file_inode(file);
	const struct timespec64 modified = compat_inode_modified(inode);
	/* d_path() fills the buffer from its end. */
	const char *path = d_path(&file->f_path, record->path, IMAGE_RECORD_PATH_BYTES);

	/* Too long: report as much as fits, without all the directories, as the BPF programs do. */
	if (IS_ERR(path)) {
		snprintf(record->path, IMAGE_RECORD_PATH_BYTES, "/%pd4", file->f_path.dentry);
		path = record->path;
	}
	record->memory = IMAGE_RECORD_PATH;
	record->path_bytes = (u32)strlen(path) + 1;
	memmove(record->path, path, record->path_bytes);
	record->inode = inode->i_ino;
	record->bytes = (u64)i_size_read(inode);
	record->device = inode->i_sb->s_dev;
	record->version = inode->i_generation;
	record->modified_s = modified.tv_sec;
	record->modified_ns = (u32)modified.tv_nsec;
	record->deleted = 0; /* d_path() marks a deleted file in the path */
}

static void memory_fill(struct image_record_map *record, struct vm_area_struct *vma)
{
	const char *name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;

	memset((char *)record + sizeof(record->head), 0, PATH_AT - sizeof(record->head));
	if (name && str_has_prefix(name, "[vdso"))
		record->memory = IMAGE_RECORD_VDSO;
	else
		record->memory = IMAGE_RECORD_ANONYMOUS;
}

/* perf_event_mmap(vma): called after mmap and mprotect, and for mappings of the kernel itself. */
static void map(struct vm_area_struct *vma)
{
	struct image_record_map *record;

	if (!(vma->vm_flags & VM_EXEC))
		return;
	preempt_disable_notrace();
	record = this_cpu_ptr(records);
	head_fill(&record->head, IMAGE_RECORD_MAP, current);
	record->head.parent = current->in_execve;
	if (vma->vm_file)
		file_fill(record, vma->vm_file);
	else
		memory_fill(record, vma);
	record->user = from_kuid(&init_user_ns, current_uid());
	record->file_user = from_kuid(&init_user_ns, current_fsuid());
	record->start = vma->vm_start;
	record->end = vma->vm_end;
	record->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	trace_dcpi_image_2(record, PATH_AT + record->path_bytes);
	preempt_enable_notrace();
}

/*
 * unmap_vmas(.., .., vma, start, end, ...): report munmap and mappings that MAP_FIXED replaces, but
 * not mremap() and the end of an address space: see loader-hook/bpf/image_watch.bpf.c.
 */
static void unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct mm_struct *mm = current->mm;
	struct image_record_unmap record;
	int number;

	if (!mm || atomic_read(&mm->mm_users) == 0 || vma->vm_mm != mm)
		return;
	if (!(vma->vm_flags & VM_EXEC) && end <= vma->vm_end)
		return;
	number = task_pt_regs(current)->syscallno;
	if (number == SYSCALL_MREMAP || number == SYSCALL_MREMAP_32)
		return;
	head_fill(&record.head, IMAGE_RECORD_UNMAP, current);
	record.head.parent = current->in_execve;
	record.start = start;
	record.end = end;
	trace_dcpi_image_2(&record, sizeof(record));
}

/* perf_event_comm(task, exec): called just before an exec increments the exec count. */
static void comm(const struct task_struct *task, bool exec)
{
	struct image_record_name record;

	if (!exec && task->pid != task->tgid)
		return;
	head_fill(&record.head, exec ? IMAGE_RECORD_EXEC : IMAGE_RECORD_RENAME, task);
	record.head.generation += exec;
	strscpy_pad(record.name, task->comm, sizeof(record.name));
	trace_dcpi_image_2(&record, sizeof(record));
}

static bool is_in(unsigned long ip, enum watched function)
{
	return ip - watched[function] < LOCATION_MAX;
}

/* Called before each of the watched functions, in the context of the process. */
static void notrace watched_called(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *ops, struct ftrace_regs *registers)
{
	if (is_in(ip, WATCHED_MAP))
		map((void *)compat_ftrace_argument(registers, 0));
	else if (is_in(ip, WATCHED_UNMAP))
		unmap((void *)compat_ftrace_argument(registers, 2),
		      compat_ftrace_argument(registers, 3), compat_ftrace_argument(registers, 4));
	else if (is_in(ip, WATCHED_COMM))
		comm((void *)compat_ftrace_argument(registers, 0),
		     compat_ftrace_argument(registers, 1) & 1);
}

/* Permanent: writing kernel.ftrace_enabled cannot disable it unnoticed. */
static struct ftrace_ops watched_ops = {
	.func = watched_called,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

/* Registering a disabled probe patches nothing: it only looks up its symbol. */
static unsigned long address_of(const char *name)
{
	struct kprobe probe = {.symbol_name = name, .flags = KPROBE_FLAG_DISABLED};

	if (register_kprobe(&probe) < 0)
		return 0;
	unregister_kprobe(&probe);
	return (unsigned long)probe.addr;
}

/* Called once: before Linux 6.13 a filter that was freed cannot be set again. */
static int watch_prepare(void)
{
	unsigned int i;

	for (i = 0; i < WATCHED_NR; i++) {
		watched[i] = address_of(watched_names[i]);
		if (!watched[i])
			return -EOPNOTSUPP;
	}
	return ftrace_set_filter_ips(&watched_ops, watched, WATCHED_NR, 0, 1);
}

static int watch_begin(void)
{
	int err;

	/*
	 * Ftrace calls with preemption disabled, and d_path() takes rename_lock and d_lock, which
	 * sleep in a kernel with PREEMPT_RT.
	 */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EOPNOTSUPP;
	err = prepared ? 0 : watch_prepare();
	prepared = !err;
	return err ? err : register_ftrace_function(&watched_ops);
}

static int device_open(struct inode *inode, struct file *file)
{
	int err = 0;

	if (!perfmon_capable())
		return -EPERM;
	mutex_lock(&users_lock);
	if (users == 0)
		err = watch_begin();
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	return err ? err : nonseekable_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	mutex_lock(&users_lock);
	if (--users == 0)
		unregister_ftrace_function(&watched_ops);
	mutex_unlock(&users_lock);
	return 0;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = DCPI_IMAGES_NAME,
	.fops = &device_operations,
	.mode = 0600,
};

int image_watch_init(void)
{
	int err;

	records = alloc_percpu(struct image_record_map);
	if (!records)
		return -ENOMEM;
	err = misc_register(&device);
	if (err)
		free_percpu(records);
	return err;
}

void image_watch_exit(void)
{
	misc_deregister(&device);
	ftrace_free_filter(&watched_ops);
	free_percpu(records);
}
