// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records changes of address spaces: creation and end of processes, exec, executable memory mapped
 * and unmapped, changes of names.
 *
 * The hooks are at the same places as perf's side band. Forks and exits have tracepoints. The
 * others are kernel functions, to which the programs are attached by fentry if the kernel has it.
 * Otherwise dcpi.ko is called before these functions and makes the records; without dcpi.ko,
 * kprobes are used. The variants differ in how the arguments arrive. All run in the context of the
 * process, before it can execute the code that they report.
 *
 * The kernel does not run a program that is already active on the CPU, so one scratch buffer per
 * CPU suffices for each program. A kprobe program is also skipped while any kprobe program or a
 * change of a BPF map is active on the CPU. The kernel counts skipped runs, but those of kprobes
 * only since Linux 6.7.
 *
 * The few kernel types needed are declared here: libbpf relocates their fields (CO-RE).
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kmod/uapi/dcpi_image_record.h"

#define kernel_type __attribute__((preserve_access_index))
/*
 * Read a field through a pointer. If the verifier knows the pointer's type, this is a plain load.
 * It knows the types of the current task, of the arguments of fentry programs and tracepoints, and
 * of objects reached from these. A kprobe's arguments must be read by a helper, which takes 70
 * instructions. @typed is constant.
 */
#define FIELD(typed, pointer, field) ((typed) ? (pointer)->field : BPF_CORE_READ(pointer, field))
#define hook_inline static inline __attribute__((always_inline))

#define VM_EXEC 4
#define COMPONENTS_MAX 128
#define LOST_PROCESSES_MAX 1024

const char program_license[] SEC("license") = "GPL";

/* Constants for the verifier: they are read-only when the program is loaded. */
const volatile __u32 page_shift = 12;
const volatile __u64 wake_bytes = 0;

/*
 * Records that found no room, by type; and how many of these records are from processes that are
 * not in @lost either.
 */
__u64 records_lost[IMAGE_RECORD_TYPES];
__u64 processes_lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

/* Processes that lost a record, until the reader has taken them from here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct image_record_map);
} scratch SEC(".maps");

struct qstr {
	const unsigned char *name;
} kernel_type;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} kernel_type;

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
} kernel_type;

struct vfsmount {
	struct dentry *mnt_root;
} kernel_type;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} kernel_type;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} kernel_type;

struct super_block {
	__u32 s_dev;
} kernel_type;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	long long i_size;
	__u32 i_generation;
	__s64 i_mtime_sec;
	__u32 i_mtime_nsec;
} kernel_type;

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
} kernel_type;

/* Layouts before Linux 6.7, and of 6.7 to 6.10. */
struct inode___6_6 {
	struct timespec64 i_mtime;
} kernel_type;

struct inode___6_10 {
	struct timespec64 __i_mtime;
} kernel_type;

struct file {
	struct path f_path;
	struct inode *f_inode;
} kernel_type;

typedef struct {
	int counter;
} atomic_t;

struct mm_struct {
	atomic_t mm_users;
} kernel_type;

struct vm_special_mapping {
	const char *name;
} kernel_type;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	void *vm_private_data;
} kernel_type;

struct fs_struct {
	struct path root;
} kernel_type;

struct signal_struct {
	atomic_t live;
} kernel_type;

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t fsuid;
} kernel_type;

struct task_struct {
	int pid;
	int tgid;
	__u32 self_exec_id;
	char comm[IMAGE_RECORD_NAME_BYTES];
	struct mm_struct *mm;
	const struct cred *cred;
	struct fs_struct *fs;
	struct signal_struct *signal;
	unsigned int in_execve : 1;
} kernel_type;

/*
 * Return true if the current process is within an exec: its older mappings belong to the previous
 * generation.
 */
hook_inline __u32 is_in_exec(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) ? BPF_CORE_READ_BITFIELD(task, in_execve) : 0;
}

hook_inline void head_fill(struct image_record *head, __u32 type, struct task_struct *task,
			   const int typed)
{
	head->time_ns = bpf_ktime_get_ns();
	head->type = type;
	head->pid = (__u32)FIELD(typed, task, tgid);
	head->parent = 0;
	head->generation = FIELD(typed, task, self_exec_id);
}

