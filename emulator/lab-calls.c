/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of the guest's system calls: see lab-calls.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/notify.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "internals.h"
#include "exec/cpu-all.h"
#include "sysemu/lab-calls.h"
#include "sysemu/sysemu.h"

#define TABLE_MASK  0x0000fffffffffffeull   /* of TTBR0: the table's address; the rest is the ASID and CnP */

/* Numbers of arm64 Linux (include/uapi/asm-generic/unistd.h) */
enum {
    NR_SETXATTR = 5, NR_GETCWD = 17, NR_INOTIFY_ADD_WATCH = 27, NR_MKNODAT = 33, NR_MKDIRAT = 34, NR_UNLINKAT = 35,
    NR_SYMLINKAT = 36, NR_LINKAT = 37, NR_RENAMEAT = 38, NR_UMOUNT2 = 39, NR_MOUNT = 40, NR_STATFS = 43,
    NR_TRUNCATE = 45, NR_FACCESSAT = 48, NR_CHDIR = 49, NR_CHROOT = 51, NR_FCHMODAT = 53, NR_FCHOWNAT = 54,
    NR_OPENAT = 56, NR_PIPE2 = 59, NR_WRITE = 64, NR_WRITEV = 66, NR_READLINKAT = 78, NR_NEWFSTATAT = 79,
    NR_UTIMENSAT = 88, NR_EXIT = 93, NR_EXIT_GROUP = 94, NR_RESTART_SYSCALL = 128, NR_RT_SIGRETURN = 139,
    NR_SOCKETPAIR = 199, NR_CLONE = 220, NR_EXECVE = 221, NR_RENAMEAT2 = 276, NR_MEMFD_CREATE = 279,
    NR_EXECVEAT = 281, NR_STATX = 291, NR_CLONE3 = 435, NR_OPENAT2 = 437, NR_FACCESSAT2 = 439,
};

enum {
    NO_ARGUMENT = -1,
    INSTRUCTION_BYTES = 4,
    PAIR_BYTES = 2 * sizeof(int32_t),
    TID_BYTES = sizeof(int32_t),
    CLONE_ARGS_BYTES = 88,      /* struct clone_args of Linux 5.7 */
    OPEN_HOW_BYTES = 24,        /* struct open_how */
    MOST_PIECES = 16,           /* of a short writev */
};

typedef struct {
    struct lab_call call;   /* that the task is in, or last was in */
    bool is_in;
    bool restarts;      /* the kernel has sent the program back to the call's own instruction */
    bool has_text;
    char *text;
    uint64_t left_pc, left_space;   /* where the program last left to the kernel */
} Task;

static struct {
    FILE *file;         /* NULL: nothing is noted */
    GHashTable *tasks;  /* by kernel stack */
} lab;

static void finish(Notifier *notifier, void *data);

static Notifier at_exit = { .notify = finish };

static void free_task(void *data)
{
    Task *task = data;

    g_free(task->text);
    g_free(task);
}

void lab_calls_configure(QemuOpts *opts, Error **errp)
{
    const char *name = qemu_opt_get(opts, "calls");

    if (!name) {
        return;
    }
    lab.file = fopen(name, "w");
    if (!lab.file) {
        error_setg_file_open(errp, errno, name);
        return;
    }
    lab.tasks = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_task);
    qemu_add_exit_notifier(&at_exit);
}

