/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs need that are alone on the emulated machine: its CPUs, its time in nanoseconds (the emulator is told
 * that the counter runs at 1 GHz), numbers on the command line, and a console.
 */
#ifndef BARE_H
#define BARE_H

#include <stdint.h>

enum { MOST_CPUS = 128, LINE = 64, CPUS_A_CLUSTER = 16 };

/* Each CPU's own line, so that what one notes does not disturb another */
struct own {
    uint64_t value, more;
} __attribute__((aligned(LINE)));

void start_other(void);
void begin(uint64_t cpu);
void program(uint64_t cpu); /* each CPU's part; CPU 0 starts the others, prints and ends */

static inline uint64_t semihost(uint64_t call, uint64_t argument)
{
    register uint64_t x0 __asm__("x0") = call;
    register uint64_t x1 __asm__("x1") = argument;

    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

static inline void say(const char *text)
{
    semihost(0x04, (uint64_t)text);
}

static inline void say_number(uint64_t number, const char *after)
{
    char digits[24];
    int at = sizeof(digits) - 1;

    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    say(digits + at);
    say(after);
}

static inline void end(void)
{
    static const uint64_t stopped[2] = {0x20026, 0};

    semihost(0x18, (uint64_t)stopped);
    for (;;) {
    }
}

/* The n-th number of the command line, from 1 */
static inline uint64_t argument(int n)
{
    static char line[256];
    uint64_t block[2] = {(uint64_t)line, sizeof(line)};
    const char *at = line;
    uint64_t number = 0;

    semihost(0x15, (uint64_t)block);
    for (; n > 0; n--) {
        while (*at && *at != ' ') {
            at++;
        }
        while (*at == ' ') {
            at++;
        }
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    return number;
}

static inline uint64_t now_ns(void)
{
    uint64_t ns;

    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ns) : : "memory");
    return ns;
}

/* Executes 2 * pairs instructions */
static inline void work(uint64_t pairs)
{
    if (pairs) {
        __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(pairs) : : "cc");
    }
}

/* Has CPU number `cpu` begin with program(cpu): PSCI's CPU_ON */
static inline void start_cpu(uint64_t cpu)
{
    register uint64_t x0 __asm__("x0") = 0xc4000003;
    register uint64_t x1 __asm__("x1") = (cpu / CPUS_A_CLUSTER) << 8 | cpu % CPUS_A_CLUSTER;
    register uint64_t x2 __asm__("x2") = (uint64_t)start_other;
    register uint64_t x3 __asm__("x3") = cpu;

    __asm__ volatile("hvc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3) : "memory");
}

/* All of `cpus` CPUs come here; all go on at the nanosecond that the last one chose */
static inline void meet(uint64_t cpus)
{
    static struct own arrived, go;

    if (__atomic_add_fetch(&arrived.value, 1, __ATOMIC_ACQ_REL) % cpus == 0) {
        __atomic_store_n(&go.value, now_ns() + 100000, __ATOMIC_RELEASE);
        __atomic_add_fetch(&go.more, 1, __ATOMIC_ACQ_REL);
    } else {
        uint64_t before = (__atomic_load_n(&arrived.value, __ATOMIC_RELAXED) - 1) / cpus;

        while (__atomic_load_n(&go.more, __ATOMIC_ACQUIRE) <= before) {
        }
    }
    while (now_ns() < __atomic_load_n(&go.value, __ATOMIC_ACQUIRE)) {
    }
}

#endif
