// SPDX-License-Identifier: Apache-2.0
/*
 * lock KIND CPUS HELD OUTSIDE NS: CPUS CPUs take a lock in turn for NS nanoseconds, hold it for 2 * HELD instructions
 * and do 2 * OUTSIDE others between. KIND: 0 test and set, 1 ticket, 2 queue (Mellor-Crummey and Scott), 3 queue whose
 * lock is handed on by plain stores and loads. Prints each CPU's number of times, then the nanoseconds that passed.
 */
#include "bare.h"

enum kind { TEST_AND_SET, TICKET, QUEUE, PLAIN_QUEUE };

struct node {
    struct node *next;
    uint32_t waits;
} __attribute__((aligned(LINE)));

static struct {
    uint32_t next, served;
} ticket __attribute__((aligned(LINE)));
static struct own flag, done;
static struct {
    struct node *last;
} queue __attribute__((aligned(LINE)));
static struct node nodes[MOST_CPUS];
static struct own times[MOST_CPUS];

static inline void take(enum kind kind, struct node *mine)
{
    struct node *before;
    uint32_t turn;

    switch (kind) {
    case TEST_AND_SET:
        while (__atomic_exchange_n(&flag.value, 1, __ATOMIC_ACQUIRE)) {
            while (__atomic_load_n(&flag.value, __ATOMIC_ACQUIRE)) {
            }
        }
        return;
    case TICKET:
        turn = __atomic_fetch_add(&ticket.next, 1, __ATOMIC_ACQ_REL);
        while (__atomic_load_n(&ticket.served, __ATOMIC_ACQUIRE) != turn) {
        }
        return;
    default:
        mine->next = 0;
        mine->waits = 1;
        before = __atomic_exchange_n(&queue.last, mine, __ATOMIC_ACQ_REL);
        if (!before) {
            return;
        }
        __atomic_store_n(&before->next, mine, __ATOMIC_RELEASE);
        if (kind == QUEUE) {
            while (__atomic_load_n(&mine->waits, __ATOMIC_ACQUIRE)) {
            }
        } else {
            while (*(volatile uint32_t *)&mine->waits) {
            }
        }
    }
}

static inline void give_back(enum kind kind, struct node *mine)
{
    struct node *me = mine, *next;

    switch (kind) {
    case TEST_AND_SET:
        __atomic_store_n(&flag.value, 0, __ATOMIC_RELEASE);
        return;
    case TICKET:
        __atomic_store_n(&ticket.served, ticket.served + 1, __ATOMIC_RELEASE);
        return;
    default:
        next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE);
        if (!next && __atomic_compare_exchange_n(&queue.last, &me, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            return;
        }
        while (!next) {
            next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE);
        }
        if (kind == QUEUE) {
            __atomic_store_n(&next->waits, 0, __ATOMIC_RELEASE);
        } else {
            *(volatile uint32_t *)&next->waits = 0;
        }
    }
}

void program(uint64_t cpu)
{
    enum kind kind = (enum kind)argument(1);
    uint64_t cpus = argument(2), held = argument(3), outside = argument(4), ns = argument(5), from, count = 0;

    for (uint64_t other = 1; cpu == 0 && other < cpus; other++) {
        start_cpu(other);
    }
    meet(cpus);
    from = now_ns();
    while (now_ns() - from < ns) {
        take(kind, &nodes[cpu]);
        work(held);
        give_back(kind, &nodes[cpu]);
        work(outside);
        count++;
    }
    times[cpu].value = count;
    times[cpu].more = now_ns() - from;
    __atomic_add_fetch(&done.value, 1, __ATOMIC_ACQ_REL);
    if (cpu == 0) {
        while (__atomic_load_n(&done.value, __ATOMIC_ACQUIRE) < cpus) {
        }
        for (uint64_t other = 0; other < cpus; other++) {
            say_number(times[other].value, " ");
            say_number(times[other].more, "\n");
        }
    }
}
