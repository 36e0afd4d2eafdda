/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SD card or an eMMC on a medium of the lab (lab-medium.h), as a host controller meets it: commands, responses and
 * one transfer of data at a time. It answers what Linux's mmc core sends: SD in High Speed mode with CMD23 and erase
 * (SD Physical Layer Simplified Specification 3.01), eMMC in High Speed mode with reliable writes, a cache, discard and
 * trim (JEDEC JESD84-B51); neither has faster modes, boot areas, passwords or write protection by groups.
 *
 * A transfer is one request to the medium, however many blocks it has, and so is an erase or a flush. The time on the
 * bus is the medium's (link_ps_per_byte). Commands, responses and registers take none.
 */
#ifndef HW_SD_LAB_CARD_H
#define HW_SD_LAB_CARD_H

#include "block/block.h"
#include "qemu/iov.h"

typedef struct LabCard LabCard;

/* A transfer or a busy state is over; `good` is false if the card gave or took no data. */
typedef void LabCardEnded(void *opaque, bool good);

/* A card on `bs`, which is to be a medium of the lab and outlives it. NULL if the medium cannot be such a card. */
LabCard *lab_card_new(BlockDriverState *bs, bool emmc, LabCardEnded *ended, void *opaque, Error **errp);
void lab_card_free(LabCard *card);

/* Power comes on anew. */
void lab_card_reset(LabCard *card);

/*
 * The bytes of the response: 0 if there is none, 4, or 16 of which the last is not sent. When the card is busy then,
 * `ended` follows.
 */
int lab_card_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16]);

/*
 * The data of the last command. True if they have been moved; else `ended` says when, and `content` is no longer
 * needed.
 */
bool lab_card_transfer(LabCard *card, QEMUIOVector *content);

/* Whether it holds DAT0 low */
bool lab_card_busy(const LabCard *card);

#endif
