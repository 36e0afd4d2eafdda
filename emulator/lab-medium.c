/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-medium.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qmp/qdict.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/module.h"
#include "qemu/option.h"
#include "qemu/timer.h"
#include "block/block_int.h"
#include "block/lab-cuts.h"
#include "block/lab-medium.h"
#include "lab-medium-notes.h"
#include "media/fb_medium.h"
#include "media/fb_power.h"
#include "media/fb_undo.h"
#include "sysemu/lab-beginning.h"
#include "sysemu/runstate.h"

typedef struct {
    void *at;
    size_t bytes;
} Mapped;

typedef struct {
    struct fb_medium *medium;
    Mapped state, data;
    LabNotes *notes;
    struct fb_undo *undo;       /* NULL: the power is not going to be cut */
    uint64_t cut_seed, requests_until_cut, cut_after_ns;        /* 0: no cut */
    QEMUTimer cut;
    int64_t armed_ns;           /* when the guest armed a cut after a time */
    LabCuts *cuts;              /* NULL: there is one cut at most */
    LabChipTold *chip_told;     /* these two are NULL if it is no raw chip */
    LabChipCut *chip_cut;
    void *chip;
} LabMedium;

static LabMedium *the_medium;   /* of the machine; NULL: none */

typedef struct {
    BlockAIOCB common;
    QEMUTimer timer;
    int result;
} LabRequest;

static QemuOptsList options = {
    .name = "flashbed",
    .head = QTAILQ_HEAD_INITIALIZER(options.head),
    .desc = {
        { .name = "state", .type = QEMU_OPT_STRING, .help = "file of the media core's state" },
        { .name = "data", .type = QEMU_OPT_STRING, .help = "file of the content" },
        { .name = "notes", .type = QEMU_OPT_STRING, .help = "folder that notes are made in" },
        { .name = "digest", .type = QEMU_OPT_NUMBER, .help = "of the medium's parameters" },
        { .name = "record", .type = QEMU_OPT_NUMBER, .help = "requests that are recorded" },
        { .name = "cut", .type = QEMU_OPT_NUMBER, .help = "seed of a power cut" },
        { /* end of list */ }
    },
};

static bool map(const char *name, const char *path, Mapped *mapped, Error **errp)
{
    struct stat found;
    int fd;

    if (!path) {
        error_setg(errp, "a medium needs %s=FILE", name);
        return false;
    }
    fd = qemu_open(path, O_RDWR, errp);
    if (fd < 0) {
        return false;
    }
    mapped->bytes = fstat(fd, &found) ? 0 : found.st_size;
    mapped->at = mmap(NULL, mapped->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped->at == MAP_FAILED) {
        error_setg_errno(errp, errno, "cannot map %s", path);
        return false;
    }
    return true;
}

static void unmap(Mapped *mapped)
{
    if (mapped->bytes) {
        munmap(mapped->at, mapped->bytes);
    }
}

static bool take_up_state(LabMedium *lab, QemuOpts *opts, Error **errp)
{
    enum fb_error error = fb_open(lab->state.at, lab->state.bytes, &lab->medium);
    uint64_t wanted = qemu_opt_get_number(opts, "digest", 0);
    const struct fb_params *params;

    if (error) {
        error_setg(errp, "the medium's state is refused: %s", fb_error_text(error));
        return false;
    }
    params = fb_medium_params(lab->medium);
    if (wanted && wanted != fb_params_digest(params)) {
        error_setg(errp, "the medium's state is refused: another medium, with parameters of digest %016" PRIx64
                   ", not %016" PRIx64, fb_params_digest(params), wanted);
        return false;
    }
    if (lab->data.bytes < fb_content_bytes(params)) {
        error_setg(errp, "the medium's content has %zu bytes, and needs %" PRIu64, lab->data.bytes,
                   fb_content_bytes(params));
        return false;
    }
    return true;
}

static void await_next_cut(LabMedium *lab)
{
    uint64_t after_ns;

    if (!lab_cuts_next(lab->cuts, &after_ns, &lab->cut_seed) || after_ns > INT64_MAX / 2) {
        lab_beginning_end();
    }
    timer_mod_ns(&lab->cut, lab->armed_ns + after_ns);
}

