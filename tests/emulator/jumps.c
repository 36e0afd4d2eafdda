// SPDX-License-Identifier: Apache-2.0
/*
 * jumps KIND: calls one address again and again while what lies there changes, as KIND says: its page is mapped
 * elsewhere, and the TLB told of the address (0) or flushed (1); the code is written anew (2); a breakpoint comes and
 * goes (3), or stays and is masked in between (4). Prints how many calls executed what no longer lay there, and how many
 * were made.
 */
#include "bare.h"

enum { PAGE = 4096, ENTRIES = 512, ROUNDS = 40, CALLS = 5, ARGUMENT = 7 };
enum kind { TOLD, FLUSHED, WRITTEN, STOPPED, MASKED };

#define CALLED 0x80000000ULL /* the third GiB, whose first page is mapped by itself */
#define TABLE 3ULL
#define MAPPED (1ULL << 10 | 3ULL << 8 | 1ULL) /* accessed, shareable, normal memory (attribute 0) */
#define DEVICE (1ULL << 10 | 1ULL << 2 | 1ULL)

typedef uint64_t table[ENTRIES] __attribute__((aligned(PAGE)));

static table first, second, third;
static uint32_t code[2][PAGE / 4] __attribute__((aligned(PAGE)));

/* A breakpoint's instruction is passed over */
__asm__("    .balign 2048\n"
        "vectors:\n"
        "    .skip 0x200\n"
        "    stp x0, x1, [sp, #-16]!\n"
        "    mrs x0, elr_el1\n"
        "    add x0, x0, #4\n"
        "    msr elr_el1, x0\n"
        "    ldp x0, x1, [sp], #16\n"
        "    eret\n");

static void write_code(uint32_t *at, uint32_t answer)
{
    at[0] = 0xd2800000 | answer << 5; /* mov x0, #answer */
    at[1] = 0xd65f03c0;               /* ret */
    __asm__ volatile("dsb ish; ic iallu; dsb ish; isb" : : : "memory");
}

static void map(int which, enum kind kind)
{
    third[0] = (uint64_t)code[which] | MAPPED | 2;
    __asm__ volatile("dsb ishst" : : : "memory");
    if (kind == FLUSHED) {
        __asm__ volatile("tlbi vmalle1" : : : "memory");
    } else {
        __asm__ volatile("tlbi vae1, %0" : : "r"(CALLED >> 12) : "memory");
    }
    __asm__ volatile("dsb ish; isb" : : : "memory");
}

static void begin_mapping(void)
{
    first[0] = DEVICE;
    first[1] = 0x40000000 | MAPPED;
    first[2] = (uint64_t)second | TABLE;
    second[0] = (uint64_t)third | TABLE;
    __asm__ volatile("msr mair_el1, %0; msr tcr_el1, %1; msr ttbr0_el1, %2; isb; tlbi vmalle1; dsb ish"
                     :
                     : "r"(0x00ffULL), "r"(2ULL << 32 | 1ULL << 23 | 25), "r"(first)
                     : "memory");
    __asm__ volatile("mrs x0, sctlr_el1; orr x0, x0, #1; msr sctlr_el1, x0; isb" : : : "x0", "memory");
}

static void begin_breakpoints(void)
{
    __asm__ volatile("adr x0, vectors; msr vbar_el1, x0; msr oslar_el1, xzr; mov x0, #0xa000; msr mdscr_el1, x0;"
                     "msr dbgbvr0_el1, %0; msr daifclr, #8; isb"
                     :
                     : "r"(CALLED)
                     : "x0", "memory");
}

static void set_breakpoint(int is_there)
{
    __asm__ volatile("msr dbgbcr0_el1, %0; isb" : : "r"(is_there ? 0x1e7ULL : 0ULL) : "memory");
}

static void change(int which, enum kind kind)
{
    if (kind == WRITTEN) {
        write_code(code[0], (uint32_t)which);
    } else if (kind == STOPPED) {
        set_breakpoint(which);
    } else if (kind == MASKED && which) {
        __asm__ volatile("msr daifclr, #8; isb" : : : "memory");
    } else if (kind == MASKED) {
        set_breakpoint(1);
        __asm__ volatile("msr daifset, #8; isb" : : : "memory");
    } else {
        map(which, kind);
    }
}

void program(uint64_t cpu)
{
    enum kind kind = (enum kind)argument(1);
    uint64_t (*volatile called)(uint64_t) = (uint64_t(*)(uint64_t))CALLED;
    uint64_t wrong = 0, stopped = kind == STOPPED || kind == MASKED;

    (void)cpu;
    write_code(code[0], 0);
    write_code(code[1], 1);
    begin_mapping();
    map(0, TOLD);
    begin_breakpoints();
    for (int round = 0; round < ROUNDS; round++) {
        int which = round % 2;

        change(which, kind);
        for (int call = 0; call < CALLS; call++) {
            wrong += called(ARGUMENT) != (stopped && which ? ARGUMENT : (uint64_t)which);
        }
    }
    say_number(wrong, " ");
    say_number(ROUNDS * CALLS, "\n");
}
