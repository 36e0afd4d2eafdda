/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-disk.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "block/lab-medium.h"
#include "hw/pci/pci.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"
#include "sysemu/block-backend.h"
#include "sysemu/dma.h"
#include "lab-disk.h"

#define BAR_BYTES 4096
#define HEAD_BYTES offsetof(struct lab_disk_command, segment)

#define TYPE_LAB_DISK "lab-disk"
OBJECT_DECLARE_SIMPLE_TYPE(LabDisk, LAB_DISK)

struct LabDisk {
    PCIDevice parent;
    BlockBackend *blk;
    MemoryRegion registers;
    LabMediumTraits traits;
    uint64_t done[LAB_DISK_TAGS_MAX];   /* a ring: completed, but not fetched by the driver */
    unsigned done_first, done_count;
    unsigned pending;                   /* pending commands */
};

typedef struct {
    LabDisk *disk;
    uint32_t tag;
    QEMUSGList content;
} LabCommand;

static void show_interrupt(LabDisk *disk)
{
    pci_set_irq(&disk->parent, disk->done_count > 0);
}

static void ended(LabDisk *disk, uint32_t tag, enum lab_disk_status status)
{
    disk->pending--;
    if (disk->done_count == LAB_DISK_TAGS_MAX) {
        return;     /* a driver that never fetches completions */
    }
    disk->done[(disk->done_first + disk->done_count++) % LAB_DISK_TAGS_MAX] = (uint64_t)status << 32 | tag;
    show_interrupt(disk);
}

static uint64_t take_done(LabDisk *disk)
{
    uint64_t done;

    if (!disk->done_count) {
        return ~0ull;
    }
    done = disk->done[disk->done_first];
    disk->done_first = (disk->done_first + 1) % LAB_DISK_TAGS_MAX;
    disk->done_count--;
    show_interrupt(disk);
    return done;
}

static void command_done(void *opaque, int result)
{
    LabCommand *command = opaque;

    ended(command->disk, command->tag,
          result == 0 ? LAB_DISK_OK : result == -ENODATA ? LAB_DISK_UNREADABLE : LAB_DISK_FAILED);
    qemu_sglist_destroy(&command->content);
    g_free(command);
}

static BlockAIOCB *write_fua(int64_t offset, QEMUIOVector *content, BlockCompletionFunc *cb, void *cb_opaque,
                             void *opaque)
{
    return blk_aio_pwritev(opaque, offset, content, BDRV_REQ_FUA, cb, cb_opaque);
}

static void submit(LabDisk *disk, const struct lab_disk_command *wanted)
{
    LabCommand *command = g_new0(LabCommand, 1);
    uint32_t i, segments = MIN(le32_to_cpu(wanted->segments), LAB_DISK_SEGMENTS_MAX);
    uint64_t offset = le64_to_cpu(wanted->offset_bytes), length = le64_to_cpu(wanted->length_bytes);

    disk->pending++;
    command->disk = disk;
    command->tag = le32_to_cpu(wanted->tag);
    pci_dma_sglist_init(&command->content, &disk->parent, segments);
    for (i = 0; i < segments; i++) {
        qemu_sglist_add(&command->content, le64_to_cpu(wanted->segment[i].address),
                        le64_to_cpu(wanted->segment[i].bytes));
    }
    switch (le32_to_cpu(wanted->op)) {
    case LAB_DISK_READ:
        dma_blk_read(disk->blk, &command->content, offset, BDRV_SECTOR_SIZE, command_done, command);
        break;
    case LAB_DISK_WRITE:
        if (le32_to_cpu(wanted->fua)) {
            dma_blk_io(blk_get_aio_context(disk->blk), &command->content, offset, BDRV_SECTOR_SIZE, write_fua,
                       disk->blk, command_done, command, DMA_DIRECTION_TO_DEVICE);
        } else {
            dma_blk_write(disk->blk, &command->content, offset, BDRV_SECTOR_SIZE, command_done, command);
        }
        break;
    case LAB_DISK_DISCARD:
        blk_aio_pdiscard(disk->blk, offset, length, command_done, command);
        break;
    case LAB_DISK_FLUSH:
        blk_aio_flush(disk->blk, command_done, command);
        break;
    default:
        command_done(command, -ENOTSUP);
    }
}

