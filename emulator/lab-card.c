/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lab-card.h */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "block/aio.h"
#include "block/lab-medium.h"
#include "block/media/fb_params.h"
#include "hw/sd/lab-card.h"
#include "hw/sd/lab-card-registers.h"

#define BLOCK_BYTES 512

#define OCR_POWERED_UP (1u << 31)
#define OCR_BY_BLOCKS (1u << 30)
#define OCR_VOLTAGES 0x00ff8000u

/* Card status, R1 */
#define STATUS_OUT_OF_RANGE (1u << 31)
#define STATUS_ILLEGAL_COMMAND (1u << 22)
#define STATUS_ECC_FAILED (1u << 21)
#define STATUS_ERROR (1u << 19)
#define STATUS_READY (1u << 8)
#define STATUS_SWITCH_ERROR (1u << 7)
#define STATUS_APP_CMD (1u << 5)
#define STATUS_STATE_SHIFT 9

/* SET_BLOCK_COUNT of an eMMC: a reliable write */
#define COUNT_RELIABLE (1u << 31)

/* ERASE of an eMMC: trim or discard, which act on blocks, not on groups */
#define ERASE_TRIM 1
#define ERASE_DISCARD 3

/* SWITCH: the way in which an eMMC's byte changes */
enum { SWITCH_COMMAND_SET, SWITCH_SET_BITS, SWITCH_CLEAR_BITS, SWITCH_WRITE_BYTE };

enum state { IDLE, READY, IDENTIFIED, STANDBY, TRANSFER, SENDING, RECEIVING, PROGRAMMING };

/* The data transfer of the last command */
enum data { DATA_NONE, DATA_REGISTER, DATA_READ, DATA_WRITE };

struct LabCard {
    BlockDriverState *bs;
    const struct fb_params *params;
    bool emmc;
    LabCardEnded *ended;
    void *opaque;

    uint8_t cid[CARD_LONG_BYTES];
    uint8_t csd[CARD_LONG_BYTES];
    uint8_t ext_csd[EXT_CSD_BYTES];

    enum state state;
    uint32_t rca;
    uint32_t errors;                                        /* of the card status, until reported */
    bool app_command;
    bool high_speed;
    bool reliable;                                          /* SET_BLOCK_COUNT asked for a reliable write */
    uint32_t erase_from, erase_to;

    enum data data;
    uint64_t offset;
    uint8_t reg[EXT_CSD_BYTES];                             /* the longest of them */
    size_t reg_bytes;

    BlockAIOCB *request;                                    /* pending at the medium */
};

static uint64_t card_bytes(const LabCard *card)
{
    return fb_exposed_bytes(card->params);
}

static void forget(LabCard *card)
{
    if (card->request) {
        BlockAIOCB *request = card->request;

        card->request = NULL;
        bdrv_aio_cancel_async(request);
    }
}

static void go_idle(LabCard *card)
{
    forget(card);
    card->state = IDLE;
    card->rca = card->emmc ? 1 : 0;
    card->errors = 0;
    card->app_command = card->high_speed = card->reliable = false;
    card->data = DATA_NONE;
    lab_card_make_csd(card->csd, card->params, card->emmc, false);
    lab_card_make_ext_csd(card->ext_csd, card->params);
}

/* The medium has finished. */
static void request_ended(void *opaque, int result)
{
    LabCard *card = opaque;
    bool reading = card->state == SENDING;

    if (result == -ECANCELED) {
        return;
    }
    card->request = NULL;
    card->state = TRANSFER;
    if (result == -ENODATA) {
        card->errors |= STATUS_ECC_FAILED;
    } else if (result) {
        card->errors |= STATUS_ERROR;
    }
    card->ended(card->opaque, !reading || result == 0);
}

static void submit(LabCard *card, enum lab_medium_op op, uint64_t offset, uint64_t bytes, QEMUIOVector *content,
                   bool fua)
{
    card->state = op == LAB_MEDIUM_READ ? SENDING : PROGRAMMING;
    card->request = lab_medium_submit(card->bs, op, offset, bytes, content, fua ? BDRV_REQ_FUA : 0, request_ended,
                                      card);
}

