// SPDX-License-Identifier: GPL-2.0-only
/*
 * One mistake of each kind that the debug kernels must detect, made when the module is loaded:
 * mistake=NAME. If a run with one of them passes, the checks do not work, and would not detect such
 * a mistake of dcpi.ko either.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *mistake = "";
module_param(mistake, charp, 0444);
MODULE_PARM_DESC(mistake, "which");

static void heap_overrun(void)
{
	size_t bytes = 64;
	char *memory = kmalloc(bytes, GFP_KERNEL);

	if (!memory)
		return;
	OPTIMIZER_HIDE_VAR(bytes);
	WRITE_ONCE(memory[bytes], 1);
	kfree(memory);
}

/* As large as a store: kvmalloc() uses vmalloc() for this size. */
static void vmalloc_overrun(void)
{
	size_t bytes = 3 * PAGE_SIZE;
	char *memory = vzalloc(bytes);

	if (!memory)
		return;
	OPTIMIZER_HIDE_VAR(bytes);
	WRITE_ONCE(memory[bytes], 1);
	vfree(memory);
}

static void use_after_free(void)
{
	char *memory = kzalloc(256, GFP_KERNEL);

	if (!memory)
		return;
	kfree(memory);
	OPTIMIZER_HIDE_VAR(memory);
	WRITE_ONCE(memory[8], 1);
}

static void leak(void)
{
	unsigned int i;

	/* Leak several: a stale pointer to one may be on some stack. */
	for (i = 0; i < 16; i++) {
		void *memory = kmalloc(3000, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(memory);
	}
}

static void sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	msleep(1);
	spin_unlock(&lock);
}

static void lock_order(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

/* Taken by an interrupt, and elsewhere with interrupts enabled. */
static DEFINE_SPINLOCK(irq_unsafe);

static void take_in_timer(struct timer_list *timer)
{
	spin_lock(&irq_unsafe);
	spin_unlock(&irq_unsafe);
}

static void lock_in_interrupt(void)
{
	static struct timer_list timer;

	timer_setup(&timer, take_in_timer, 0);
	mod_timer(&timer, jiffies + 1);
	msleep(100);
	spin_lock(&irq_unsafe);
	spin_unlock(&irq_unsafe);
	del_timer_sync(&timer);
}

static void rcu_without_lock(void)
{
	static int value;
	static int __rcu *pointer = (int __rcu __force *)&value;

	WRITE_ONCE(value, *rcu_dereference(pointer));
}

static void cpu_while_preemptible(void)
{
	static DEFINE_PER_CPU(int, counter);

	__this_cpu_inc(counter);
}

static void shift_too_far(void)
{
	static int result;
	int distance = 40;

	OPTIMIZER_HIDE_VAR(distance);
	WRITE_ONCE(result, 1 << distance);
}

static void index_out_of_bounds(void)
{
	static int array[8], result;
	unsigned int i = 8;

	OPTIMIZER_HIDE_VAR(i);
	WRITE_ONCE(array[0], 1);
	/*
	 * A read, because WRITE_ONCE() takes an address, and the address of the end is still valid.
	 */
	WRITE_ONCE(result, array[i]);
}

static void list_corrupted(void)
{
	static LIST_HEAD(head);
	static struct list_head element;

	list_add(&element, &head);
	element.prev = &element;
	list_del(&element);
}

static void freed_while_active(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, take_in_timer, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static unsigned long raced;

static int racer(void *unused)
{
	while (!kthread_should_stop()) {
		raced++;
		cond_resched();
	}
	return 0;
}

static void racing_threads(void)
{
	struct task_struct *thread[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(thread); i++)
		thread[i] = kthread_run(racer, NULL, "racer/%u", i);
	msleep(5000);
	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		if (!IS_ERR(thread[i]))
			kthread_stop(thread[i]);
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{"heap_overrun", heap_overrun},
	{"vmalloc_overrun", vmalloc_overrun},
	{"use_after_free", use_after_free},
	{"leak", leak},
	{"sleep_in_atomic", sleep_in_atomic},
	{"lock_order", lock_order},
	{"lock_in_interrupt", lock_in_interrupt},
	{"rcu_without_lock", rcu_without_lock},
	{"cpu_while_preemptible", cpu_while_preemptible},
	{"shift_too_far", shift_too_far},
	{"index_out_of_bounds", index_out_of_bounds},
	{"list_corrupted", list_corrupted},
	{"freed_while_active", freed_while_active},
	{"data_race", racing_threads},
	{"none", NULL},
};

static int __init mistakes_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(mistake, mistakes[i].name) != 0)
			continue;
		if (mistakes[i].make)
			mistakes[i].make();
		return 0;
	}
	return -EINVAL;
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);
MODULE_DESCRIPTION("Mistakes that a debug kernel must see");
MODULE_LICENSE("GPL");