static void cut(void *opaque)
{
    LabMedium *lab = opaque;
    uint64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    uint64_t bytes = fb_exposed_bytes(fb_medium_params(lab->medium));
    const char *fault = NULL;

    if (lab->cuts && !lab_cuts_fork(lab->cuts)) {
        await_next_cut(lab);
        return;
    }
    if (lab->chip_cut) {
        lab->chip_cut(lab->chip, now_ns, lab->cut_seed);
    } else {
        fault = fb_undo_cut(lab->undo, lab->medium, lab->data.at, bytes, now_ns, lab->cut_seed, lab_notes_fate,
                            lab->notes);
    }
    if (fault || !lab_notes_cut(lab->notes, now_ns)) {
        error_report("the power cut is not carried out: %s", fault ?: "its note cannot be made");
        exit(1);
    }
    qemu_system_shutdown_request(SHUTDOWN_CAUSE_GUEST_SHUTDOWN);
}

static void expect_cut(LabMedium *lab, QemuOpts *opts)
{
    const struct fb_params *params = fb_medium_params(lab->medium);

    timer_init_ns(&lab->cut, QEMU_CLOCK_VIRTUAL, cut, lab);
    if (qemu_opt_get(opts, "cut")) {
        lab->cut_seed = qemu_opt_get_number(opts, "cut", 0);
        lab->undo = fb_undo_init(g_malloc(fb_undo_bytes(params)), params);
    }
}

static bool take_up(LabMedium *lab, QemuOpts *opts, Error **errp)
{
    if (!map("state", qemu_opt_get(opts, "state"), &lab->state, errp) ||
        !map("data", qemu_opt_get(opts, "data"), &lab->data, errp) ||
        !take_up_state(lab, opts, errp)) {
        return false;
    }
    expect_cut(lab, opts);
    lab->notes = lab_notes_open(qemu_opt_get(opts, "notes"), qemu_opt_get_number(opts, "record", 0), lab->medium, errp);
    if (!lab->notes) {
        return false;
    }
    fb_power_on(lab->medium);
    the_medium = lab;
    return true;
}

static void lab_medium_close(BlockDriverState *bs)
{
    LabMedium *lab = bs->opaque;

    the_medium = NULL;
    lab_notes_close(lab->notes);
    unmap(&lab->state);
    unmap(&lab->data);
    g_free(lab->undo);
}

static int lab_medium_open(BlockDriverState *bs, QDict *dict, int flags, Error **errp)
{
    QemuOpts *opts = qemu_opts_create(&options, NULL, 0, &error_abort);
    bool good;

    qemu_opts_absorb_qdict(opts, dict, &error_abort);
    good = take_up(bs->opaque, opts, errp);
    qemu_opts_del(opts);
    if (!good) {
        lab_medium_close(bs);
        return -EINVAL;
    }
    return 0;
}

static int64_t lab_medium_getlength(BlockDriverState *bs)
{
    LabMedium *lab = bs->opaque;

    return fb_exposed_bytes(fb_medium_params(lab->medium));
}

/* As reported by real devices, whatever they are made of */
static int lab_medium_probe_blocksizes(BlockDriverState *bs, BlockSizes *sizes)
{
    LabMedium *lab = bs->opaque;

    sizes->log = sizes->phys = fb_medium_params(lab->medium)->sector_bytes;
    return 0;
}

/* Only requests before the guest starts come here: reads of the first sectors */
static int coroutine_fn lab_medium_co_preadv(BlockDriverState *bs, int64_t offset, int64_t bytes,
                                             QEMUIOVector *content, BdrvRequestFlags flags)
{
    LabMedium *lab = bs->opaque;

    qemu_iovec_from_buf(content, 0, (uint8_t *)lab->data.at + offset, bytes);
    return 0;
}

static BlockDriver lab_medium = {
    .format_name = "flashbed",
    .protocol_name = "flashbed",
    .instance_size = sizeof(LabMedium),
    .bdrv_file_open = lab_medium_open,
    .bdrv_close = lab_medium_close,
    .bdrv_getlength = lab_medium_getlength,
    .bdrv_probe_blocksizes = lab_medium_probe_blocksizes,
    .bdrv_co_preadv = lab_medium_co_preadv,
};