static void take_command(LabDisk *disk, dma_addr_t address)
{
    struct lab_disk_command wanted;

    if (disk->pending < LAB_DISK_TAGS_MAX &&
        pci_dma_read(&disk->parent, address, &wanted, HEAD_BYTES) == MEMTX_OK &&
        pci_dma_read(&disk->parent, address + HEAD_BYTES, wanted.segment,
                     MIN(le32_to_cpu(wanted.segments), LAB_DISK_SEGMENTS_MAX) * sizeof(wanted.segment[0])) == MEMTX_OK) {
        submit(disk, &wanted);
    }
}

static uint64_t lab_disk_read(void *opaque, hwaddr at, unsigned size)
{
    LabDisk *disk = opaque;
    const LabMediumTraits *traits = &disk->traits;

    switch (at) {
    case LAB_DISK_CAPACITY_BYTES:
        return blk_getlength(disk->blk);
    case LAB_DISK_SECTOR_BYTES:
        return traits->sector_bytes;
    case LAB_DISK_PAGE_BYTES:
        return traits->page_bytes;
    case LAB_DISK_STRIPE_BYTES:
        return traits->stripe_bytes;
    case LAB_DISK_DISCARD_BYTES:
        return traits->discard_bytes;
    case LAB_DISK_QUEUE_DEPTH:
        return traits->queue_depth;
    case LAB_DISK_FEATURES:
        return (traits->rotational ? LAB_DISK_ROTATIONAL : 0) | (traits->volatile_cache ? LAB_DISK_VOLATILE_CACHE : 0);
    case LAB_DISK_DONE:
        return take_done(disk);
    }
    return 0;
}

static void lab_disk_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    if (at == LAB_DISK_COMMAND) {
        take_command(opaque, value);
    }
}

static const MemoryRegionOps register_ops = {
    .read = lab_disk_read,
    .write = lab_disk_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 8, .max_access_size = 8 },
    .impl = { .min_access_size = 8, .max_access_size = 8 },
};

static void lab_disk_realize(PCIDevice *device, Error **errp)
{
    LabDisk *disk = LAB_DISK(device);

    if (!disk->blk || !lab_medium_is(blk_bs(disk->blk))) {
        error_setg(errp, "lab-disk needs drive=, with driver=flashbed");
        return;
    }
    disk->traits = lab_medium_traits(blk_bs(disk->blk));
    device->config[PCI_INTERRUPT_PIN] = 1;
    memory_region_init_io(&disk->registers, OBJECT(disk), &register_ops, disk, TYPE_LAB_DISK, BAR_BYTES);
    pci_register_bar(device, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &disk->registers);
}

static Property lab_disk_properties[] = {
    DEFINE_PROP_DRIVE("drive", LabDisk, blk),
    DEFINE_PROP_END_OF_LIST(),
};

static void lab_disk_class_init(ObjectClass *class, void *data)
{
    DeviceClass *device = DEVICE_CLASS(class);
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(class);

    pci->realize = lab_disk_realize;
    pci->vendor_id = LAB_DISK_VENDOR;
    pci->device_id = LAB_DISK_DEVICE;
    pci->class_id = PCI_CLASS_STORAGE_OTHER;
    set_bit(DEVICE_CATEGORY_STORAGE, device->categories);
    device_class_set_props(device, lab_disk_properties);
}

static const TypeInfo lab_disk_type = {
    .name = TYPE_LAB_DISK,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(LabDisk),
    .class_init = lab_disk_class_init,
    .interfaces = (InterfaceInfo[]) { { INTERFACE_CONVENTIONAL_PCI_DEVICE }, { } },
};

static void lab_disk_register(void)
{
    type_register_static(&lab_disk_type);
}

type_init(lab_disk_register);
