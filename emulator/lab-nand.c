/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-nand.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/timer.h"
#include "block/lab-medium.h"
#include "block/lab-medium-notes.h"
#include "block/media/fb_chip_bus.h"
#include "block/media/random.h"
#include "hw/pci/pci.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "sysemu/block-backend.h"
#include "lab-nand.h"

#define BAR_BYTES 4096
#define PIECE_BYTES 4096
#define STATUS_FAILED 0x01

#define TYPE_LAB_NAND "lab-nand"
OBJECT_DECLARE_SIMPLE_TYPE(LabNand, LAB_NAND)

struct LabNand {
    PCIDevice parent;
    BlockBackend *blk;
    MemoryRegion registers;
    uint32_t cycle_ps;              /* of the slower one of chip and controller */
    struct fb_medium *chip;
    uint8_t *content, *pages;       /* the chip's own registers */
    struct fb_chip_bus bus;
    uint64_t bus_free_ns;           /* the end of the cycles so far */
    uint64_t memory;
    QEMUTimer wake;
    bool woken;

    uint64_t cut_in, cut_seed;      /* 0: no cut is scheduled */
    bool off;
    uint64_t fail_programs;
    bool program_failed;            /* the last program's status */
};

static uint64_t now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* Schedules cycles now or behind earlier ones; returns their end */
static uint64_t take_bus(LabNand *nand, uint64_t cycles)
{
    nand->bus_free_ns = MAX(nand->bus_free_ns, now()) + DIV_ROUND_UP(cycles * nand->cycle_ps, 1000);
    return nand->bus_free_ns;
}

static void note(LabNand *nand, enum lab_cycle_kind kind, uint32_t value, uint64_t now_ns)
{
    const LabCycle cycle = { .now_ns = now_ns, .ready_ns = nand->bus.ready_ns, .kind = kind, .value = value };

    lab_medium_note_cycle(blk_bs(nand->blk), &cycle);
}

static uint64_t programs(const LabNand *nand)
{
    return fb_medium_counters(nand->chip)->flash_programmed_pages;
}

static uint64_t changes(const LabNand *nand)
{
    return programs(nand) + fb_medium_counters(nand->chip)->flash_erased_blocks;
}

static void cut(LabNand *nand, uint64_t now_ns)
{
    uint64_t busy_ns = nand->bus.ready_ns - now_ns;
    uint64_t after_ns = (nand->cut_seed * FB_SPLITMIX_STEP >> 16) % (busy_ns + 1);

    fb_bus_cut(&nand->bus, now_ns + after_ns, nand->cut_seed);
    nand->off = true;
}

static void cut_now(void *opaque, uint64_t now_ns, uint64_t seed)
{
    LabNand *nand = opaque;

    fb_bus_cut(&nand->bus, now_ns, seed);
    nand->off = true;
}

static void put_command(LabNand *nand, uint8_t command)
{
    uint64_t changes_before = changes(nand), programs_before = programs(nand), now_ns = take_bus(nand, 1);

    fb_bus_command(&nand->bus, command, now_ns);
    note(nand, LAB_CYCLE_COMMAND, command, now_ns);
    if (nand->fail_programs && programs(nand) != programs_before) {
        nand->fail_programs--;
        nand->program_failed = true;
    }
    if (nand->cut_in && changes(nand) != changes_before && --nand->cut_in == 0) {
        cut(nand, now_ns);
    }
}

static void put_address(LabNand *nand, uint8_t address)
{
    uint64_t now_ns = take_bus(nand, 1);

    fb_bus_address(&nand->bus, address, now_ns);
    note(nand, LAB_CYCLE_ADDRESS, address, now_ns);
}

static void put_addresses(LabNand *nand, uint64_t value)
{
    unsigned i, count = MIN(value >> LAB_NAND_ADDRESSES_SHIFT, LAB_NAND_ADDRESSES_MAX);

    for (i = 0; i < count; i++) {
        put_address(nand, value >> (8 * i));
    }
}

static void tell_failure(LabNand *nand, uint8_t *bytes, uint64_t count)
{
    uint64_t i;

    for (i = 0; i < count; i++) {
        bytes[i] |= STATUS_FAILED;
    }
    nand->program_failed = false;
}

