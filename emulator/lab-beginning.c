/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-beginning.h */
#include "qemu/osdep.h"
#include <glib-unix.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "block/lab-medium.h"
#include "sysemu/lab-beginning.h"

#define MOST_OF_A_LINE (PATH_MAX + 16)

typedef struct {
    char *folder;
    pid_t pid;
} Machine;

static struct {
    int orders;         /* 0: no orders are expected */
    char *folder;       /* the directory of this machine's own files */
    bool forked;        /* this machine was forked from a shared boot */
    GSList *machines;   /* forked and still running */
    int ended[2];       /* a pipe: gets a byte when a machine has ended */
} lab;

void lab_beginning_configure(QemuOpts *opts, Error **errp)
{
    const char *load = qemu_opt_get(opts, "load");

    lab.orders = qemu_opt_get_number(opts, "orders", 0);
    if (lab.orders && !load) {
        error_setg(errp, "icount: orders need a load");
        return;
    }
    lab.folder = load ? g_path_get_dirname(load) : NULL;
}

static void G_NORETURN give_up(const char *what)
{
    error_report("cannot go on from the beginning: %s%s%s", what, errno ? ": " : "", errno ? strerror(errno) : "");
    kill(getpid(), SIGKILL);
    abort();
}

/* The path that replaces `path` if that is in the machine's directory; else NULL. The caller frees it. */
static char *moved(const char *path, const char *to)
{
    const char *name;

    return strstart(path, lab.folder, &name) && *name == '/' ? g_strconcat(to, name, NULL) : NULL;
}

static void move_mapping(const char *line, const char *to)
{
    unsigned long begin, end, offset;
    g_autofree char *path = NULL;
    char access[5];
    int at = 0, fd;

    if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &begin, &end, access, &offset, &at) < 4 || access[3] != 's') {
        return;
    }
    path = moved(line + at, to);
    if (!path) {
        return;
    }
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || mmap((void *)begin, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) ==
                  MAP_FAILED) {
        give_up(path);
    }
    close(fd);
}

static void move_mappings(const char *to)
{
    g_autofree char *maps = NULL;
    g_auto(GStrv) lines = NULL;

    if (!g_file_get_contents("/proc/self/maps", &maps, NULL, NULL)) {
        give_up("/proc/self/maps");
    }
    lines = g_strsplit(maps, "\n", -1);
    for (char **line = lines; *line; line++) {
        move_mapping(*line, to);
    }
}

static void move_file(const char *number, const char *to)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%s", number);
    g_autofree char *old = g_file_read_link(link, NULL);
    g_autofree char *path = old ? moved(old, to) : NULL;
    int fd = atoi(number), flags, opened;

    if (!path) {
        return;
    }
    flags = fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_DIRECTORY);
    opened = open(path, flags);
    if (opened < 0 || lseek(opened, lseek(fd, 0, SEEK_CUR), SEEK_SET) < 0 ||
        dup3(opened, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0) {
        give_up(path);
    }
    close(opened);
}

static void move_files(const char *to)
{
    GDir *folder = g_dir_open("/proc/self/fd", 0, NULL);
    const char *number;

    if (!folder) {
        give_up("/proc/self/fd");
    }
    while ((number = g_dir_read_name(folder))) {
        move_file(number, to);
    }
    g_dir_close(folder);
}

void lab_beginning_move(const char *folder, pid_t parent)
{
    sigset_t none;

    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);  /* the thread was created with all signals blocked */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent) {
        errno = 0;
        give_up("who ordered it is gone");
    }
    move_mappings(folder);
    move_files(folder);
    lab.folder = g_strdup(folder);
}

static void become_forked(const char *folder, pid_t parent)
{
    lab.forked = true;
    close(lab.orders);
    close(lab.ended[0]);
    close(lab.ended[1]);
    lab_beginning_move(folder, parent);
}

bool lab_beginning_is_forked(void)
{
    return lab.forked;
}

const char *lab_beginning_folder(void)
{
    return lab.folder;
}