/* A disabled cache holds nothing back. An SD card's cache is never on, because hosts have no command to flush it. */
static bool written_through(const LabCard *card)
{
    return fb_volatile_cache(card->params) && !(card->emmc && card->ext_csd[EXT_CSD_CACHE_CTRL]);
}

bool lab_card_transfer(LabCard *card, QEMUIOVector *content)
{
    enum data data = card->data;
    bool through = card->reliable || written_through(card);

    card->data = DATA_NONE;
    card->reliable = false;
    switch (data) {
    case DATA_REGISTER:
        qemu_iovec_from_buf(content, 0, card->reg, MIN(card->reg_bytes, content->size));
        break;
    case DATA_READ:
        submit(card, LAB_MEDIUM_READ, card->offset, content->size, content, false);
        return false;
    case DATA_WRITE:
        submit(card, LAB_MEDIUM_WRITE, card->offset, content->size, content, through);
        return false;
    case DATA_NONE:
        card->ended(card->opaque, false);
        return false;
    }
    return true;
}

bool lab_card_busy(const LabCard *card)
{
    return card->state == PROGRAMMING;
}

static int respond(uint8_t response[16], uint32_t value)
{
    stl_be_p(response, value);
    return 4;
}

static int respond_long(uint8_t response[16], const uint8_t reg[16])
{
    memcpy(response, reg, 16);
    return 16;
}

/* R1; reports and clears the errors. */
static int respond_status(LabCard *card, enum state before, uint8_t response[16])
{
    uint32_t status = card->errors | before << STATUS_STATE_SHIFT;

    if (before != PROGRAMMING) {
        status |= STATUS_READY;
    }
    if (card->app_command) {
        status |= STATUS_APP_CMD;
    }
    card->errors = 0;
    return respond(response, status);
}

/* The command is unknown or for another card: the next status reports it. */
static int no_response(LabCard *card)
{
    card->errors |= STATUS_ILLEGAL_COMMAND;
    return 0;
}

static uint8_t *send_register(LabCard *card, size_t bytes)
{
    card->data = DATA_REGISTER;
    card->reg_bytes = bytes;
    memset(card->reg, 0, bytes);
    return card->reg;
}

/* SWITCH_FUNC: checks or sets the speed, the only group with a choice. */
static void switch_function(LabCard *card, uint32_t argument)
{
    bool set = argument >> 31;
    unsigned speed = argument & 0xf;

    if (speed == CARD_SPEED_AS_IT_IS) {
        speed = card->high_speed;
    } else if (speed <= CARD_SPEED_HIGH && set) {
        card->high_speed = speed;
        lab_card_make_csd(card->csd, card->params, false, card->high_speed);
    }
    lab_card_make_functions(send_register(card, SD_FUNCTIONS_BYTES), speed);
}

/* SWITCH of an eMMC */
static void switch_byte(LabCard *card, uint32_t argument)
{
    unsigned access = argument >> 24 & 3, index = argument >> 16 & 0xff, value = argument >> 8 & 0xff;
    uint8_t *reg = &card->ext_csd[index];
    bool cached = card->ext_csd[EXT_CSD_CACHE_CTRL] & 1;

    if (access == SWITCH_COMMAND_SET) {
        return;
    }
    if (index >= EXT_CSD_REV) {
        card->errors |= STATUS_SWITCH_ERROR;
        return;
    }
    if (index == EXT_CSD_FLUSH_CACHE) {
        if (value & 1) {
            submit(card, LAB_MEDIUM_FLUSH, 0, 0, NULL, false);
        }
        return;
    }
    switch (access) {
    case SWITCH_SET_BITS:
        *reg |= value;
        break;
    case SWITCH_CLEAR_BITS:
        *reg &= ~value;
        break;
    case SWITCH_WRITE_BYTE:
        *reg = value;
        break;
    }
    if (cached && !(card->ext_csd[EXT_CSD_CACHE_CTRL] & 1)) {
        submit(card, LAB_MEDIUM_FLUSH, 0, 0, NULL, false);
    }
}