bool lab_medium_is(BlockDriverState *bs)
{
    return bs && bs->drv == &lab_medium;
}

const struct fb_params *lab_medium_params(BlockDriverState *bs)
{
    LabMedium *lab = bs->opaque;

    return fb_medium_params(lab->medium);
}

struct fb_medium *lab_medium_join_chip(BlockDriverState *bs, uint8_t **content, LabChipTold *told,
                                       LabChipCut *cut_chip, void *chip)
{
    LabMedium *lab = bs->opaque;

    lab->chip_told = told;
    lab->chip_cut = cut_chip;
    lab->chip = chip;
    *content = lab->data.at;
    return lab->medium;
}

void lab_medium_note_cycle(BlockDriverState *bs, const struct LabCycle *cycle)
{
    LabMedium *lab = bs->opaque;

    lab_notes_cycle(lab->notes, cycle);
}

LabMediumTraits lab_medium_traits(BlockDriverState *bs)
{
    const struct fb_params *params = lab_medium_params(bs);
    bool flash = params->kind == FB_FLASH;

    return (LabMediumTraits) {
        .rotational = fb_rotational(params),
        .rpm = params->kind == FB_DISK ? params->rpm : 0,
        .volatile_cache = fb_volatile_cache(params),
        .sector_bytes = params->sector_bytes,
        .page_bytes = flash ? params->page_bytes : 0,
        .stripe_bytes = flash ? params->page_bytes * params->dies : 0,
        .discard_bytes = fb_discard_bytes(params),
        .queue_depth = params->queue_depth,
        .queues = params->queues,
    };
}

bool lab_two_numbers(const char *words, uint64_t *first, uint64_t *second)
{
    return !qemu_strtou64(words, &words, 10, first) && *words == ' ' && !qemu_strtou64(words + 1, NULL, 10, second);
}

static bool arm_cut(LabMedium *lab, const char *words)
{
    uint64_t requests, after_ns;

    if (!lab->undo || !lab_two_numbers(words, &requests, &after_ns) || !requests || after_ns > INT64_MAX / 2) {
        return false;
    }
    lab->requests_until_cut = requests;
    lab->cut_after_ns = after_ns;
    return true;
}

static bool arm_off(LabMedium *lab, const char *words, uint64_t now_ns)
{
    uint64_t after_ns, seed;

    if ((!lab->undo && !lab->chip_cut) || !lab_two_numbers(words, &after_ns, &seed) || after_ns > INT64_MAX / 2) {
        return false;
    }
    lab->cut_seed = seed;
    lab->armed_ns = now_ns;
    lab->cuts = lab_cuts_open();
    if (lab->cuts) {
        await_next_cut(lab);
    } else {
        timer_mod_ns(&lab->cut, now_ns + after_ns);
    }
    return true;
}

int64_t lab_medium_told(const char *text, int64_t guest_ns)
{
    int64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    const char *words;

    if (!the_medium) {
        return -1;
    }
    if (the_medium->chip_told && the_medium->chip_told(the_medium->chip, text)) {
        return 0;
    }
    if (strstart(text, "cut ", &words)) {
        return arm_cut(the_medium, words) ? 0 : -1;
    }
    if (strstart(text, "off ", &words)) {
        return arm_off(the_medium, words, now_ns) ? 0 : -1;
    }
    if (!strcmp(text, "rest")) {
        if (the_medium->chip_told) {
            return 0;       /* does nothing by itself */
        }
        lab_notes_rest(the_medium->notes);
        return MAX((int64_t)fb_rest(the_medium->medium, now_ns) - now_ns, 0);
    }
    return lab_notes_told(the_medium->notes, text, now_ns, guest_ns) ? 0 : -1;
}

void lab_medium_power_on(void)
{
    if (the_medium) {
        fb_power_on(the_medium->medium);
    }
}

void lab_medium_end(void)
{
    if (the_medium) {
        lab_notes_close(the_medium->notes);
        the_medium->notes = NULL;
    }
}

