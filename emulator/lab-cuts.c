/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-cuts.h */
#include "qemu/osdep.h"
#include <sys/wait.h>
#include "qemu/cutils.h"
#include "block/lab-cuts.h"
#include "block/lab-medium.h"
#include "sysemu/lab-beginning.h"

struct LabCuts {
    int orders, answers;
};

static int opened(const char *name, int flags)
{
    g_autofree char *path = g_build_filename(lab_beginning_folder(), name, NULL);

    return open(path, flags | O_CLOEXEC);
}

LabCuts *lab_cuts_open(void)
{
    LabCuts pipes;

    if (!lab_beginning_is_forked()) {
        return NULL;
    }
    pipes.orders = opened(LAB_CUTS_ORDERS, O_RDONLY);
    if (pipes.orders < 0) {
        return NULL;
    }
    pipes.answers = opened(LAB_CUTS_ANSWERS, O_WRONLY);
    if (pipes.answers < 0) {
        close(pipes.orders);
        return NULL;
    }
    return g_memdup2(&pipes, sizeof(pipes));
}

/* Reads a line without its end. False at the end of the orders. */
static bool read_line(const LabCuts *cuts, char *line, size_t bytes)
{
    size_t length = 0;

    while (length < bytes && TEMP_FAILURE_RETRY(read(cuts->orders, line + length, 1)) == 1) {
        if (line[length] == '\n') {
            line[length] = 0;
            return true;
        }
        length++;
    }
    return false;
}

static void answer(const LabCuts *cuts, const char *line)
{
    if (qemu_write_full(cuts->answers, line, strlen(line)) != strlen(line)) {
        lab_beginning_end();
    }
}

bool lab_cuts_next(LabCuts *cuts, uint64_t *after_ns, uint64_t *seed)
{
    char line[64];

    return read_line(cuts, line, sizeof(line)) && lab_two_numbers(line, after_ns, seed);
}

bool lab_cuts_fork(LabCuts *cuts)
{
    g_autofree char *status_line = NULL;
    char folder[PATH_MAX];
    pid_t self = getpid(), pid;
    int status = -SIGKILL;

    answer(cuts, "reached\n");
    if (!read_line(cuts, folder, sizeof(folder))) {
        lab_beginning_end();
    }
    pid = fork();
    if (pid == 0) {
        close(cuts->orders);
        close(cuts->answers);
        lab_beginning_move(folder, self);
        return true;
    }
    if (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) == pid) {
        status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    status_line = g_strdup_printf("%d\n", status);
    answer(cuts, status_line);
    return false;
}