/*
 * The reader polls periodically, so it is woken only if many records wait. For a lost record, the
 * process is stored before the count is raised, because a reader that sees the count looks for the
 * process.
 */
hook_inline void send(struct image_record *record, __u64 bytes)
{
	__u64 flags = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= wake_bytes
			      ? BPF_RB_FORCE_WAKEUP
			      : BPF_RB_NO_WAKEUP;
	__u32 pid = record->pid, type = record->type;

	if (bpf_ringbuf_output(&ring, record, bytes, flags) == 0)
		return;
	if (bpf_map_update_elem(&lost, &pid, &type, BPF_ANY) != 0)
		__sync_fetch_and_add(&processes_lost, 1);
	if (type < IMAGE_RECORD_TYPES)
		__sync_fetch_and_add(&records_lost[type], 1);
}

SEC("tp_btf/sched_process_fork")
int dcpi_hook_fork(__u64 *context)
{
	struct task_struct *parent = (struct task_struct *)context[0];
	struct task_struct *child = (struct task_struct *)context[1];
	struct image_record record;

	if (child->pid != child->tgid)
		return 0;
	head_fill(&record, IMAGE_RECORD_FORK, child, 1);
	record.parent = (__u32)parent->tgid;
	send(&record, sizeof(record));
	return 0;
}

/* Records the end of the last thread; if two threads end at once, both may count as the last. */
SEC("tp_btf/sched_process_exit")
int dcpi_hook_exit(__u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	struct image_record record;

	if (task->signal->live.counter != 0)
		return 0;
	head_fill(&record, IMAGE_RECORD_EXIT, task, 1);
	send(&record, sizeof(record));
	return 0;
}

/*
 * perf_event_comm(task, exec): after an exec, the kernel raises the exec count just after this
 * call.
 */
hook_inline int comm(struct task_struct *task, int exec, const int typed)
{
	struct image_record_name record;

	if (!exec && FIELD(typed, task, pid) != FIELD(typed, task, tgid))
		return 0;
	head_fill(&record.head, exec ? IMAGE_RECORD_EXEC : IMAGE_RECORD_RENAME, task, typed);
	if (exec)
		record.head.generation++;
	BPF_CORE_READ_STR_INTO(&record.name, task, comm);
	send(&record.head, sizeof(record));
	return 0;
}

/* Position of a walk from a file up to the process's root directory. */
struct walk {
	struct image_record_map *record;
	struct dentry *dentry;
	struct mount *mount;
	struct dentry *root;
	struct mount *root_mount;
	__u32 bytes;
};

hook_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (struct mount *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
}

/*
 * Take one step: record a name, or go from the root of a mount to its mount point. Return: 1 to
 * end.
 */
static long dcpi_walk_step(__u32 index, struct walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent;
	struct mount *mount = walk->mount, *below;
	__u32 bytes = walk->bytes;
	long n, ends = 0;

	(void)index;
	if (dentry == walk->root && mount == walk->root_mount)
		return 1;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		below = BPF_CORE_READ(mount, mnt_parent);
		if (below != mount) {
			walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
			walk->mount = below;
			return 0;
		}
		/*
		 * Not mounted below another mount. A file that was itself mounted has a name
		 * nevertheless.
		 */
		if (bytes != 0)
			return 1;
		ends = 1;
	}
	if (bytes >= IMAGE_RECORD_PATH_BYTES || (bytes != 0 && parent == dentry))
		return 1;
	n = bpf_probe_read_kernel_str(&walk->record->path[bytes], 256,
				      BPF_CORE_READ(dentry, d_name.name));
	if (n <= 0)
		return 1;
	walk->bytes = bytes + (__u32)n;
	walk->dentry = parent;
	return ends;
}

