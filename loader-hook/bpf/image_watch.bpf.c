// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches what happens to address spaces: processes made and ended, exec,
 * executable memory mapped and unmapped, names changed.
 *
 * The places are those of perf's side band. Forks and exits have tracepoints.
 * The others are functions: fentry where the kernel has it, else dcpi.ko, which is called
 * before them and makes the records, else kprobes; what differs is how the arguments
 * arrive. All of them run on behalf of the process, before it can execute what they tell about.
 *
 * A program that is entered while it is active on its CPU is not run, so that each may
 * have one scratch buffer a CPU; a kprobe's not while any kprobe's program or a change of
 * a BPF map is. The kernel counts these; before Linux 6.7, kprobes' not.
 *
 * The few kernel types are declared by hand: libbpf relocates them (CO-RE).
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kmod/uapi/dcpi_image_record.h"

#define kernel_type __attribute__((preserve_access_index))
/*
 * A field of what a pointer leads to. If the verifier knows the type (the current
 * task, arguments of fentry programs and tracepoints, and what these lead to) it is
 * a load; reading it by a helper, as a kprobe's arguments must be, takes 70
 * instructions. @typed is constant.
 */
#define FIELD(typed, pointer, field) ((typed) ? (pointer)->field : BPF_CORE_READ(pointer, field))
#define hook_inline static inline __attribute__((always_inline))

#define VM_EXEC 4
#define COMPONENTS_MAX 128
#define LOST_PROCESSES_MAX 1024

const char program_license[] SEC("license") = "GPL";

/* Known to the verifier: they are read-only when it looks. */
const volatile __u32 page_shift = 12;
const volatile __u64 wake_bytes = 0;

/* Records that found no room, by type; and those of which not even the process was kept. */
__u64 records_lost[IMAGE_RECORD_TYPES];
__u64 processes_lost;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

/* Processes of which a record was lost, until the reader has looked at them. */
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

/* Before Linux 6.7, and 6.7 to 6.10. */
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

/* Of the current process, amid an exec: what it had mapped before is of another generation. */
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
 * The reader looks now and then anyway: wake it only if much is waiting. Of a loss the
 * process comes first: who sees the count looks for it.
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
int hook_fork(__u64 *context)
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

/* Of the last thread; if two are last at once, of both. */
SEC("tp_btf/sched_process_exit")
int hook_exit(__u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	struct image_record record;

	if (task->signal->live.counter != 0)
		return 0;
	head_fill(&record, IMAGE_RECORD_EXIT, task, 1);
	send(&record, sizeof(record));
	return 0;
}

/* perf_event_comm(task, exec): the count is raised just after an exec's. */
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

/* Where a walk from a file up to a process' root is. */
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

/* One name, or one step from the root of a mount to where it is mounted. Return: 1 ends it. */
static long walk_step(__u32 index, struct walk *walk)
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
		/* Mounted nowhere. A file that was mounted itself has a name all the same. */
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
	bpf_loop(COMPONENTS_MAX, walk_step, &walk, 0);
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

/* What is of no file, but has a private part, is the kernel's own and has a name. */
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

/* perf_event_mmap(vma): after mmap, mprotect, and of what the kernel maps itself. */
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
 * Where the number of the system call is in the registers that it saved. Programs of
 * 32 bits, whichever they are, have one number, and x32 marks its own; each number means
 * something to the others that unmaps nothing.
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
 * mremap() takes mappings from where they were, and what is moved into the place
 * of a program's text is nearly always a copy of it: nobody tells of that, so
 * the text stays known.
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
 * unmap_vmas(.., .., vma, start, end, ...): munmap, and what MAP_FIXED replaces.
 * Also the end of an address space, which has another event. Of data, mostly;
 * if it is only one area, without code, there is nothing to tell.
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

/* dcpi.ko made the record: see dcpi_image_record.h. */
SEC("raw_tp/" DCPI_IMAGES_TRACEPOINT)
int hook_record(__u64 *context)
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
int hook_comm(__u64 *context)
{
	return comm((struct task_struct *)context[0], context[1] & 1, 1);
}

SEC("fentry/perf_event_mmap")
int hook_map(__u64 *context)
{
	return map((struct vm_area_struct *)context[0], 1);
}

SEC("fentry/unmap_vmas")
int hook_unmap(__u64 *context)
{
	return unmap((struct vm_area_struct *)context[2], context[3], context[4], 1);
}

/* Where arguments are in struct pt_regs. */
#if defined(__TARGET_ARCH_x86)
static const int argument[] = {14, 13, 12, 11, 9};
#elif defined(__TARGET_ARCH_arm64)
static const int argument[] = {0, 1, 2, 3, 4};
#else
#error "where are a function's arguments on this architecture?"
#endif

SEC("kprobe/perf_event_comm")
int probe_comm(__u64 *registers)
{
	return comm((struct task_struct *)registers[argument[0]], registers[argument[1]] & 1, 0);
}

SEC("kprobe/perf_event_mmap")
int probe_map(__u64 *registers)
{
	return map((struct vm_area_struct *)registers[argument[0]], 0);
}

SEC("kprobe/unmap_vmas")
int probe_unmap(__u64 *registers)
{
	return unmap((struct vm_area_struct *)registers[argument[2]], registers[argument[3]],
		     registers[argument[4]], 0);
}
