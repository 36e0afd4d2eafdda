// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages as another driver packs them, by code that shares nothing with the core. Its option for big-endian flash turns
 * the words of headers and of tags. It leaves the ECC of tags, and the tags of YAFFS1, in the computer's own order.
 */
#include "raw.h"

#define YAFFS1_TAGS	8u
#define LARGE_TAGS	16u

struct raw raw_of(struct ram_flash *flash, bool inband)
{
	return (struct raw) {
		.flash = flash, .inband = inband, .chunk_bytes = flash->geometry.page_bytes - (inband ? LARGE_TAGS : 0),
	};
}

static void put_word(const struct raw *raw, u8 *to, u32 word)
{
	for (u32 i = 0; i < 4; i++)
		to[i] = (u8)(word >> 8 * (raw->big_endian ? 3 - i : i));
}

static u32 get_word(const struct raw *raw, const u8 *from)
{
	u32 word = 0;

	for (u32 i = 0; i < 4; i++)
		word |= (u32)from[i] << 8 * (raw->big_endian ? 3 - i : i);
	return word;
}

static struct raw own_order(const struct raw *raw)
{
	return (struct raw) { .big_endian = raw->big_endian && !raw->by_option };
}

/* Bit by bit: each that is set counts for one of each pair of the column parity, and for its byte's number */
static void large_ecc(const u8 *tags, u8 *column, u32 *line, u32 *line_prime)
{
	*column = 0;
	*line = *line_prime = 0;
	for (u32 bit = 0; bit < 8 * LARGE_TAGS; bit++) {
		if (!(tags[bit / 8] >> bit % 8 & 1))
			continue;
		for (u32 pair = 0; pair < 3; pair++)
			*column ^= (u8)(1u << (2 * pair + (bit >> pair & 1)));
		*line ^= bit / 8;
		*line_prime ^= ~(bit / 8);
	}
}

static void pack_large(const struct raw *raw, const struct raw_tags *tags, bool with_ecc, u8 *out)
{
	const struct raw own = own_order(raw);
	u32 line, line_prime;
	u8 column;

	put_word(raw, out, tags->seq);
	put_word(raw, out + 4, tags->object);
	put_word(raw, out + 8, tags->chunk);
	put_word(raw, out + 12, tags->bytes);
	if (!with_ecc)
		return;
	large_ecc(out, &column, &line, &line_prime);
	memset(out + 16, 0, 4);
	out[16] = column;
	put_word(&own, out + 20, line);
	put_word(&own, out + 24, line_prime);
}

/* The numbers, from 1, of all bits that are set, with the ECC itself as zero and the mark as one */
static u32 yaffs1_ecc(const struct raw *raw, const u8 *tags)
{
	u8 plain[YAFFS1_TAGS];
	u32 high = get_word(raw, tags + 4), sum = 0;

	memcpy(plain, tags, YAFFS1_TAGS);
	high = raw->big_endian ? (high & ~(0xfffu << 2)) | 2 : (high & ~(0xfffu << 18)) | 1u << 30;
	put_word(raw, plain + 4, high);
	for (u32 bit = 0; bit < 8 * YAFFS1_TAGS; bit++)
		if (plain[bit / 8] >> bit % 8 & 1)
			sum ^= bit + 1;
	return sum;
}

static void pack_yaffs1(const struct raw *raw, const struct raw_tags *tags, u8 *out)
{
	u32 low = tags->chunk | (u32)tags->serial << 20 | tags->bytes << 22, high = tags->object | 1u << 30;
	u32 ecc_shift = 18;

	if (raw->big_endian) {
		low = tags->chunk << 12 | (u32)tags->serial << 10 | tags->bytes;
		high = tags->object << 14 | 2;
		ecc_shift = 2;
	}
	put_word(raw, out, low);
	put_word(raw, out + 4, high);
	put_word(raw, out + 4, high | yaffs1_ecc(raw, out) << ecc_shift);
}

