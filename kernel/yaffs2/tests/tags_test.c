// SPDX-License-Identifier: GPL-2.0-only
/* Tags, their ECC and headers: against values worked out by hand from the format. */
#include "test.h"

/*
 * seq 0x1000, object 0x101, chunk 1, 0x800 bytes: 00 10 00 00 | 01 01 00 00 | 01 00 00 00 | 00 08 00 00. Bytes of odd
 * parity are 1, 4, 5, 8, 13: line = 1^4^5^8^13 = 5, complement = ~5 (an odd number of them). XOR of all bytes:
 * 10^01^01^01^08 = 19 hex = bits 0, 3, 4. Their numbers' bit 0 is 0 for 0 and 4 (even), 1 for 3 (odd): pair 2; bit 1
 * is 0 for 0 and 4 (even), 1 for 3 (odd): pair 2; bit 2 is 0 for 0 and 3 (even), 1 for 4 (odd): pair 2; so 0x2a.
 */
static const u8 worked_out[28] = {
	0x00, 0x10, 0, 0, 0x01, 0x01, 0, 0, 0x01, 0, 0, 0, 0x00, 0x08, 0, 0,
	0x2a, 0, 0, 0, 5, 0, 0, 0, 0xfa, 0xff, 0xff, 0xff,
};

static void tags_lie_as_the_format_says(void)
{
	struct y2_tags tags = { .seq = 0x1000, .object = 0x101, .chunk = 1, .bytes = 0x800 }, back;
	u8 packed[28];

	y2_tags_pack(&tags, true, packed);
	CHECK(!memcmp(packed, worked_out, 28));
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_unpack(packed, true, &back));
	CHECK(back.used && back.seq == 0x1000 && back.object == 0x101 && back.chunk == 1 && back.bytes == 0x800);
}

static void header_tags_carry_extra_knowledge(void)
{
	static const u8 expected[16] = { 0x34, 0x12, 0, 0, 0x05, 0x01, 0, 0x10, 0x01, 0, 0, 0xc0, 0x39, 0x30, 0, 0 };
	struct y2_tags tags = {
		.seq = 0x1234, .object = 0x105, .extra = true, .type = Y2_FILE, .parent = 1, .shrink = true,
		.size = 12345,
	};
	struct y2_tags back;
	u8 packed[28];

	y2_tags_pack(&tags, true, packed);
	CHECK(!memcmp(packed, expected, 16));
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_unpack(packed, true, &back));
	CHECK(back.extra && back.shrink && !back.shadows && back.object == 0x105 && !back.chunk);
	CHECK(back.type == Y2_FILE && back.parent == 1 && back.size == 12345);
}

/* 5 GB does not fit into n_bytes: such a header must be read */
static void long_files_have_no_extra_knowledge(void)
{
	struct y2_tags tags = { .seq = 0x1000, .object = 300, .extra = true, .type = Y2_FILE, .size = 5000000000ull };
	struct y2_tags back;
	u8 packed[28];

	y2_tags_pack(&tags, true, packed);
	y2_tags_unpack(packed, true, &back);
	CHECK(!back.extra && back.object == 300 && !back.chunk);
}

static void each_single_bit_is_corrected(void)
{
	for (u32 bit = 0; bit < 28 * 8; bit++) {
		struct y2_tags tags;
		u8 packed[28];

		/* Bytes 17 to 19 and two bits of byte 16 mean nothing */
		if (bit / 8 >= 17 && bit / 8 < 20)
			continue;
		memcpy(packed, worked_out, 28);
		packed[bit / 8] ^= (u8)(1u << bit % 8);
		if (bit / 8 == 16 && bit % 8 >= 6)
			CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_unpack(packed, true, &tags));
		else
			CHECK_EQUAL(Y2_READ_FIXED, y2_tags_unpack(packed, true, &tags));
		CHECK(tags.seq == 0x1000 && tags.object == 0x101 && tags.chunk == 1 && tags.bytes == 0x800);
	}
}

static void each_pair_of_bits_is_noticed(void)
{
	for (u32 a = 0; a < 16 * 8; a++) {
		for (u32 b = a + 1; b < 16 * 8; b++) {
			struct y2_tags tags;
			u8 packed[28];

			memcpy(packed, worked_out, 28);
			packed[a / 8] ^= (u8)(1u << a % 8);
			packed[b / 8] ^= (u8)(1u << b % 8);
			CHECK_EQUAL(Y2_READ_UNFIXED, y2_tags_unpack(packed, true, &tags));
			CHECK(!tags.used);
		}
	}
}

static void erased_pages_are_unused_despite_flipped_bits(void)
{
	struct y2_tags tags;
	u8 packed[28];

	memset(packed, 0xff, 28);
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_unpack(packed, true, &tags));
	CHECK(!tags.used);
	packed[3] = 0x7f;
	packed[20] = 0xfe;
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_unpack(packed, true, &tags));
	CHECK(!tags.used);
}