/* The arguments of a call that are paths, at most two. */
static int paths_of(int number, int arguments[2])
{
    arguments[1] = NO_ARGUMENT;
    switch (number) {
    case NR_SETXATTR: case NR_STATFS: case NR_TRUNCATE: case NR_CHDIR: case NR_CHROOT: case NR_EXECVE:
    case NR_UMOUNT2: case NR_MEMFD_CREATE:
        arguments[0] = 0;
        return 1;
    case NR_INOTIFY_ADD_WATCH: case NR_MKNODAT: case NR_MKDIRAT: case NR_UNLINKAT: case NR_FACCESSAT: case NR_FCHMODAT:
    case NR_FCHOWNAT: case NR_OPENAT: case NR_READLINKAT: case NR_NEWFSTATAT: case NR_UTIMENSAT:
    case NR_EXECVEAT: case NR_STATX: case NR_OPENAT2: case NR_FACCESSAT2:
        arguments[0] = 1;
        return 1;
    case NR_MOUNT:
        arguments[0] = 0;
        arguments[1] = 1;
        return 2;
    case NR_SYMLINKAT:
        arguments[0] = 0;
        arguments[1] = 2;
        return 2;
    case NR_LINKAT: case NR_RENAMEAT: case NR_RENAMEAT2:
        arguments[0] = 1;
        arguments[1] = 3;
        return 2;
    default:
        return 0;
    }
}

static bool peek(CPUState *cpu, uint64_t address, void *to, size_t bytes)
{
    return cpu_memory_rw_debug(cpu, address, to, bytes, false) == 0;
}

/* Appends a NUL-terminated path, read page by page: the page behind its end may be absent. */
static bool add_path(CPUState *cpu, uint64_t address, GByteArray *text)
{
    char chunk[64];

    for (unsigned length = 0; length < LAB_CALL_PATH; ) {
        size_t bytes = sizeof(chunk) - address % sizeof(chunk);
        size_t end;

        if (!peek(cpu, address, chunk, bytes)) {
            return false;
        }
        end = strnlen(chunk, bytes);
        if (end < bytes) {
            g_byte_array_append(text, (uint8_t *)chunk, end + 1);
            return true;
        }
        g_byte_array_append(text, (uint8_t *)chunk, bytes);
        length += bytes;
        address += bytes;
    }
    return false;
}

static bool add_bytes(CPUState *cpu, uint64_t address, size_t bytes, GByteArray *text)
{
    uint8_t data[LAB_CALL_DATA];

    if (!peek(cpu, address, data, bytes)) {
        return false;
    }
    g_byte_array_append(text, data, bytes);
    return true;
}

static bool add_first_word(CPUState *cpu, uint64_t words, GByteArray *text)
{
    uint64_t word;

    return peek(cpu, words, &word, sizeof(word)) && add_path(cpu, word, text);
}

/* The data of a writev, if they are short. */
static bool add_pieces(CPUState *cpu, uint64_t pieces, uint64_t count, GByteArray *text)
{
    struct { uint64_t base, bytes; } piece[MOST_PIECES];
    uint64_t bytes = 0;

    if (count > MOST_PIECES) {
        return true;
    }
    if (!peek(cpu, pieces, piece, count * sizeof(piece[0]))) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (piece[i].bytes > LAB_CALL_DATA - bytes) {
            return true;
        }
        bytes += piece[i].bytes;
    }
    for (int i = 0; i < count; i++) {
        if (!add_bytes(cpu, piece[i].base, piece[i].bytes, text)) {
            return false;
        }
    }
    return true;
}

/* What the call's arguments point to. False: it cannot be read now. */
static bool add_text(CPUState *cpu, const struct lab_call *call, bool at_end, GByteArray *text)
{
    int arguments[2];
    int paths = paths_of(call->number, arguments);

    for (int i = 0; i < paths; i++) {
        if (!add_path(cpu, call->arguments[arguments[i]], text)) {
            return false;
        }
    }
    switch (call->number) {
    case NR_WRITE:
        return call->arguments[2] > LAB_CALL_DATA || add_bytes(cpu, call->arguments[1], call->arguments[2], text);
    case NR_WRITEV:
        return add_pieces(cpu, call->arguments[1], call->arguments[2], text);
    case NR_EXECVE:
        return add_first_word(cpu, call->arguments[1], text);
    case NR_EXECVEAT:
        return add_first_word(cpu, call->arguments[2], text);
    case NR_OPENAT2:
        return add_bytes(cpu, call->arguments[2], OPEN_HOW_BYTES, text);
    case NR_CLONE3:
        return add_bytes(cpu, call->arguments[0], MIN(call->arguments[1], CLONE_ARGS_BYTES), text);
    case NR_PIPE2:
        return at_end && add_bytes(cpu, call->arguments[0], PAIR_BYTES, text);
    case NR_SOCKETPAIR:
        return at_end && add_bytes(cpu, call->arguments[3], PAIR_BYTES, text);
    default:
        return true;
    }
}