static void answer(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void answer(const char *format, ...)
{
    g_autofree char *line = NULL;
    va_list words;

    va_start(words, format);
    line = g_strdup_vprintf(format, words);
    va_end(words);
    if (qemu_write_full(lab.orders, line, strlen(line)) != strlen(line)) {
        _exit(1);
    }
}

/* Forks a machine. Returns twice, as fork() does. */
static void begin(const char *folder, bool other_medium)
{
    pid_t self = getpid(), pid = fork();
    Machine *machine;

    if (pid == 0) {
        become_forked(folder, self);
        if (other_medium) {
            lab_medium_power_on();
        }
        return;
    }
    if (pid < 0) {
        answer("%s %d\n", folder, -SIGKILL);
        return;
    }
    machine = g_new(Machine, 1);
    *machine = (Machine) { .folder = g_strdup(folder), .pid = pid };
    lab.machines = g_slist_prepend(lab.machines, machine);
}

static void kill_machine(const char *folder)
{
    for (GSList *one = lab.machines; one; one = one->next) {
        Machine *machine = one->data;

        if (!strcmp(machine->folder, folder)) {
            kill(machine->pid, SIGKILL);
        }
    }
}

static void tell_ended(void)
{
    char bytes[64];
    GSList *next;

    while (read(lab.ended[0], bytes, sizeof(bytes)) == sizeof(bytes)) {
        /* each machine is checked below */
    }
    for (GSList *one = lab.machines; one; one = next) {
        Machine *machine = one->data;
        int status;

        next = one->next;
        if (waitpid(machine->pid, &status, WNOHANG) == machine->pid) {
            answer("%s %d\n", machine->folder, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
            lab.machines = g_slist_delete_link(lab.machines, one);
            g_free(machine->folder);
            g_free(machine);
        }
    }
}

static void carry_out(const char *order)
{
    const char *folder;

    if (strstart(order, "begin ", &folder)) {
        begin(folder, false);
    } else if (strstart(order, "boot ", &folder)) {
        begin(folder, true);
    } else if (strstart(order, "end ", &folder)) {
        kill_machine(folder);
    }
}

/* Executes and removes the complete orders. */
static void take_orders(void)
{
    static char text[MOST_OF_A_LINE];
    static size_t length;
    ssize_t count = read(lab.orders, text + length, sizeof(text) - length);
    char *end;

    if (count <= 0) {
        _exit(0);
    }
    length += count;
    while (!lab.forked && (end = memchr(text, '\n', length))) {
        *end = 0;
        carry_out(text);
        length -= end + 1 - text;
        memmove(text, end + 1, length);
    }
}

static void note_ended(int signal)
{
    int before = errno;

    if (write(lab.ended[1], "", 1) < 0) {
        /* the pipe is full, which is enough for its reader */
    }
    errno = before;
}

void lab_beginning_over(void)
{
    enum { ENDED, ORDERS };
    struct pollfd from[] = { [ENDED] = { .events = POLLIN }, [ORDERS] = { .events = POLLIN } };

    if (!lab.orders || lab.forked) {
        return;
    }
    /*
     * No other thread may hold a lock or work from now on, nor may the main loop: the forked machine would have to end
     * it
     */
    qemu_mutex_lock_iothread();
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (!g_unix_open_pipe(lab.ended, FD_CLOEXEC, NULL) || !g_unix_set_fd_nonblocking(lab.ended[0], true, NULL) ||
        !g_unix_set_fd_nonblocking(lab.ended[1], true, NULL)) {
        give_up("pipe");
    }
    signal(SIGCHLD, note_ended);
    from[ENDED].fd = lab.ended[0];
    from[ORDERS].fd = lab.orders;
    answer("ready\n");
    while (!lab.forked) {
        if (poll(from, ARRAY_SIZE(from), -1) < 0) {
            continue;
        }
        if (from[ENDED].revents) {
            tell_ended();
        }
        if (from[ORDERS].revents) {
            take_orders();
        }
    }
    qemu_mutex_unlock_iothread();
}

void lab_beginning_end(void)
{
    if (lab.forked) {
        lab_medium_end();
        exit(0);
    }
}