static void read_data(LabNand *nand, uint64_t count)
{
    uint8_t piece[PIECE_BYTES];
    uint64_t now_ns, at, length;

    count = MIN(count, LAB_NAND_BYTES_MAX);
    now_ns = take_bus(nand, count);
    for (at = 0; at < count; at += length) {
        length = MIN(count - at, PIECE_BYTES);
        fb_bus_read(&nand->bus, piece, length, now_ns);
        if (nand->program_failed && nand->bus.output == FB_BUS_OF_STATUS) {
            tell_failure(nand, piece, length);
        }
        pci_dma_write(&nand->parent, nand->memory + at, piece, length);
    }
    note(nand, LAB_CYCLE_READ, count, now_ns);
}

static void write_data(LabNand *nand, uint64_t count)
{
    uint8_t piece[PIECE_BYTES];
    uint64_t now_ns, at, length;

    count = MIN(count, LAB_NAND_BYTES_MAX);
    now_ns = take_bus(nand, count);
    for (at = 0; at < count; at += length) {
        length = MIN(count - at, PIECE_BYTES);
        memset(piece, 0xff, length);    /* nobody drives the bus: the driver's address is invalid */
        pci_dma_read(&nand->parent, nand->memory + at, piece, length);
        fb_bus_write(&nand->bus, piece, length);
    }
    note(nand, LAB_CYCLE_WRITE, count, now_ns);
}

static void show_woken(LabNand *nand, bool woken)
{
    nand->woken = woken;
    pci_set_irq(&nand->parent, woken);
}

static void moment_comes(void *opaque)
{
    show_woken(opaque, true);
}

static void wake_at(LabNand *nand, uint64_t what)
{
    switch (what) {
    case LAB_NAND_TRANSFERRED:
        timer_mod_ns(&nand->wake, MAX(nand->bus_free_ns, now()));
        break;
    case LAB_NAND_READY:
        timer_mod_ns(&nand->wake, MAX(nand->bus.ready_ns, now()));
        break;
    default:
        timer_del(&nand->wake);
    }
}

static uint64_t take_woken(LabNand *nand)
{
    bool woken = nand->woken;

    show_woken(nand, false);
    return woken;
}

static void power_on(LabNand *nand)
{
    timer_del(&nand->wake);
    show_woken(nand, false);
    fb_power_on(nand->chip);
    fb_bus_init(&nand->bus, nand->chip, nand->content, nand->pages);
    nand->off = false;
    nand->cut_in = 0;
    nand->fail_programs = 0;
    nand->program_failed = false;
}

static uint64_t power(const LabNand *nand)
{
    return nand->off ? LAB_NAND_OFF : nand->cut_in ? LAB_NAND_CUT_ARMED : LAB_NAND_ON;
}

static bool told(void *opaque, const char *text)
{
    LabNand *nand = opaque;
    uint64_t count, seed;
    const char *words;

    if (strstart(text, "cut ", &words) && lab_two_numbers(words, &count, &seed) && count && !nand->off) {
        nand->cut_in = count;
        nand->cut_seed = seed;
        return true;
    }
    if (strstart(text, "fail ", &words) && !qemu_strtou64(words, NULL, 10, &count)) {
        nand->fail_programs = count;
        return true;
    }
    return false;
}

static uint64_t left_ns(uint64_t end_ns)
{
    uint64_t now_ns = now();

    return end_ns > now_ns ? end_ns - now_ns : 0;
}