static void set_text(Task *task, const GByteArray *text)
{
    task->has_text = true;
    task->call.text_bytes = text->len;
    g_free(task->text);
    task->text = g_memdup2(text->data, text->len);
}

static void read_text(CPUState *cpu, Task *task, bool at_end)
{
    g_autoptr(GByteArray) text = g_byte_array_new();

    if (task->has_text || !add_text(cpu, &task->call, at_end, text)) {
        return;
    }
    set_text(task, text);
}

/* The first argument of a program that has just begun. The path was in the memory of the program before it. */
static void read_new_name(CPUState *cpu, Task *task)
{
    CPUARMState *env = cpu->env_ptr;
    g_autoptr(GByteArray) text = g_byte_array_new();

    g_byte_array_append(text, (const uint8_t *)"", 1);
    if (add_first_word(cpu, env->xregs[31] + sizeof(uint64_t), text)) {
        set_text(task, text);
    }
}

static void note(Task *task, CPUState *cpu, uint16_t flags)
{
    struct lab_call *call = &task->call;

    call->end_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    call->flags |= flags;
    call->cpu = cpu ? cpu->cpu_index : 0;
    if (fwrite(call, sizeof(*call), 1, lab.file) != 1 ||
        fwrite(task->text ?: "", 1, call->text_bytes, lab.file) != call->text_bytes) {
        error_report("the notes of system calls cannot be written: %s", strerror(errno));
        exit(1);
    }
    task->is_in = false;
    task->restarts = false;
}

static uint64_t space_of(const CPUARMState *env)
{
    return env->cp15.ttbr0_el[1] & TABLE_MASK;
}

static Task *task_of(CPUARMState *env)
{
    uint64_t stack = env->sp_el[1];
    Task *task = g_hash_table_lookup(lab.tasks, &stack);

    if (!task) {
        uint64_t *key = g_new(uint64_t, 1);

        *key = stack;
        task = g_new0(Task, 1);
        task->call = (struct lab_call) { .task = stack, .number = LAB_CALL_BORN };
        g_hash_table_insert(lab.tasks, key, task);
    }
    return task;
}

static void begin(Task *task, CPUARMState *env, uint16_t number, uint64_t pc)
{
    if (task->restarts) {
        task->restarts = false;
        if (task->call.pc == pc && (task->call.number == number || number == NR_RESTART_SYSCALL)) {    /* it goes on */
            task->is_in = true;
            return;
        }
        note(task, env_cpu(env), LAB_CALL_ELSEWHERE);
    }
    task->is_in = true;
    task->call = (struct lab_call) {
        .begin_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
        .task = env->sp_el[1],
        .space = space_of(env),
        .pc = pc,
        .number = number,
    };
    memcpy(task->call.arguments, env->xregs, sizeof(task->call.arguments));
    task->has_text = number >= LAB_CALL_FAULT;
}

