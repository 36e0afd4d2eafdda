/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-medium-notes.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "lab-medium-notes.h"

#define FIRST_GAP_NS 1000000

struct LabNotes {
    struct fb_medium *medium;
    int folder;         /* open, so that a forked machine can replace it (lab-beginning.h) */
    unsigned files;

    bool chip;
    union {
        LabRecord *records;
        LabCycle *cycles;   /* of a chip */
    };
    uint64_t records_count, records_max;

    LabMoment moments[LAB_MOMENTS];
    unsigned moments_count;
    uint64_t gap_ns, next_ns;

    GString *fates;             /* NULL: no cut so far */
};

LabNotes *lab_notes_open(const char *folder, uint64_t records, struct fb_medium *medium, Error **errp)
{
    LabNotes *notes;
    int opened;

    if (!folder) {
        error_setg(errp, "a medium needs notes=FOLDER");
        return NULL;
    }
    opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
        error_setg_errno(errp, errno, "cannot open the folder %s", folder);
        return NULL;
    }
    notes = g_new0(LabNotes, 1);
    notes->medium = medium;
    notes->folder = opened;
    notes->chip = fb_medium_params(medium)->kind == FB_NAND;
    if (notes->chip) {
        notes->cycles = g_new(LabCycle, records);
    } else {
        notes->records = g_new(LabRecord, records);
    }
    notes->records_max = records;
    lab_notes_rest(notes);
    return notes;
}

void lab_notes_rest(LabNotes *notes)
{
    notes->gap_ns = FIRST_GAP_NS;
    notes->next_ns = 0;
    notes->moments_count = 0;
}

static void thin_out_moments(LabNotes *notes)
{
    unsigned i;

    for (i = 0; i < LAB_MOMENTS / 2; i++) {
        notes->moments[i] = notes->moments[2 * i + 1];
    }
    notes->moments_count = LAB_MOMENTS / 2;
    notes->gap_ns *= 2;
}

static void note_programmed(LabNotes *notes, uint64_t now_ns)
{
    if (now_ns < notes->next_ns) {
        return;
    }
    if (notes->moments_count == LAB_MOMENTS) {
        thin_out_moments(notes);
    }
    notes->moments[notes->moments_count++] = (LabMoment) {
        .now_ns = now_ns,
        .pages = fb_medium_counters(notes->medium)->flash_programmed_pages,
    };
    notes->next_ns = now_ns + notes->gap_ns;
}

void lab_notes_request(LabNotes *notes, const struct fb_request *wanted, uint64_t now_ns, uint64_t done_ns)
{
    if (!notes) {
        return;
    }
    if (fb_medium_params(notes->medium)->kind == FB_FLASH) {
        note_programmed(notes, now_ns);
    }
    if (notes->records_count < notes->records_max) {
        notes->records[notes->records_count++] = (LabRecord) {
            .now_ns = now_ns,
            .done_ns = done_ns,
            .offset_bytes = wanted->offset_bytes,
            .length_bytes = wanted->length_bytes,
            .op = wanted->op,
            .fua = wanted->fua,
        };
    }
}

void lab_notes_cycle(LabNotes *notes, const LabCycle *cycle)
{
    if (notes && notes->records_count < notes->records_max) {
        notes->cycles[notes->records_count++] = *cycle;
    }
}

static bool write_file(LabNotes *notes, const char *kind, const char *name, const void *content, size_t bytes)
{
    g_autofree char *path = g_strdup_printf("%s.%s", kind, name);
    FILE *file;
    bool good;
    int fd;

    if (++notes->files > LAB_FILES_MAX) {
        return false;
    }
    fd = openat(notes->folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file) {
        return false;
    }
    good = fwrite(content, 1, bytes, file) == bytes;
    return fclose(file) == 0 && good;
}

static bool write_text(LabNotes *notes, const char *kind, const char *name, const GString *text)
{
    return write_file(notes, kind, name, text->str, text->len);
}

void lab_notes_fate(void *opaque, const struct fb_fated *fated)
{
    static const char *const words[] = { [FB_KEPT] = "kept", [FB_LOST] = "lost", [FB_UNREADABLE] = "unreadable" };
    LabNotes *notes = opaque;

    if (!notes->fates) {
        notes->fates = g_string_new(NULL);
    }
    g_string_append_printf(notes->fates, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %s%s%s\n", (uint64_t)fated->sequence,
                           (uint64_t)fated->offset_bytes, (uint64_t)fated->length_bytes, words[fated->fate],
                           fated->torn ? " torn" : "", fated->neighbour ? " neighbour" : "");
}