int raw_write(struct raw *raw, u32 block, u32 page, const u8 *data, const struct raw_tags *tags)
{
	const struct y2_geometry *geometry = &raw->flash->geometry;
	u8 *all = malloc(geometry->page_bytes + geometry->oob_bytes + 32), *oob = all + geometry->page_bytes;
	const struct raw own = own_order(raw);
	int err;

	memset(all, 0xff, geometry->page_bytes + geometry->oob_bytes + 32);
	memcpy(all, data, raw->chunk_bytes);
	if (raw->inband)
		pack_large(raw, tags, false, all + raw->chunk_bytes);
	else if (raw_is_yaffs1(raw))
		pack_yaffs1(&own, tags, oob);
	else
		pack_large(raw, tags, true, oob);
	err = ram_flash_ops.write(raw->flash, block, page, all, raw->inband ? NULL : oob);
	free(all);
	return err;
}

int raw_mark(struct raw *raw, u32 block, u32 page)
{
	u8 oob[256];

	memset(oob, 0xff, sizeof(oob));
	oob[7] = 0xbf;
	return ram_flash_ops.write(raw->flash, block, page, NULL, oob);
}

static bool all_ones(const u8 *bytes, u32 count)
{
	while (count && bytes[count - 1] == 0xff)
		count--;
	return !count;
}

bool raw_is_blank(struct raw *raw, u32 block, u32 page)
{
	const struct y2_geometry *geometry = &raw->flash->geometry;
	size_t index = (size_t)block * geometry->chunks_per_block + page;

	return all_ones(raw->flash->data + index * geometry->page_bytes, geometry->page_bytes) &&
	       all_ones(raw->flash->oob + index * geometry->oob_bytes, geometry->oob_bytes);
}

static bool unpack_yaffs2(const struct raw *raw, const u8 *in, bool with_ecc, struct raw_tags *tags)
{
	u32 line, line_prime;
	u8 column;

	large_ecc(in, &column, &line, &line_prime);
	*tags = (struct raw_tags) {
		.seq = get_word(raw, in), .object = get_word(raw, in + 4), .chunk = get_word(raw, in + 8),
		.bytes = get_word(raw, in + 12),
	};
	return !with_ecc || (column == (in[16] & 0x3f) && line == get_word(raw, in + 20) &&
			     line_prime == get_word(raw, in + 24));
}

static bool unpack_yaffs1(const struct raw *raw, const u8 *in, struct raw_tags *tags)
{
	u32 low = get_word(raw, in), high = get_word(raw, in + 4);

	*tags = (struct raw_tags) {
		.chunk = low & 0xfffff, .serial = low >> 20 & 3, .bytes = low >> 22, .object = high & 0x3ffff,
		.deleted = !(high >> 30 & 1), .wrong_ecc = yaffs1_ecc(raw, in) != (high >> 18 & 0xfff),
	};
	return tags->deleted || !tags->wrong_ecc;
}

bool raw_read(struct raw *raw, u32 block, u32 page, u8 *data, struct raw_tags *tags)
{
	u8 *all = malloc(raw->flash->geometry.page_bytes), oob[256];
	bool found = !raw_is_blank(raw, block, page);
	int result = Y2_READ_CLEAN;

	if (found && (data || raw->inband)) {
		result = ram_flash_ops.read(raw->flash, block, page, all, NULL);
		if (data)
			memcpy(data, all, raw->chunk_bytes);
	}
	found = found && y2_is_readable(result);
	if (found && !raw->inband)
		ram_flash_ops.read(raw->flash, block, page, NULL, oob);
	if (found && raw->inband)
		found = unpack_yaffs2(raw, all + raw->chunk_bytes, false, tags);
	else if (found)
		found = raw_is_yaffs1(raw) ? unpack_yaffs1(raw, oob, tags) : unpack_yaffs2(raw, oob, true, tags);
	free(all);
	return found;
}