static void end(LabRequest *request, int result)
{
    request->common.cb(request->common.opaque, result);
    qemu_aio_unref(request);
}

static void done(void *opaque)
{
    LabRequest *request = opaque;

    end(request, request->result);
}

/* The controller is reset during the request. The core has executed it nevertheless. */
static void cancel(BlockAIOCB *common)
{
    LabRequest *request = container_of(common, LabRequest, common);

    timer_del(&request->timer);
    end(request, -ECANCELED);
}

static const AIOCBInfo request_info = {
    .aiocb_size = sizeof(LabRequest),
    .cancel_async = cancel,
};

static int result_of(enum fb_outcome outcome)
{
    switch (outcome) {
    case FB_DONE:
        return 0;
    case FB_UNCORRECTABLE:
        return -ENODATA;
    case FB_READ_ONLY:
        break;
    }
    return -EROFS;
}

static void move(LabMedium *lab, const struct fb_request *wanted, QEMUIOVector *content)
{
    uint8_t *data = (uint8_t *)lab->data.at + wanted->offset_bytes;

    if (wanted->op == FB_READ) {
        qemu_iovec_from_buf(content, 0, data, wanted->length_bytes);
    } else if (wanted->op == FB_WRITE) {
        qemu_iovec_to_buf(content, 0, data, wanted->length_bytes);
    }
}

static uint64_t ask(LabMedium *lab, const struct fb_request *wanted, uint64_t now_ns)
{
    bool kept = lab->undo && wanted->op == FB_WRITE;
    uint64_t first_part = fb_next_sequence(lab->medium);
    uint64_t done_ns;

    if (kept && wanted->length_bytes > FB_UNDO_MAX_WRITE) {
        return FB_NEVER;
    }
    done_ns = fb_submit(lab->medium, wanted, now_ns);
    if (done_ns == FB_NEVER) {
        return done_ns;
    }
    if (kept) {
        fb_undo_keep(lab->undo, (uint8_t *)lab->data.at + wanted->offset_bytes, wanted->offset_bytes,
                     wanted->length_bytes, first_part, fb_next_sequence(lab->medium));
    }
    if (lab->requests_until_cut && --lab->requests_until_cut == 0) {
        timer_mod_ns(&lab->cut, now_ns + lab->cut_after_ns);
    }
    lab_notes_request(lab->notes, wanted, now_ns, done_ns);
    return done_ns;
}

BlockAIOCB *lab_medium_submit(BlockDriverState *bs, enum lab_medium_op op, int64_t offset, int64_t bytes,
                              QEMUIOVector *content, BdrvRequestFlags flags, BlockCompletionFunc *cb, void *opaque)
{
    static const enum fb_op ops[] = {
        [LAB_MEDIUM_READ] = FB_READ,
        [LAB_MEDIUM_WRITE] = FB_WRITE,
        [LAB_MEDIUM_DISCARD] = FB_DISCARD,
        [LAB_MEDIUM_FLUSH] = FB_FLUSH,
    };
    LabMedium *lab = bs->opaque;
    struct fb_request wanted = {
        .op = ops[op],
        .fua = op == LAB_MEDIUM_WRITE && (flags & BDRV_REQ_FUA),
        .offset_bytes = offset,
        .length_bytes = bytes,
    };
    uint64_t now_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    LabRequest *request = qemu_aio_get(&request_info, bs, cb, opaque);
    uint64_t done_ns;

    timer_init_ns(&request->timer, QEMU_CLOCK_VIRTUAL, done, request);
    if (fb_off(lab->medium)) {
        return &request->common;        /* never completes */
    }
    done_ns = ask(lab, &wanted, now_ns);
    if (done_ns == FB_NEVER) {
        request->result = -EIO;
        done_ns = now_ns;
    } else {
        request->result = result_of(fb_last_outcome(lab->medium));
        if (request->result == 0) {
            move(lab, &wanted, content);
        }
    }
    timer_mod_ns(&request->timer, done_ns);
    return &request->common;
}

static void lab_medium_init(void)
{
    bdrv_register(&lab_medium);
}

block_init(lab_medium_init);
