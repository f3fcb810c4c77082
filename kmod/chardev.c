// SPDX-License-Identifier: GPL-2.0-only
#include "chardev.h"

#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "branch.h"
#include "core/sample_store.h"
#include "event_permission.h"
#include "sampler.h"
#include "uapi/dcpi_snapshot.h"

/* The layout is ABI. */
static_assert(sizeof(struct dcpi_version) == 16);
static_assert(sizeof(struct dcpi_event) == 48);
static_assert(sizeof(struct dcpi_config) == 40 + DCPI_EVENTS_MAX * 48);
static_assert(sizeof(struct dcpi_drain) == 24);
static_assert(sizeof(struct dcpi_stats) == 8 + 16 * 8 + DCPI_LOSS_NR * 8);
static_assert(sizeof(struct dcpi_event_stats) == 40);
static_assert(sizeof(struct dcpi_times) == 24 + 2 * DCPI_TIME_BUCKETS * 8);
static_assert(sizeof(struct dcpi_take) == 16);
static_assert(sizeof(struct dcpi_process) == 8);
static_assert(sizeof(struct dcpi_snapshot) == 336);
static_assert(sizeof(struct dcpi_snapshots) == 72);

static unsigned long reader; /* bit 0: the device is open */

static int device_open(struct inode *inode, struct file *file)
{
	/* Otherwise members of the file's group could keep the daemon out. */
	if (!perfmon_capable())
		return -EPERM;
	if (test_and_set_bit_lock(0, &reader))
		return -EBUSY;
	return nonseekable_open(inode, file);
}

/* Called when the last descriptor is closed, explicitly or because its holders exited. */
static int device_release(struct inode *inode, struct file *file)
{
	sampler_leave();
	clear_bit_unlock(0, &reader);
	return 0;
}

static __poll_t device_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, sampler_waiters(), wait);
	return sampler_readable() ? EPOLLIN | EPOLLRDNORM : 0;
}

static long ioctl_version(void __user *argument)
{
	struct dcpi_version version = {
		.major = DCPI_UAPI_MAJOR,
		.minor = DCPI_UAPI_MINOR,
		.cpus = nr_cpu_ids,
	};

	return copy_to_user(argument, &version, sizeof(version)) ? -EFAULT : 0;
}

static u64 period_min(const struct dcpi_event *event)
{
	bool clock =
		event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						      event->config == PERF_COUNT_SW_TASK_CLOCK);

	return clock ? DCPI_CLOCK_PERIOD_MIN : DCPI_PERIOD_MIN;
}

static bool event_valid(const struct dcpi_event *event)
{
	return event->period_min >= period_min(event) && event->period_max <= DCPI_PERIOD_MAX &&
	       event->period_min <= event->period_max;
}

#define EVENT_FLAGS (DCPI_EVENT_EXCLUDE_USER | DCPI_EVENT_EXCLUDE_KERNEL)

static bool events_valid(const struct dcpi_config *config)
{
	u32 i;

	if (config->events < 1 || config->events > DCPI_EVENTS_MAX)
		return false;
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		if (config->event[i].flags & ~EVENT_FLAGS || config->event[i].flags == EVENT_FLAGS)
			return false;
		if (i < config->events && !event_valid(&config->event[i]))
			return false;
	}
	return true;
}

/* The short period must differ from all others, and must end in user space; see handler.c. */
static bool double_valid(const struct dcpi_config *config)
{
	if (!(config->flags & DCPI_START_DOUBLE))
		return config->double_every == 0 && config->double_period == 0;
	return config->double_every >= 2 && config->double_period >= 1 &&
	       config->double_period < config->event[0].period_min &&
	       config->double_period <= DCPI_PERIOD_MIN &&
	       config->event[0].flags & DCPI_EVENT_EXCLUDE_KERNEL;
}

#define START_FLAGS                                                                                \
	(DCPI_START_TIMES | DCPI_START_BRANCHES | DCPI_START_DOUBLE | DCPI_START_SNAPSHOTS)

static bool config_valid(const struct dcpi_config *config)
{
	if (config->reserved || config->flags & ~START_FLAGS ||
	    !!(config->flags & DCPI_START_BRANCHES) != (config->branch_every != 0))
		return false;
	if (config->flags & DCPI_START_SNAPSHOTS && !(config->flags & DCPI_START_BRANCHES))
		return false;
	return events_valid(config) && double_valid(config) &&
	       sample_store_entries_valid(config->table_entries) &&
	       sample_store_entries_valid(config->buffer_entries);
}

/*
 * The rule of perf: in lockdown mode, addresses may be exposed but register contents may not. The
 * direction of a branch reveals register contents.
 */
static int branches_permitted(void)
{
	return branch_supported() ? security_locked_down(LOCKDOWN_PERF) : -EOPNOTSUPP;
}