void raw_header_pack(const struct raw *raw, const struct raw_header *header, u8 *page)
{
	struct raw little = { .big_endian = raw->big_endian };

	memset(page, 0xff, raw->chunk_bytes);
	put_word(&little, page, header->type);
	put_word(&little, page + 4, header->parent);
	memcpy(page + 10, header->name, 256);
	put_word(&little, page + 268, header->mode);
	for (u32 at = 272; at < 292; at += 4)
		put_word(&little, page + at, at < 280 ? 0 : 1000000000);
	if (header->type == RAW_FILE) {
		put_word(&little, page + 292, (u32)header->size);
		put_word(&little, page + 496, (u32)(header->size >> 32));
	}
	put_word(&little, page + 296, header->equivalent);
	if (header->type == RAW_SYMLINK)
		memcpy(page + 300, header->alias, strlen(header->alias) + (strlen(header->alias) < 159));
	put_word(&little, page + 460, header->rdev);
	for (u32 at = 488; at <= 504; at += 16)
		put_word(&little, page + at, header->shadows);
	for (u32 at = 492; at <= 508; at += 16)
		put_word(&little, page + at, header->shrink);
}

bool raw_header_unpack(const u8 *page, struct raw_header *header)
{
	const struct raw little = { .big_endian = false };
	u32 high = get_word(&little, page + 496);

	*header = (struct raw_header) {
		.type = get_word(&little, page), .parent = get_word(&little, page + 4),
		.mode = get_word(&little, page + 268),
		.equivalent = get_word(&little, page + 296), .rdev = get_word(&little, page + 460),
		.shadows = get_word(&little, page + 504), .shrink = get_word(&little, page + 508) == 1,
	};
	if (!header->type || header->type > RAW_SPECIAL)
		return false;
	memcpy(header->name, page + 10, 255);
	if (header->type == RAW_FILE)
		header->size = get_word(&little, page + 292) | (u64)(high == 0xffffffff ? 0 : high) << 32;
	if (header->type == RAW_SYMLINK)
		memcpy(header->alias, page + 300, 159);
	return true;
}

struct raw_tags raw_header_tags(u32 id, const struct raw_header *header)
{
	u32 flags = 0x80000000u | (header->shrink ? 0x40000000u : 0) | (header->shadows ? 0x20000000u : 0);

	return (struct raw_tags) {
		.object = id | header->type << 28, .chunk = flags | header->parent,
		.bytes = header->type == RAW_FILE     ? (u32)header->size :
			 header->type == RAW_HARDLINK ? header->equivalent : 0,
	};
}

void raw_put(struct raw_cursor *at, struct raw_tags tags, const u8 *data)
{
	if (!at->seq)
		at->seq = 0x1000;
	if (!tags.seq)
		tags.seq = at->seq;
	CHECK_EQUAL(0, (u64)raw_write(&at->raw, at->block, at->page, data, &tags));
	if (++at->page == at->raw.flash->geometry.chunks_per_block)
		raw_next_block(at);
}

void raw_next_block(struct raw_cursor *at)
{
	at->block++;
	at->seq++;
	at->page = 0;
}

void raw_put_header(struct raw_cursor *at, u32 id, const struct raw_header *header)
{
	struct raw_tags tags = raw_header_tags(id, header);
	u8 page[8192];

	raw_header_pack(&at->raw, header, page);
	if (raw_is_yaffs1(&at->raw))
		tags = (struct raw_tags) { .object = id, .bytes = 1023 };
	raw_put(at, tags, page);
}

void raw_put_data(struct raw_cursor *at, u32 id, u32 k, u32 bytes, char what)
{
	u8 page[8192];

	memset(page, what, sizeof(page));
	if (bytes < at->raw.chunk_bytes)
		memset(page + bytes, 0, at->raw.chunk_bytes - bytes);
	raw_put(at, (struct raw_tags) { .object = id, .chunk = k, .bytes = bytes }, page);
}