static void erase(LabCard *card, uint32_t argument)
{
    uint64_t from = card->erase_from, to = card->erase_to;

    if (card->state != TRANSFER) {
        return;
    }
    if (card->emmc && argument != ERASE_TRIM && argument != ERASE_DISCARD) {
        uint64_t group = card->ext_csd[EXT_CSD_HC_ERASE_GRP_SIZE] * (512 * KiB / BLOCK_BYTES);

        from = QEMU_ALIGN_DOWN(from, group);
        to = QEMU_ALIGN_DOWN(to, group) + group - 1;
    }
    submit(card, LAB_MEDIUM_DISCARD, from * BLOCK_BYTES, (to - from + 1) * BLOCK_BYTES, NULL, false);
}

static int app_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16])
{
    enum state before = card->state;
    int bytes;

    switch (index) {
    case 41:                                                /* SD_SEND_OP_COND; without voltages it is an inquiry */
        card->app_command = false;
        if (argument & OCR_VOLTAGES) {
            card->state = READY;
        }
        return respond(response, OCR_POWERED_UP | OCR_BY_BLOCKS | OCR_VOLTAGES);
    case 6:                                                 /* SET_BUS_WIDTH */
    case 23:                                                /* SET_WR_BLK_ERASE_COUNT */
    case 42:                                                /* SET_CLR_CARD_DETECT */
        break;
    case 13:
        lab_card_make_sd_status(send_register(card, SD_STATUS_BYTES), card->params);
        break;
    case 22:                                                /* SEND_NUM_WR_BLOCKS, after a failed write: none */
        send_register(card, 4);
        break;
    case 51:
        lab_card_make_scr(send_register(card, SD_SCR_BYTES));
        break;
    default:
        card->app_command = false;
        return no_response(card);
    }
    bytes = respond_status(card, before, response);
    card->app_command = false;
    return bytes;
}

/* Starts a transfer at block `block`: the DAT lines carry its blocks next. */
static void announce_data(LabCard *card, uint32_t block, enum data data)
{
    card->offset = (uint64_t)block * BLOCK_BYTES;
    if (card->offset >= card_bytes(card)) {
        card->errors |= STATUS_OUT_OF_RANGE;
        return;
    }
    card->data = data;
}

static void stop_transfer(LabCard *card)
{
    if (card->state == SENDING) {
        forget(card);
        card->state = TRANSFER;
    }
    card->data = DATA_NONE;
}

/* Commands shared by SD cards and eMMCs; -1: another command. */
static int common_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16])
{
    enum state before = card->state;

    switch (index) {
    case 0:                                                 /* GO_IDLE_STATE */
        go_idle(card);
        return 0;
    case 2:                                                 /* ALL_SEND_CID */
        if (card->state != READY) {
            return no_response(card);
        }
        card->state = IDENTIFIED;
        return respond_long(response, card->cid);
    case 7:                                                 /* SELECT_CARD, or another one */
        if (argument >> 16 != card->rca) {
            card->state = STANDBY;
            return 0;
        }
        card->state = TRANSFER;
        break;
    case 9:                                                 /* SEND_CSD */
        return respond_long(response, card->csd);
    case 10:                                                /* SEND_CID */
        return respond_long(response, card->cid);
    case 12:                                                /* STOP_TRANSMISSION */
        stop_transfer(card);
        break;
    case 13:                                                /* SEND_STATUS */
    case 16:                                                /* SET_BLOCKLEN */
        break;
    case 23:                                                /* SET_BLOCK_COUNT */
        card->reliable = card->emmc && (argument & COUNT_RELIABLE);
        break;
    case 17:                                                /* READ_SINGLE_BLOCK, READ_MULTIPLE_BLOCK */
    case 18:
    case 24:                                                /* WRITE_BLOCK, WRITE_MULTIPLE_BLOCK */
    case 25:
        if (card->state != TRANSFER) {
            return no_response(card);
        }
        announce_data(card, argument, index < 24 ? DATA_READ : DATA_WRITE);
        break;
    case 32:                                                /* ERASE_WR_BLK_START, ERASE_GROUP_START */
    case 35:
        card->erase_from = argument;
        break;
    case 33:                                                /* ERASE_WR_BLK_END, ERASE_GROUP_END */
    case 36:
        card->erase_to = argument;
        break;
    case 38:                                                /* ERASE */
        erase(card, argument);
        break;
    default:
        return -1;
    }
    return respond_status(card, before, response);
}