static void headers_lie_as_the_format_says(void)
{
	struct y2_header header = {
		.type = Y2_FILE, .parent = 1, .name = "kernel", .mode = 0100644, .uid = 1, .gid = 2, .atime = 3,
		.mtime = 4,
		.ctime = 5, .size = 0x123456789aull, .shadows = 0x1234, .shrink = true,
	};
	struct y2_header back;
	u8 packed[512];

	y2_header_pack(&header, packed);
	CHECK_EQUAL(1, packed[0]);
	CHECK_EQUAL(0xffff, packed[8] | packed[9] << 8);
	CHECK(!strcmp((char *)packed + 10, "kernel"));
	CHECK_EQUAL(0100644, get_unaligned_le32(packed + 268));
	CHECK_EQUAL(5, get_unaligned_le32(packed + 288));
	CHECK_EQUAL(0x3456789a, get_unaligned_le32(packed + 292));
	CHECK_EQUAL(0x12, get_unaligned_le32(packed + 496));
	CHECK_EQUAL(0x1234, get_unaligned_le32(packed + 504));
	CHECK_EQUAL(1, get_unaligned_le32(packed + 508));
	CHECK(y2_header_unpack(packed, &back));
	CHECK(!memcmp(&header, &back, sizeof(header)));
}

/* From before there were long files: the upper half of the size was unused, so erased */
void old_sizes_have_32_bits(void)
{
	struct y2_header header = { .type = Y2_FILE, .name = "a", .size = 77 };
	u8 packed[512];

	y2_header_pack(&header, packed);
	put_unaligned_le32(0xffffffff, packed + 496);
	CHECK(y2_header_unpack(packed, &header));
	CHECK_EQUAL(77, header.size);
}

static void rubbish_is_no_header(void)
{
	struct y2_header header = { .type = Y2_FILE, .name = "a" };
	u8 packed[512];

	memset(packed, 0xff, sizeof(packed));
	CHECK(!y2_header_unpack(packed, &header));
	memset(packed, 0, sizeof(packed));
	CHECK(!y2_header_unpack(packed, &header));
	header = (struct y2_header) { .type = Y2_FILE, .name = "a" };
	y2_header_pack(&header, packed);
	memset(packed + 10, 'x', 256);
	CHECK(!y2_header_unpack(packed, &header));
}

/*
 * Object 0x101, chunk 1, serial number 1, 0x200 bytes: low word 1 | 1 << 20 | 0x200 << 22 = 0x80100001, high word
 * 0x101 and the upper two bits = 0xc0000101. Numbers of the bits that are set: 1, 21, 32, 33, 41, 63, 64; their XOR
 * is 0x43, which goes to bit 18: 0xc10c0101.
 */
static const u8 worked_out_small[8] = { 0x01, 0x00, 0x10, 0x80, 0x01, 0x01, 0x0c, 0xc1 };

static void short_tags_lie_as_the_format_says(void)
{
	struct y2_tags tags = { .object = 0x101, .chunk = 1, .serial = 1, .bytes = 0x200 }, back;
	u8 packed[8], mark[8];

	y2_tags_yaffs1_pack(&tags, packed);
	CHECK(!memcmp(packed, worked_out_small, 8));
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_yaffs1_unpack(packed, &back));
	CHECK(back.used && !back.marked && back.object == 0x101 && back.chunk == 1 && back.serial == 1 &&
	      back.bytes == 0x200);
	y2_tags_yaffs1_mark(mark);
	for (u32 i = 0; i < 8; i++)
		packed[i] &= mark[i];
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_yaffs1_unpack(packed, &back));
	CHECK(back.used && back.marked);
	/* As other implementations write them: the unused bit is zero, also for the ECC, which is 3 then */
	memcpy(packed, worked_out_small, 8);
	packed[6] = 0x0c;
	packed[7] = 0x40;
	CHECK_EQUAL(Y2_READ_CLEAN, y2_tags_yaffs1_unpack(packed, &back));
	CHECK(back.used && !back.marked && back.object == 0x101 && back.chunk == 1);
}

/*
 * Bits 50 to 56 are the ECC's own that may be set: see tags_yaffs1.c. Bit 62 is the mark, all of that of other
 * drivers
 */
static void each_single_bit_of_short_tags_is_corrected(void)
{
	for (u32 bit = 0; bit < 64; bit++) {
		struct y2_tags back;
		u8 packed[8];

		if (bit >= 50 && bit <= 56)
			continue;
		memcpy(packed, worked_out_small, 8);
		packed[bit / 8] ^= (u8)(1u << bit % 8);
		if (bit >= 57 && bit <= 61) {
			CHECK_EQUAL(Y2_READ_UNFIXED, y2_tags_yaffs1_unpack(packed, &back));
			continue;
		}
		CHECK(y2_tags_yaffs1_unpack(packed, &back) != Y2_READ_UNFIXED);
		CHECK_EQUAL(bit == 62, back.marked);
		if (bit == 62)
			continue;
		CHECK(back.used && !back.marked && back.object == 0x101 && back.chunk == 1 && back.serial == 1 &&
		      back.bytes == 0x200);
	}
}

const struct test tags_tests[] = {
	TEST(tags_lie_as_the_format_says), TEST(header_tags_carry_extra_knowledge),
	TEST(long_files_have_no_extra_knowledge), TEST(each_single_bit_is_corrected),
	TEST(each_pair_of_bits_is_noticed),
	TEST(erased_pages_are_unused_despite_flipped_bits), TEST(headers_lie_as_the_format_says),
	TEST(old_sizes_have_32_bits), TEST(rubbish_is_no_header),
	TEST(short_tags_lie_as_the_format_says), TEST(each_single_bit_of_short_tags_is_corrected), END_OF_TESTS,
};
