/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-card-registers.h */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/sd/lab-card-registers.h"

/* Sets bits of a 128-bit register. They are counted from its end, as in the specifications. */
static void set_bits(uint8_t reg[16], unsigned from, unsigned count, uint32_t value)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned bit = from + i;

        reg[15 - bit / 8] = deposit32(reg[15 - bit / 8], bit % 8, 1, value >> i);
    }
}

void lab_card_make_cid(uint8_t cid[CARD_LONG_BYTES], bool emmc)
{
    memset(cid, 0, CARD_LONG_BYTES);
    /* Name: 5 letters on an SD card, 6 on an eMMC with a field for the package before it */
    memcpy(cid + 3, emmc ? "FLASHB" : "FLASH", emmc ? 6 : 5);
    if (emmc) {
        set_bits(cid, 112, 2, 1);                           /* CBX: soldered */
        set_bits(cid, 8, 8, 1 << 4 | 7);                    /* January of 1997 + 7 + 16, by EXT_CSD's revision */
    } else {
        set_bits(cid, 8, 12, 20 << 4 | 1);                  /* January of 2000 + 20 */
    }
    set_bits(cid, 0, 1, 1);
}

/* Command classes: basic, block read and write, lock, and those of the argument */
#define CLASSES(more) (1 << 0 | 1 << 2 | 1 << 4 | 1 << 7 | (more))
#define CLASS_ERASE (1 << 5)
#define CLASS_PROTECT (1 << 6)
#define CLASS_APP (1 << 8)
#define CLASS_SWITCH (1 << 10)

void lab_card_make_csd(uint8_t csd[CARD_LONG_BYTES], const struct fb_params *params, bool emmc, bool high_speed)
{
    uint32_t classes = CLASSES(emmc ? CLASS_PROTECT : CLASS_APP | CLASS_SWITCH);

    if (fb_discard_bytes(params)) {
        classes |= CLASS_ERASE;
    }
    memset(csd, 0, CARD_LONG_BYTES);
    set_bits(csd, 126, 2, emmc ? 3 : 1);                    /* CSD_STRUCTURE: in EXT_CSD; version 2 */
    set_bits(csd, 112, 8, emmc ? 0x4f : 0x0e);              /* TAAC */
    set_bits(csd, 96, 8, high_speed ? 0x5a : 0x32);         /* TRAN_SPEED: 50 or 25 MHz; of an eMMC 26 MHz */
    set_bits(csd, 84, 12, classes);
    set_bits(csd, 80, 4, 9);                                /* READ_BL_LEN: 512 */
    set_bits(csd, 26, 3, 2);                                /* R2W_FACTOR */
    set_bits(csd, 22, 4, 9);                                /* WRITE_BL_LEN: 512 */
    set_bits(csd, 0, 1, 1);
    if (emmc) {
        set_bits(csd, 122, 4, 4);                           /* SPEC_VERS: 4 and later */
        set_bits(csd, 62, 12, 0xfff);                       /* C_SIZE, C_SIZE_MULT: above 2 GB, see EXT_CSD */
        set_bits(csd, 47, 3, 7);
        set_bits(csd, 42, 5, 31);                           /* ERASE_GRP_SIZE, ERASE_GRP_MULT: 512 KiB */
        set_bits(csd, 37, 5, 31);
    } else {
        set_bits(csd, 48, 22, fb_exposed_bytes(params) / (512 * KiB) - 1);
        set_bits(csd, 46, 1, 1);                            /* ERASE_BLK_EN */
        set_bits(csd, 39, 7, 0x7f);                         /* SECTOR_SIZE */
    }
}

/*
 * Times are in steps of 10 ms, those of erase and trim in steps of 300 ms. They are limits for the host's waiting, not
 * durations.
 */
void lab_card_make_ext_csd(uint8_t reg[EXT_CSD_BYTES], const struct fb_params *params)
{
    memset(reg, 0, EXT_CSD_BYTES);
    reg[EXT_CSD_REV] = 8;                                   /* 5.1 */
    reg[EXT_CSD_CSD_STRUCTURE] = 2;
    reg[EXT_CSD_DEVICE_TYPE] = 3;                           /* High Speed, 26 and 52 MHz */
    reg[EXT_CSD_PARTITION_SWITCH_TIME] = 1;
    reg[EXT_CSD_GENERIC_CMD6_TIME] = 50;
    reg[EXT_CSD_POWER_OFF_LONG_TIME] = 100;
    reg[EXT_CSD_ERASE_TIMEOUT_MULT] = 1;
    reg[EXT_CSD_TRIM_MULT] = 1;
    reg[EXT_CSD_HC_ERASE_GRP_SIZE] = 1;                     /* 512 KiB */
    reg[EXT_CSD_HC_WP_GRP_SIZE] = 16;
    reg[EXT_CSD_REL_WR_SEC_C] = 1;
    reg[EXT_CSD_WR_REL_PARAM] = 1 << 2;                     /* a reliable write of any length */
    reg[EXT_CSD_PRE_EOL_INFO] = 1;
    reg[EXT_CSD_LIFE_TIME_A] = 1;
    reg[EXT_CSD_LIFE_TIME_B] = 1;
    if (params->sector_bytes == 4096) {
        reg[EXT_CSD_DATA_SECTOR_SIZE] = 1;
        reg[EXT_CSD_NATIVE_SECTOR_SIZE] = 1;
    }
    if (fb_discard_bytes(params)) {
        reg[EXT_CSD_SEC_FEATURE_SUPPORT] = 1 << 4;          /* trim */
    }
    if (fb_volatile_cache(params)) {
        stl_le_p(reg + EXT_CSD_CACHE_SIZE, params->write_buffer_bytes / 128); /* kilobits */
    }
    stl_le_p(reg + EXT_CSD_SEC_COUNT, fb_exposed_bytes(params) / 512);
}

void lab_card_make_scr(uint8_t reg[SD_SCR_BYTES])
{
    static const uint8_t scr[SD_SCR_BYTES] = { 0x02, 0x05, 0x80, 0x02 };

    memcpy(reg, scr, SD_SCR_BYTES);
}

/* The code of an allocation unit: 1 is 16 KiB; each next code doubles it, up to 4 MiB */
static unsigned unit_code(uint64_t bytes)
{
    unsigned code = 1;

    while (code < 9 && (16 * KiB << code) <= bytes) {
        code++;
    }
    return code;
}

void lab_card_make_sd_status(uint8_t reg[SD_STATUS_BYTES], const struct fb_params *params)
{
    uint64_t unit = fb_discard_bytes(params);

    memset(reg, 0, SD_STATUS_BYTES);
    reg[0] = 2 << 6;                                        /* DAT_BUS_WIDTH */
    reg[8] = 4;                                             /* SPEED_CLASS: 10 */
    reg[10] = unit_code(unit ? unit : 4 * MiB) << 4;        /* AU_SIZE */
}

void lab_card_make_functions(uint8_t reg[SD_FUNCTIONS_BYTES], unsigned speed)
{
    memset(reg, 0, SD_FUNCTIONS_BYTES);
    stw_be_p(reg, 200);                                     /* mA */
    for (int i = 2; i < 12; i += 2) {
        stw_be_p(reg + i, 0x8001);
    }
    stw_be_p(reg + 12, 0x8003);
    reg[16] = speed <= CARD_SPEED_HIGH ? speed : 0xf;
}