static int sd_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16])
{
    enum state before = card->state;
    int bytes;

    switch (index) {
    case 3:                                                 /* SEND_RELATIVE_ADDR */
        card->state = STANDBY;
        card->rca = 1;
        return respond(response, card->rca << 16 | before << STATUS_STATE_SHIFT | STATUS_READY);
    case 6:
        switch_function(card, argument);
        break;
    case 8:                                                 /* SEND_IF_COND */
        return respond(response, argument & 0xfff);
    case 55:                                                /* APP_CMD */
        if (argument >> 16 != card->rca) {
            return no_response(card);
        }
        card->app_command = true;
        break;
    default:
        bytes = common_command(card, index, argument, response);
        return bytes < 0 ? no_response(card) : bytes;
    }
    return respond_status(card, before, response);
}

static int emmc_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16])
{
    enum state before = card->state;
    int bytes;

    switch (index) {
    case 1:                                                 /* SEND_OP_COND; without voltages it is an inquiry */
        if (argument & OCR_VOLTAGES) {
            card->state = READY;
        }
        return respond(response, OCR_POWERED_UP | OCR_BY_BLOCKS | OCR_VOLTAGES | 1 << 7);
    case 3:                                                 /* SET_RELATIVE_ADDR */
        card->state = STANDBY;
        card->rca = argument >> 16;
        break;
    case 6:
        if (card->state != TRANSFER) {
            return no_response(card);
        }
        switch_byte(card, argument);
        break;
    case 8:                                                 /* SEND_EXT_CSD; in the idle state an SD card's command */
        if (card->state != TRANSFER) {
            return no_response(card);
        }
        memcpy(send_register(card, EXT_CSD_BYTES), card->ext_csd, EXT_CSD_BYTES);
        break;
    default:
        bytes = common_command(card, index, argument, response);
        return bytes < 0 ? no_response(card) : bytes;
    }
    return respond_status(card, before, response);
}

int lab_card_command(LabCard *card, uint8_t index, uint32_t argument, uint8_t response[16])
{
    if (card->emmc) {
        return emmc_command(card, index, argument, response);
    }
    if (card->app_command) {
        return app_command(card, index, argument, response);
    }
    return sd_command(card, index, argument, response);
}

void lab_card_reset(LabCard *card)
{
    go_idle(card);
}

LabCard *lab_card_new(BlockDriverState *bs, bool emmc, LabCardEnded *ended, void *opaque, Error **errp)
{
    const struct fb_params *params;
    LabCard *card;

    if (!lab_medium_is(bs)) {
        error_setg(errp, "a card needs a medium of the lab");
        return NULL;
    }
    params = lab_medium_params(bs);
    if (!emmc && (params->sector_bytes != BLOCK_BYTES || fb_exposed_bytes(params) % (512 * KiB))) {
        error_setg(errp, "an SD card has sectors of %d bytes, and whole units of 512 KiB", BLOCK_BYTES);
        return NULL;
    }
    card = g_new0(LabCard, 1);
    card->bs = bs;
    card->params = params;
    card->emmc = emmc;
    card->ended = ended;
    card->opaque = opaque;
    lab_card_make_cid(card->cid, card->emmc);
    go_idle(card);
    return card;
}

void lab_card_free(LabCard *card)
{
    if (card) {
        forget(card);
        g_free(card);
    }
}
