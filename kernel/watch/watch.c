// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends the machine when one of its CPUs hangs: when it has let no other task run, or has taken no interrupt, for the
 * limit, which is half a second or what makes ALL_CPUS_NS of all CPUs together. CPUs that are idle cost the host
 * nothing. So what they were idle while a task was waited for counts for none: a CPU that works alone has the whole
 * half second.
 *
 * Linux's own detectors wait for seconds, which many CPUs that spin make an hour of the host's time, and then stop all
 * other CPUs, which takes as long again if one of them cannot be stopped. Here each CPU has a timer and a task. The
 * timer wakes the task, looks at when that ran last, and at whether the next CPU's timer still fires. So no kernel code
 * may keep a CPU for the limit without a point where it would let another task run.
 *
 * It costs each CPU two timer interrupts a limit, of half a second while it is idle, and a switch between tasks if it
 * is not. The timers fire one after another, so that of many CPUs that hang at once one is seen soon. A CPU that alone
 * takes no interrupts is seen by the one before it; if none does, by the emulator.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/arm-smccc.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/smpboot.h>
#include <linux/tick.h>
#include <uapi/linux/psci.h>

#define LONGEST_NS	(500 * NSEC_PER_MSEC)
#define ALL_CPUS_NS	(3 * NSEC_PER_SEC)	/* of CPUs of 2000 MIPS half a minute of a host */

static u64 busy_limit_ns;

struct watch {
	struct hrtimer timer;
	bool woken;			/* the task is to run, and has not yet */
	ktime_t woken_at;
	bool late;			/* half the limit has gone by since */
	ktime_t late_at;
	u64 idle_us;			/* of all CPUs, at that time */
	unsigned long beats;		/* how often the timer has fired */
	u64 limit_ns;			/* from its last beat on */

	/* Of the next CPU */
	unsigned long seen;		/* its beats */
	ktime_t seen_at;		/* when they were fewer than that */
};

static DEFINE_PER_CPU(struct watch, watches);
static DEFINE_PER_CPU(struct task_struct *, tasks);

/* At once, by the firmware's own call: a panic and a restart stop the other CPUs first, and wait for one that hangs */
static void end(unsigned int cpu, const char *how, u64 limit_ns)
{
	pr_emerg("CPU %u %s for %llu ms; CPU %u runs %s\n", cpu, how, limit_ns / NSEC_PER_MSEC, smp_processor_id(),
		 current->comm);
	arm_smccc_1_1_hvc(PSCI_0_2_FN_SYSTEM_OFF, NULL);
}

static u64 idle_us_of_all(void)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_online_cpu(cpu)
		sum += get_cpu_idle_time_us(cpu, NULL);
	return sum;
}

/* Half the limit of all CPUs, for the first half is over */
static bool spent(struct watch *watch, ktime_t now)
{
	u64 idle_ns = (idle_us_of_all() - watch->idle_us) * NSEC_PER_USEC;

	return ktime_sub(now, watch->late_at) * num_online_cpus() >= busy_limit_ns / 2 * num_online_cpus() + idle_ns;
}

static void look_at_late_task(struct watch *watch, ktime_t now)
{
	u64 waited_ns = ktime_sub(now, watch->woken_at);

	if (!watch->late) {
		watch->late = true;
		watch->late_at = now;
		watch->idle_us = idle_us_of_all();
	} else if (waited_ns >= LONGEST_NS || spent(watch, now)) {
		end(smp_processor_id(), "lets no other task run", waited_ns);
	}
}

static void look_at_task(struct watch *watch, ktime_t now)
{
	if (watch->woken) {
		look_at_late_task(watch, now);
		return;
	}
	if (is_idle_task(current) && !in_serving_softirq()) {
		smp_store_release(&watch->limit_ns, LONGEST_NS);
		return;
	}
	smp_store_release(&watch->limit_ns, busy_limit_ns);
	watch->late = false;
	watch->woken = true;
	watch->woken_at = now;
	wake_up_process(__this_cpu_read(tasks));
}

static void look_at_next(struct watch *watch, ktime_t now)
{
	unsigned int next = cpumask_next(smp_processor_id(), cpu_online_mask);
	unsigned long beats;
	u64 limit_ns;

	if (next >= nr_cpu_ids)
		next = cpumask_first(cpu_online_mask);
	/* Not the other way round: the limit is for the time after the beat that it was set at */
	limit_ns = smp_load_acquire(&per_cpu(watches, next).limit_ns);
	beats = READ_ONCE(per_cpu(watches, next).beats);
	if (beats != watch->seen) {
		watch->seen = beats;
		watch->seen_at = now;
	} else if (ktime_sub(now, watch->seen_at) >= limit_ns) {
		end(next, "takes no interrupts", limit_ns);
	}
}

static enum hrtimer_restart beat(struct hrtimer *timer)
{
	struct watch *watch = container_of(timer, struct watch, timer);
	ktime_t now = ktime_get();

	WRITE_ONCE(watch->beats, watch->beats + 1);
	look_at_task(watch, now);
	look_at_next(watch, now);
	hrtimer_forward_now(timer, ns_to_ktime(watch->limit_ns / 2));
	return HRTIMER_RESTART;
}

static int should_run(unsigned int cpu)
{
	return per_cpu(watches, cpu).woken;
}

static void ran(unsigned int cpu)
{
	per_cpu(watches, cpu).woken = false;
}

/* In each CPU's task, when it begins */
static void start(unsigned int cpu)
{
	struct watch *watch = &per_cpu(watches, cpu);
	u64 first_ns;

	hrtimer_init(&watch->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	watch->timer.function = beat;
	watch->seen_at = ktime_get();
	first_ns = (cpu + 1) * (LONGEST_NS / 2) / num_online_cpus();
	hrtimer_start(&watch->timer, ns_to_ktime(first_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static void stop(unsigned int cpu, bool online)
{
	hrtimer_cancel(&per_cpu(watches, cpu).timer);
}

static struct smp_hotplug_thread threads = {
	.store = &tasks,
	.thread_should_run = should_run,
	.thread_fn = ran,
	.setup = start,
	.cleanup = stop,
	.thread_comm = "watch/%u",
};

static int __init watch_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(watches, cpu).limit_ns = LONGEST_NS;
	busy_limit_ns = min_t(u64, LONGEST_NS, ALL_CPUS_NS / num_online_cpus());
	return smpboot_register_percpu_thread(&threads);
}

static void __exit watch_exit(void)
{
	smpboot_unregister_percpu_thread(&threads);
}

module_init(watch_init);
module_exit(watch_exit);

MODULE_DESCRIPTION("ends the machine when one of its CPUs hangs");
MODULE_LICENSE("GPL");
