// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: CPUs hang in the ways that the emulator is to see (emulator/lab-watch.h). `insmod hang.ko how=WORD` returns at once; what hangs is a
 * task bound to the last CPU, and with "deadlock" one on the CPU before it, too.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *how = "spin";
module_param(how, charp, 0);
MODULE_PARM_DESC(how, "spin: without an end; masked: the same without interrupts; deadlock: two CPUs, two locks; "
		      "everywhere: all CPUs spin; deaf: the same without interrupts; sleep: two tasks, two mutexes; panic; "
		      "late: a panic while the others wait for a lock without interrupts; oops; "
		      "long: no hang, but the last CPU lets no other task run for 300 ms");

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);
static DEFINE_MUTEX(first_mutex);
static DEFINE_MUTEX(second_mutex);

static int spin(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int masked(void *unused)
{
	local_irq_disable();
	return spin(NULL);
}

/* Each has one lock when it asks for the other's */
static int lock_forth(void *unused)
{
	spin_lock(&first);
	mdelay(10);
	spin_lock(&second);
	return 0;
}

static int lock_back(void *unused)
{
	spin_lock(&second);
	mdelay(10);
	spin_lock(&first);
	return 0;
}

static int sleep_forth(void *unused)
{
	mutex_lock(&first_mutex);
	msleep(10);
	mutex_lock(&second_mutex);
	return 0;
}

static int sleep_back(void *unused)
{
	mutex_lock(&second_mutex);
	msleep(10);
	mutex_lock(&first_mutex);
	return 0;
}

static int panics(void *unused)
{
	panic("as the test wants it");
	return 0;
}

/* What a lock of a driver is like, that is taken with interrupts off: nobody can be stopped who waits for it */
static int wait_masked(void *unused)
{
	unsigned long flags;

	spin_lock_irqsave(&first, flags);
	return spin(NULL);
}

static int panics_late(void *unused)
{
	spin_lock(&first);
	mdelay(20);
	panic("as the test wants it");
	return 0;
}

static int takes_long(void *unused)
{
	mdelay(300);
	return 0;
}

static int oopses(void *unused)
{
	*(volatile int *)NULL = 1;
	return 0;
}

static struct task_struct *made_for(unsigned int cpu, int (*what)(void *))
{
	struct task_struct *task = kthread_create(what, NULL, "hang/%u", cpu);

	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
}

static int on(unsigned int cpu, int (*what)(void *))
{
	struct task_struct *task = made_for(cpu, what);

	if (IS_ERR(task))
		return PTR_ERR(task);
	wake_up_process(task);
	return 0;
}

/* Making a task sleeps, waking one does not: who is woken cannot keep the others from it */
static int on_all(unsigned int last, int (*what)(void *))
{
	static struct task_struct *tasks[NR_CPUS];
	unsigned int cpu;

	for (cpu = 0; cpu <= last; cpu++) {
		tasks[cpu] = made_for(cpu, what);
		if (IS_ERR(tasks[cpu]))
			return PTR_ERR(tasks[cpu]);
	}
	for (cpu = 0; cpu <= last; cpu++)
		wake_up_process(tasks[cpu]);
	return 0;
}

static int __init hang_init(void)
{
	unsigned int last = num_online_cpus() - 1;
	int (*what)(void *) = spin;
	int err = 0;

	if (!strcmp(how, "spin"))
		return on(last, spin);
	if (!strcmp(how, "masked"))
		return on(last, masked);
	if (!strcmp(how, "deadlock"))
		return on(last - 1, lock_forth) ?: on(last, lock_back);
	if (!strcmp(how, "sleep"))
		return on(last - 1, sleep_forth) ?: on(last, sleep_back);
	if (!strcmp(how, "panic"))
		return on(last, panics);
	if (!strcmp(how, "long"))
		return on(last, takes_long);
	if (!strcmp(how, "oops"))
		return on(last, oopses);
	if (!strcmp(how, "late")) {
		what = wait_masked;
		err = on(last--, panics_late);
		mdelay(10);
	}
	if (!strcmp(how, "deaf"))
		what = masked;
	return err ?: on_all(last, what);
}

module_init(hang_init);

MODULE_DESCRIPTION("for tests: hangs CPUs");
MODULE_LICENSE("GPL");