static long ioctl_start(const void __user *argument)
{
	struct dcpi_config config;
	int err;

	if (!perfmon_capable())
		return -EPERM;
	if (copy_from_user(&config, argument, sizeof(config)))
		return -EFAULT;
	if (config.table_entries == 0)
		config.table_entries = DCPI_TABLE_ENTRIES_DEFAULT;
	if (config.buffer_entries == 0)
		config.buffer_entries = DCPI_BUFFER_ENTRIES_DEFAULT;
	if (!config_valid(&config))
		return -EINVAL;
	if (config.flags & DCPI_START_BRANCHES) {
		err = branches_permitted();
		if (err)
			return err;
	}
	err = event_permission_check(&config);
	return err ? err : sampler_start(&config);
}

static long ioctl_stop(void)
{
	sampler_stop();
	return 0;
}

static long ioctl_drain(struct dcpi_drain __user *argument)
{
	struct dcpi_drain request;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	return sampler_drain(&request, &argument->count);
}

static long ioctl_stats(struct dcpi_stats __user *argument)
{
	struct dcpi_stats stats = {};
	int err;

	if (get_user(stats.cpu, &argument->cpu))
		return -EFAULT;
	err = sampler_stats(&stats);
	if (err)
		return err;
	return copy_to_user(argument, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long ioctl_event_stats(struct dcpi_event_stats __user *argument)
{
	struct dcpi_event_stats stats = {};
	int err;

	if (get_user(stats.cpu, &argument->cpu) || get_user(stats.event, &argument->event))
		return -EFAULT;
	err = sampler_event_stats(&stats);
	if (err)
		return err;
	return copy_to_user(argument, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long ioctl_times(struct dcpi_times __user *argument)
{
	struct dcpi_times times = {};
	int err;

	if (get_user(times.cpu, &argument->cpu) || get_user(times.reserved, &argument->reserved))
		return -EFAULT;
	if (times.reserved)
		return -EINVAL;
	err = sampler_times(&times);
	if (err)
		return err;
	return copy_to_user(argument, &times, sizeof(times)) ? -EFAULT : 0;
}

static long ioctl_take(struct dcpi_take __user *argument)
{
	struct dcpi_take take;
	int err;

	if (copy_from_user(&take, argument, sizeof(take)))
		return -EFAULT;
	err = sampler_take(&take);
	if (err)
		return err;
	return copy_to_user(argument, &take, sizeof(take)) ? -EFAULT : 0;
}

static long ioctl_snapshots(struct dcpi_snapshots __user *argument)
{
	struct dcpi_snapshots request, answer = {};
	int err;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.reserved)
		return -EINVAL;
	answer.cpu = request.cpu;
	answer.capacity = request.capacity;
	answer.snapshots = request.snapshots;
	err = sampler_snapshots(&answer);
	if (err)
		return err;
	return copy_to_user(argument, &answer, sizeof(answer)) ? -EFAULT : 0;
}

static long ioctl_release(const u32 __user *argument)
{
	u32 cpu;

	if (get_user(cpu, argument))
		return -EFAULT;
	return sampler_release(cpu);
}

static long ioctl_process(struct dcpi_process __user *argument)
{
	struct task_struct *task;
	u32 pid, generation = 0;

	if (get_user(pid, &argument->pid))
		return -EFAULT;
	if (pid > DCPI_PID_MAX)
		return -ESRCH;
	rcu_read_lock();
	task = pid_task(find_pid_ns((int)pid, &init_pid_ns), PIDTYPE_TGID);
	if (task)
		generation = READ_ONCE(task->self_exec_id) & DCPI_GENERATION_MAX;
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	return put_user(generation, &argument->generation);
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long value)
{
	void __user *argument = (void __user *)value;

	switch (command) {
	case DCPI_IOC_VERSION:
		return ioctl_version(argument);
	case DCPI_IOC_START:
		return ioctl_start(argument);
	case DCPI_IOC_STOP:
		return ioctl_stop();
	case DCPI_IOC_DRAIN:
		return ioctl_drain(argument);
	case DCPI_IOC_STATS:
		return ioctl_stats(argument);
	case DCPI_IOC_PROCESS:
		return ioctl_process(argument);
	case DCPI_IOC_EVENT_STATS:
		return ioctl_event_stats(argument);
	case DCPI_IOC_TIMES:
		return ioctl_times(argument);
	case DCPI_IOC_TAKE:
		return ioctl_take(argument);
	case DCPI_IOC_RELEASE:
		return ioctl_release(argument);
	case DCPI_IOC_SNAPSHOTS:
		return ioctl_snapshots(argument);
	default:
		return -ENOTTY;
	}
}

/* A mapping holds a reference to the file, and thereby to the module. */
static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 cpu = vma->vm_pgoff >> (DCPI_MMAP_SHIFT - PAGE_SHIFT);

	if (cpu > U32_MAX || vma->vm_pgoff != DCPI_MMAP_OFFSET(cpu) >> PAGE_SHIFT)
		return -EINVAL;
	return sampler_map((u32)cpu, vma);
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.poll = device_poll,
	.mmap = device_mmap,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = DCPI_DEVICE_NAME,
	.fops = &device_operations,
	.mode = 0660,
};

int chardev_init(void)
{
	return misc_register(&device);
}

void chardev_exit(void)
{
	misc_deregister(&device);
}