static uint64_t lab_nand_read(void *opaque, hwaddr at, unsigned size)
{
    LabNand *nand = opaque;
    const struct fb_params *params = fb_medium_params(nand->chip);

    switch (at) {
    case LAB_NAND_PAGE_BYTES:
        return params->page_bytes;
    case LAB_NAND_SPARE_BYTES:
        return params->spare_bytes;
    case LAB_NAND_PAGES_PER_BLOCK:
        return params->pages_per_block;
    case LAB_NAND_CAPACITY_BYTES:
        return params->capacity_bytes;
    case LAB_NAND_ECC_BITS:
        return params->ecc_bits;
    case LAB_NAND_ECC_CODEWORD_BYTES:
        return params->ecc_codeword_bytes;
    case LAB_NAND_PARTIAL_PROGRAMS:
        return params->partial_programs;
    case LAB_NAND_BUS_BITS:
        return params->bus_bits;
    case LAB_NAND_TRANSFER_NS:
        return left_ns(nand->bus_free_ns);
    case LAB_NAND_READY_NS:
        return left_ns(nand->bus.ready_ns);
    case LAB_NAND_WAKE:
        return take_woken(nand);
    case LAB_NAND_POWER:
        return power(nand);
    }
    return 0;
}

static void put_cycles(LabNand *nand, hwaddr at, uint64_t value)
{
    switch (at) {
    case LAB_NAND_COMMAND:
        put_command(nand, value);
        break;
    case LAB_NAND_ADDRESS:
        put_addresses(nand, value);
        break;
    case LAB_NAND_READ:
        read_data(nand, value);
        break;
    case LAB_NAND_WRITE:
        write_data(nand, value);
        break;
    }
}

static void lab_nand_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    LabNand *nand = opaque;

    switch (at) {
    case LAB_NAND_MEMORY:
        nand->memory = value;
        break;
    case LAB_NAND_WAKE:
        wake_at(nand, value);
        break;
    case LAB_NAND_POWER:
        power_on(nand);
        break;
    default:
        if (!nand->off) {
            put_cycles(nand, at, value);
        }
    }
}

static const MemoryRegionOps register_ops = {
    .read = lab_nand_read,
    .write = lab_nand_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 8, .max_access_size = 8 },
    .impl = { .min_access_size = 8, .max_access_size = 8 },
};

static void lab_nand_realize(PCIDevice *device, Error **errp)
{
    LabNand *nand = LAB_NAND(device);
    BlockDriverState *bs = nand->blk ? blk_bs(nand->blk) : NULL;
    const struct fb_params *params;

    if (!lab_medium_is(bs) || lab_medium_params(bs)->kind != FB_NAND) {
        error_setg(errp, "lab-nand needs drive=, with driver=flashbed and a medium of kind nand");
        return;
    }
    nand->chip = lab_medium_join_chip(bs, &nand->content, told, cut_now, nand);
    params = fb_medium_params(nand->chip);
    nand->cycle_ps = MAX(nand->cycle_ps, params->bus_ps_per_byte);
    nand->pages = g_malloc(fb_bus_register_bytes(params));
    fb_bus_init(&nand->bus, nand->chip, nand->content, nand->pages);
    timer_init_ns(&nand->wake, QEMU_CLOCK_VIRTUAL, moment_comes, nand);
    device->config[PCI_INTERRUPT_PIN] = 1;
    memory_region_init_io(&nand->registers, OBJECT(nand), &register_ops, nand, TYPE_LAB_NAND, BAR_BYTES);
    pci_register_bar(device, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &nand->registers);
}

static Property lab_nand_properties[] = {
    DEFINE_PROP_DRIVE("drive", LabNand, blk),
    DEFINE_PROP_UINT32("cycle_ps", LabNand, cycle_ps, 0),
    DEFINE_PROP_END_OF_LIST(),
};

static void lab_nand_class_init(ObjectClass *class, void *data)
{
    DeviceClass *device = DEVICE_CLASS(class);
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);

    pci->realize = lab_nand_realize;
    pci->vendor_id = LAB_NAND_VENDOR;
    pci->device_id = LAB_NAND_DEVICE;
    pci->class_id = PCI_CLASS_MEMORY_FLASH;
    set_bit(DEVICE_CATEGORY_STORAGE, device->categories);
    device_class_set_props(device, lab_nand_properties);
}

static const TypeInfo lab_nand_type = {
    .name = TYPE_LAB_NAND,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(LabNand),
    .class_init = lab_nand_class_init,
    .interfaces = (InterfaceInfo[]) { { INTERFACE_CONVENTIONAL_PCI_DEVICE }, { } },
};

static void lab_nand_register(void)
{
    type_register_static(&lab_nand_type);
}

type_init(lab_nand_register);