bool lab_notes_cut(LabNotes *notes, uint64_t now_ns)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_append_printf(text, "cut_ns:%" PRIu64 "\nunreadable_sectors:%" PRIu64 "\nhalf_erased_blocks:%" PRIu64 "\n%s",
                           now_ns, (uint64_t)fb_unreadable_sectors(notes->medium),
                           (uint64_t)fb_half_erased_blocks(notes->medium), notes->fates ? notes->fates->str : "");
    return write_text(notes, "fates", "cut", text);
}

static bool note_counters(LabNotes *notes, const char *name)
{
    const struct fb_counters *counters = fb_medium_counters(notes->medium);
    uint32_t kind = 1u << fb_medium_params(notes->medium)->kind;
    g_autoptr(GString) text = g_string_new(NULL);
    int i;

    for (i = 0; i < FB_COUNTER_COUNT; i++) {
        const struct fb_counter_rule *rule = fb_counter_rule(i);

        if (rule->kinds & kind) {
            g_string_append_printf(text, "%s:%" PRIu64 "\n", rule->name, (uint64_t)counters->by_index[i]);
        }
    }
    return write_text(notes, "counters", name, text);
}

static bool note_wear(LabNotes *notes, const char *name)
{
    struct fb_wear wear;
    g_autoptr(GString) text = g_string_new(NULL);

    if (!fb_blocks(notes->medium)) {
        return true;
    }
    wear = fb_medium_wear(notes->medium);
#define NUMBER(field) g_string_append_printf(text, #field ":%" PRIu64 "\n", (uint64_t)wear.field)
    NUMBER(blocks);
    NUMBER(erase_count_min);
    NUMBER(erase_count_max);
    NUMBER(erase_count_sum);
    NUMBER(factory_bad_blocks);
    NUMBER(grown_bad_blocks);
#undef NUMBER
    return write_text(notes, "wear", name, text);
}

static bool note_mark(LabNotes *notes, const char *name, int64_t now_ns, int64_t guest_ns)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_printf(text, "%" PRId64 " %" PRId64 "\n", now_ns, guest_ns);
    return note_counters(notes, name) && note_wear(notes, name) && write_text(notes, "clock", name, text);
}

static bool note_erases(LabNotes *notes, const char *name)
{
    uint64_t blocks = fb_blocks(notes->medium), i;
    g_autofree uint32_t *erases = g_new(uint32_t, blocks);

    for (i = 0; i < blocks; i++) {
        erases[i] = fb_block_erases(notes->medium, i);
    }
    return blocks == 0 || write_file(notes, "erases", name, erases, blocks * sizeof(*erases));
}

static bool note_moments(LabNotes *notes)
{
    return fb_medium_params(notes->medium)->kind != FB_FLASH ||
           write_file(notes, "programmed", "bin", notes->moments, notes->moments_count * sizeof(*notes->moments));
}

static bool is_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

    return length > 0 && length <= LAB_NAME_MAX && !name[length] && name[0] != '.';
}

bool lab_notes_told(LabNotes *notes, const char *text, int64_t now_ns, int64_t guest_ns)
{
    const char *name;

    if (!notes) {
        return false;
    }
    if (!strcmp(text, "forget")) {
        notes->records_count = 0;
        return true;
    }
    if (!strcmp(text, "programmed")) {
        return note_moments(notes);
    }
    if (strstart(text, "mark ", &name)) {
        return is_name(name) && note_mark(notes, name, now_ns, guest_ns);
    }
    if (strstart(text, "erases ", &name)) {
        return is_name(name) && note_erases(notes, name);
    }
    return false;
}

void lab_notes_close(LabNotes *notes)
{
    if (notes) {
        if (notes->records_max && notes->chip) {
            write_file(notes, "cycles", "bin", notes->cycles, notes->records_count * sizeof(*notes->cycles));
        } else if (notes->records_max) {
            write_file(notes, "requests", "bin", notes->records, notes->records_count * sizeof(*notes->records));
        }
        if (notes->fates) {
            g_string_free(notes->fates, true);
        }
        g_free(notes->records);
        close(notes->folder);
        g_free(notes);
    }
}