hook_inline __u32 path_fill(struct image_record_map *record, struct file *file,
			    struct task_struct *task, const int typed)
{
	struct dentry *dentry = FIELD(typed, file, f_path.dentry);
	struct walk walk = {
		.record = record,
		.dentry = dentry,
		.mount = mount_of(BPF_CORE_READ(file, f_path.mnt)),
		.root = task->fs->root.dentry,
		.root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt)),
	};

	record->deleted = FIELD(typed, dentry, d_hash.pprev) == 0;
	bpf_loop(COMPONENTS_MAX, dcpi_walk_step, &walk, 0);
	return walk.bytes;
}

hook_inline void modified_fill(struct image_record_map *record, struct inode *inode,
			       const int typed)
{
	struct inode___6_6 *inode_6_6 = (void *)inode;
	struct inode___6_10 *inode_6_10 = (void *)inode;

	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		record->modified_s = FIELD(typed, inode, i_mtime_sec);
		record->modified_ns = FIELD(typed, inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(inode_6_10->__i_mtime)) {
		record->modified_s = FIELD(typed, inode_6_10, __i_mtime.tv_sec);
		record->modified_ns = (__u32)FIELD(typed, inode_6_10, __i_mtime.tv_nsec);
	} else {
		record->modified_s = FIELD(typed, inode_6_6, i_mtime.tv_sec);
		record->modified_ns = (__u32)FIELD(typed, inode_6_6, i_mtime.tv_nsec);
	}
}

hook_inline void file_fill(struct image_record_map *record, struct file *file,
			   struct task_struct *task, const int typed)
{
	struct inode *inode = FIELD(typed, file, f_inode);

	record->memory = IMAGE_RECORD_FILE;
	record->inode = FIELD(typed, inode, i_ino);
	record->bytes = (__u64)FIELD(typed, inode, i_size);
	record->device = typed ? inode->i_sb->s_dev : BPF_CORE_READ(inode, i_sb, s_dev);
	record->version = FIELD(typed, inode, i_generation);
	modified_fill(record, inode, typed);
	record->path_bytes = path_fill(record, file, task, typed);
}

/*
 * A mapping without a file but with private data is a special mapping of the kernel, which has a
 * name.
 */
hook_inline int is_vdso(struct vm_area_struct *vma)
{
	struct vm_special_mapping *mapping = BPF_CORE_READ(vma, vm_private_data);
	char name[8] = "";

	if (mapping == 0)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(mapping, name));
	return name[0] == '[' && name[1] == 'v' && name[2] == 'd' && name[3] == 's' &&
	       name[4] == 'o';
}

hook_inline void memory_fill(struct image_record_map *record, struct vm_area_struct *vma)
{
	record->memory = is_vdso(vma) ? IMAGE_RECORD_VDSO : IMAGE_RECORD_ANONYMOUS;
	record->inode = 0;
	record->bytes = 0;
	record->modified_s = 0;
	record->modified_ns = 0;
	record->device = 0;
	record->version = 0;
	record->deleted = 0;
	record->path_bytes = 0;
}

/*
 * perf_event_mmap(vma): called after mmap, mprotect, and for mappings that the kernel makes itself.
 */
hook_inline int map(struct vm_area_struct *vma, const int typed)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct image_record_map *record;
	struct file *file;
	__u32 zero = 0, bytes;

	if (!(FIELD(typed, vma, vm_flags) & VM_EXEC))
		return 0;
	record = bpf_map_lookup_elem(&scratch, &zero);
	if (record == 0)
		return 0;
	head_fill(&record->head, IMAGE_RECORD_MAP, task, 1);
	record->head.parent = is_in_exec(task);
	record->user = (__u32)bpf_get_current_uid_gid();
	record->file_user = task->cred->fsuid.val;
	record->start = FIELD(typed, vma, vm_start);
	record->end = FIELD(typed, vma, vm_end);
	record->offset = (__u64)FIELD(typed, vma, vm_pgoff) << page_shift;
	file = FIELD(typed, vma, vm_file);
	if (file != 0)
		file_fill(record, file, task, typed);
	else
		memory_fill(record, vma);
	bytes = record->path_bytes;
	if (bytes > sizeof(record->path))
		return 0;
	send(&record->head, __builtin_offsetof(struct image_record_map, path) + bytes);
	return 0;
}