void lab_calls_entered(CPUState *cpu)
{
    CPUARMState *env = cpu->env_ptr;
    Task *task;

    if (!lab.file || arm_current_el(env) != 0 || !is_a64(env)) {
        return;
    }
    task = task_of(env);
    task->left_pc = env->pc;
    task->left_space = space_of(env);
    switch (cpu->exception_index) {
    case EXCP_SWI:
        begin(task, env, MIN((uint32_t)env->xregs[8], LAB_CALL_NONE), env->pc);
        read_text(cpu, task, false);
        if (task->call.number == NR_EXIT || task->call.number == NR_EXIT_GROUP) {
            note(task, cpu, LAB_CALL_OPEN);
            g_hash_table_remove(lab.tasks, &env->sp_el[1]);
        }
        break;
    case EXCP_DATA_ABORT:
    case EXCP_PREFETCH_ABORT:
        begin(task, env, LAB_CALL_FAULT, env->pc);
        task->call.arguments[0] = env->exception.vaddress;
        task->call.arguments[1] = env->exception.syndrome;
        break;
    default:
        break;
    }
}

/* Calls that end at another place than behind themselves. */
static bool goes_elsewhere(int number)
{
    return number == NR_EXECVE || number == NR_EXECVEAT || number == NR_RT_SIGRETURN;
}

/* Whether the task that returns is another than the one that was last seen on its stack, which was killed. */
static bool is_another(const Task *task, const CPUARMState *env)
{
    bool is_child = env->xregs[0] == 0 && (env->xregs[8] == NR_CLONE || env->xregs[8] == NR_CLONE3);

    return env->pc != task->left_pc && (is_child || space_of(env) != task->left_space);
}

/* Notes a task's first return. A child has its parent's registers, apart from X0. */
static void born(Task *task, CPUState *cpu)
{
    CPUARMState *env = cpu->env_ptr;
    g_autoptr(GByteArray) tid = g_byte_array_new();

    if (task->is_in || task->restarts) {
        note(task, cpu, LAB_CALL_OPEN);
    }
    begin(task, env, LAB_CALL_BORN, env->pc);
    task->call.arguments[0] = env->xregs[31];
    task->call.arguments[1] = env->cp15.tpidr_el[0];
    if (env->xregs[8] == NR_CLONE && add_bytes(cpu, env->xregs[4], TID_BYTES, tid)) {
        set_text(task, tid);
    }
    task->call.result = env->xregs[0];
    note(task, cpu, 0);
}

void lab_calls_returned(CPUState *cpu)
{
    CPUARMState *env = cpu->env_ptr;
    Task *task;
    bool is_new, returns;

    if (!lab.file || !is_a64(env)) {
        return;
    }
    is_new = !g_hash_table_contains(lab.tasks, &env->sp_el[1]);
    task = task_of(env);
    returns = task->is_in && (env->pc == task->call.pc || goes_elsewhere(task->call.number));
    if (is_new || (!returns && is_another(task, env))) {
        born(task, cpu);
        return;
    }
    if (!task->is_in) {     /* an interrupt */
        return;
    }
    if (task->call.number < LAB_CALL_FAULT && env->pc == task->call.pc - INSTRUCTION_BYTES) {
        task->is_in = false;
        task->restarts = true;
        return;
    }
    if (!goes_elsewhere(task->call.number)) {
        read_text(cpu, task, true);
    } else if (!task->has_text && env->pc != task->call.pc && task->call.number != NR_RT_SIGRETURN) {
        read_new_name(cpu, task);
    }
    task->call.result = env->xregs[0];
    note(task, cpu, returns ? 0 : LAB_CALL_ELSEWHERE);
}

static int by_begin(gconstpointer a, gconstpointer b)
{
    const Task *first = a, *second = b;

    if (first->call.begin_ns != second->call.begin_ns) {
        return first->call.begin_ns < second->call.begin_ns ? -1 : 1;
    }
    return first->call.task < second->call.task ? -1 : first->call.task > second->call.task;
}

static void finish(Notifier *notifier, void *data)
{
    GList *tasks = g_list_sort(g_hash_table_get_values(lab.tasks), by_begin);

    for (GList *one = tasks; one; one = one->next) {
        Task *task = one->data;

        if (task->is_in || task->restarts) {
            note(task, NULL, LAB_CALL_OPEN);
        }
    }
    g_list_free(tasks);
    fclose(lab.file);
}
