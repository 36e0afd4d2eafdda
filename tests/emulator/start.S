/* SPDX-License-Identifier: Apache-2.0 */
/* Where each CPU begins: a stack of its own, then begin(its number). The first CPU is 0. */
    .section .text.start, "ax"
    .globl _start
_start:
    mov x0, #0
    .globl start_other
start_other:                    /* PSCI gives the number in x0 */
    adrp x1, stacks
    add x1, x1, :lo12:stacks
    add x2, x0, #1
    add x1, x1, x2, lsl #12
    mov sp, x1
    bl begin
1:  wfi
    b 1b

    .bss
    .balign 4096
stacks:
    .skip 4096 * 128