/*
 * Offset of the system call's number in the saved registers. 32-bit programs of both architectures
 * have the same number of mremap, and x32 marks its numbers by a bit. In the other ABIs each of
 * these numbers is a system call that unmaps no memory.
 */
#define SYSCALL_MREMAP_32 163
#if defined(__TARGET_ARCH_x86)
#define SYSCALL_AT 120
#define SYSCALL_MARK 0x40000000U
#define SYSCALL_MREMAP 25
#elif defined(__TARGET_ARCH_arm64)
#define SYSCALL_AT 280
#define SYSCALL_MARK 0U
#define SYSCALL_MREMAP 216
#endif

/*
 * mremap() removes mappings from their old place. Memory moved over a program's text is almost
 * always a copy of this text, and no event reports the move, so the text stays known.
 */
hook_inline int is_mremap(struct task_struct *task)
{
	__u32 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      (char *)bpf_task_pt_regs((void *)task) + SYSCALL_AT);
	number &= ~SYSCALL_MARK;
	return number == SYSCALL_MREMAP || number == SYSCALL_MREMAP_32;
}

/*
 * unmap_vmas(.., .., vma, start, end, ...): called for munmap and for mappings that MAP_FIXED
 * replaces, and at the end of an address space, which has a separate event. Most ranges contain
 * data; a range within a single area without code is not reported.
 */
hook_inline int unmap(struct vm_area_struct *vma, unsigned long start, unsigned long end,
		      const int typed)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct image_record_unmap record;

	if (mm == 0 || mm->mm_users.counter == 0 || FIELD(typed, vma, vm_mm) != mm)
		return 0;
	if (!(FIELD(typed, vma, vm_flags) & VM_EXEC) && end <= FIELD(typed, vma, vm_end))
		return 0;
	if (is_mremap(task))
		return 0;
	head_fill(&record.head, IMAGE_RECORD_UNMAP, task, 1);
	record.head.parent = is_in_exec(task);
	record.start = start;
	record.end = end;
	send(&record.head, sizeof(record));
	return 0;
}

/* Forward a record that dcpi.ko made: see dcpi_image_record.h. */
SEC("raw_tp/" DCPI_IMAGES_TRACEPOINT)
int dcpi_hook_record(__u64 *context)
{
	struct image_record_map *record;
	__u64 bytes = context[1];
	__u32 zero = 0;

	record = bpf_map_lookup_elem(&scratch, &zero);
	if (record == 0 || bytes > sizeof(*record))
		return 0;
	bpf_probe_read_kernel(record, bytes, (void *)context[0]);
	send(&record->head, bytes);
	return 0;
}

SEC("fentry/perf_event_comm")
int dcpi_hook_comm(__u64 *context)
{
	return comm((struct task_struct *)context[0], context[1] & 1, 1);
}

SEC("fentry/perf_event_mmap")
int dcpi_hook_map(__u64 *context)
{
	return map((struct vm_area_struct *)context[0], 1);
}

SEC("fentry/unmap_vmas")
int dcpi_hook_unmap(__u64 *context)
{
	return unmap((struct vm_area_struct *)context[2], context[3], context[4], 1);
}

/* Indexes of the arguments' registers in struct pt_regs. */
#if defined(__TARGET_ARCH_x86)
static const int argument[] = {14, 13, 12, 11, 9};
#elif defined(__TARGET_ARCH_arm64)
static const int argument[] = {0, 1, 2, 3, 4};
#else
#error "unknown registers of function arguments on this architecture"
#endif

SEC("kprobe/perf_event_comm")
int dcpi_probe_comm(__u64 *registers)
{
	return comm((struct task_struct *)registers[argument[0]], registers[argument[1]] & 1, 0);
}

SEC("kprobe/perf_event_mmap")
int dcpi_probe_map(__u64 *registers)
{
	return map((struct vm_area_struct *)registers[argument[0]], 0);
}

SEC("kprobe/unmap_vmas")
int dcpi_probe_unmap(__u64 *registers)
{
	return unmap((struct vm_area_struct *)registers[argument[2]], registers[argument[3]],
		     registers[argument[4]], 0);
}
