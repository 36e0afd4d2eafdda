// SPDX-License-Identifier: GPL-2.0-only
/* The program mkyaffs2: makes a YAFFS2 image of a directory, for nandwrite -o or as a test's flash. */
#include <stdarg.h>
#include <unistd.h>

#include "mkyaffs2_image.h"

#define SPARE_SHARE	32u	/* 16 bytes of 512, 64 of 2048, as chips have them */

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("mkyaffs2: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static void usage(FILE *to)
{
	fputs("usage: mkyaffs2 [options] DIRECTORY IMAGE\n"
	      "  -p BYTES   page (2048); 512: tags as in YAFFS1\n"
	      "  -s BYTES   spare area of a page in the image (a 32nd of the page); 0 with -i: pages alone\n"
	      "  -o BYTES   where the tags begin in the spare area (0)\n"
	      "  -b CHUNKS  pages of a block (64)\n"
	      "  -i         in-band tags\n"
	      "  -e         tags without ECC\n"
	      "  -r         everything belongs to root\n", to);
}

static u32 number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (*end || !*text || value > 1u << 20)
		die("not a number here: %s", text);
	return (u32)value;
}

/* What the command says of the image; a wrong option or number of arguments ends the program, and so does -h */
static struct image image_of(int argc, char **argv, bool *all_root)
{
	struct image image = { .page_bytes = 2048, .chunks_per_block = 64 };
	bool spare_said = false;
	int option;

	while ((option = getopt(argc, argv, "p:s:o:b:ierh")) != -1) {
		switch (option) {
		case 'p':
			image.page_bytes = number(optarg);
			break;
		case 's':
			image.spare_bytes = number(optarg);
			spare_said = true;
			break;
		case 'o':
			image.tags_offset = number(optarg);
			break;
		case 'b':
			image.chunks_per_block = number(optarg);
			break;
		case 'i':
			image.inband = true;
			break;
		case 'e':
			image.no_ecc = true;
			break;
		case 'r':
			*all_root = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(1);
		}
	}
	if (argc - optind != 2) {
		usage(stderr);
		exit(1);
	}
	image.yaffs1 = image.page_bytes == Y2_YAFFS1_PAGE_BYTES;
	if (!spare_said)
		image.spare_bytes = image.page_bytes / SPARE_SHARE;
	image.name = argv[optind + 1];
	return image;
}

static void check(const struct image *image)
{
	u32 tags = image->yaffs1 ? Y2_TAGS_YAFFS1_BYTES : image->no_ecc ? Y2_TAGS_BYTES : Y2_TAGS_TOTAL_BYTES;

	if (image->yaffs1 && (image->inband || image->no_ecc))
		die("pages of %u bytes have neither in-band tags nor tags without ECC", Y2_YAFFS1_PAGE_BYTES);
	if (!image->yaffs1 && image->page_bytes < 1024)
		die("a page has %u bytes, or 1024 or more", Y2_YAFFS1_PAGE_BYTES);
	if (!image->chunks_per_block)
		die("a block has a page or more");
	if (!image->inband && image->tags_offset + tags > image->spare_bytes)
		die("tags of %u bytes at %u do not fit into a spare area of %u", tags, image->tags_offset,
		    image->spare_bytes);
}

int main(int argc, char **argv)
{
	bool all_root = false;
	struct image image = image_of(argc, argv, &all_root);

	check(&image);
	image_open(&image);
	image_tree(&image, argv[optind], all_root);
	image_close(&image);
	return 0;
}
