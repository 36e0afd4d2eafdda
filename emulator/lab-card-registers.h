/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers that describe an SD card or an eMMC, made from its medium's parameters (SD Physical Layer Simplified
 * Specification 3.01, chapters 4.3.10, 4.10 and 5; JEDEC JESD84-B51, chapter 7). The first byte is sent first.
 */
#ifndef HW_SD_LAB_CARD_REGISTERS_H
#define HW_SD_LAB_CARD_REGISTERS_H

#include "block/media/fb_params.h"

#define CARD_LONG_BYTES 16
#define SD_SCR_BYTES 8
#define SD_STATUS_BYTES 64
#define SD_FUNCTIONS_BYTES 64
#define EXT_CSD_BYTES 512

/* Speed functions of an SD card */
#define CARD_SPEED_HIGH 1
#define CARD_SPEED_AS_IT_IS 0xf

/* Bytes of EXT_CSD */
enum {
    EXT_CSD_FLUSH_CACHE = 32,
    EXT_CSD_CACHE_CTRL = 33,
    EXT_CSD_DATA_SECTOR_SIZE = 61,
    EXT_CSD_NATIVE_SECTOR_SIZE = 63,
    EXT_CSD_WR_REL_PARAM = 166,
    EXT_CSD_ERASE_GROUP_DEF = 175,
    EXT_CSD_REV = 192,
    EXT_CSD_CSD_STRUCTURE = 194,
    EXT_CSD_DEVICE_TYPE = 196,
    EXT_CSD_PARTITION_SWITCH_TIME = 199,
    EXT_CSD_SEC_COUNT = 212,
    EXT_CSD_HC_WP_GRP_SIZE = 221,
    EXT_CSD_REL_WR_SEC_C = 222,
    EXT_CSD_ERASE_TIMEOUT_MULT = 223,
    EXT_CSD_HC_ERASE_GRP_SIZE = 224,
    EXT_CSD_SEC_FEATURE_SUPPORT = 231,
    EXT_CSD_TRIM_MULT = 232,
    EXT_CSD_POWER_OFF_LONG_TIME = 247,
    EXT_CSD_GENERIC_CMD6_TIME = 248,
    EXT_CSD_CACHE_SIZE = 249,
    EXT_CSD_PRE_EOL_INFO = 267,
    EXT_CSD_LIFE_TIME_A = 268,
    EXT_CSD_LIFE_TIME_B = 269,
};

/* CID: manufacturer and name */
void lab_card_make_cid(uint8_t cid[CARD_LONG_BYTES], bool emmc);

/* CSD: capabilities, and an SD card's size */
void lab_card_make_csd(uint8_t csd[CARD_LONG_BYTES], const struct fb_params *params, bool emmc, bool high_speed);

/* EXT_CSD: capabilities and size of an eMMC */
void lab_card_make_ext_csd(uint8_t reg[EXT_CSD_BYTES], const struct fb_params *params);

/* SD Configuration Register: version 3.0, one and four lines, CMD23 */
void lab_card_make_scr(uint8_t reg[SD_SCR_BYTES]);

/* SD Status: four lines, class 10; the allocation unit is the medium's discard unit. */
void lab_card_make_sd_status(uint8_t reg[SD_STATUS_BYTES], const struct fb_params *params);

/* The answer to SWITCH_FUNC: group 1 has the default speed and High Speed, the others have their default only. */
void lab_card_make_functions(uint8_t reg[SD_FUNCTIONS_BYTES], unsigned speed);

#endif
