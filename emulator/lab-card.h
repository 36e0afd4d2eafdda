/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SD card or an eMMC on a medium of the lab (lab-medium.h), as seen by a host controller: commands, responses and
 * one data transfer at a time. It implements what Linux's mmc core uses. SD: High Speed mode with CMD23 and erase (SD
 * Physical Layer Simplified Specification 3.01). eMMC: High Speed mode with reliable writes, a cache, discard and trim
 * (JEDEC JESD84-B51). Neither has faster modes, boot areas, passwords or group write protection.
 *
 * A transfer is one request to the medium, regardless of its blocks; so is an erase or a flush. The medium accounts for
 * the bus time (link_ps_per_byte). Commands, responses and registers take no time.
 */
#ifndef HW_SD_LAB_CARD_H
#define HW_SD_LAB_CARD_H

#include "block/block.h"
#include "qemu/iov.h"

typedef struct LabCard LabCard;

/* A transfer or a busy state is over; `good` is false if the card transferred no data. */
typedef void LabCardEnded(void *opaque, bool good);

/*
 * Makes a card on `bs`, which must be a medium of the lab and outlive the card. NULL if the medium cannot be such a
 * card.
 */
LabCard *lab_card_new(BlockDriverState *bs, bool emmc, LabCardEnded *ended, void *opaque, Error **errp);
void lab_card_free(LabCard *card);

/* Resets the card by a power cycle. */
void lab_card_reset(LabCard *card);

/*
 * Executes a command. Returns the bytes of the response: 0 if there is none, 4, or 16, the last of which is not sent.
 * If the card is busy afterwards, `ended` follows.
 */
int lab_card_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16]);

/*
 * Transfers the data of the last command. True if the transfer is complete; else `ended` reports its end, and `content`
 * is no longer needed.
 */
bool lab_card_transfer(LabCard *card, QEMUIOVector *content);

/* True if the card holds DAT0 low */
bool lab_card_busy(const LabCard *card);

#endif
