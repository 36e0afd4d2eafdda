// SPDX-License-Identifier: Apache-2.0
/* Lines of words in the kernel's format */
#include "words.h"

#include <stdio.h>
#include <string.h>

static void put_byte(struct words_out *out, char byte)
{
	if (out->used + 1 >= out->size)
		out->full = true;
	else
		out->text[out->used++] = byte;
}

static void begin_word(struct words_out *out)
{
	if (out->used)
		put_byte(out, ' ');
}

void words_put(struct words_out *out, const char *word)
{
	if (!*word)
		out->full = true;
	begin_word(out);
	for (; *word; word++) {
		unsigned char byte = (unsigned char)*word;

		if (byte > ' ' && byte < 0x7f && byte != '\\') {
			put_byte(out, *word);
			continue;
		}
		put_byte(out, '\\');
		put_byte(out, (char)('0' + (byte >> 6)));
		put_byte(out, (char)('0' + (byte >> 3 & 7)));
		put_byte(out, (char)('0' + (byte & 7)));
	}
}

void words_put_number(struct words_out *out, long long number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lld", number);
	words_put(out, digits);
}

void words_put_hex(struct words_out *out, const uint8_t *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	begin_word(out);
	put_byte(out, '\\');
	put_byte(out, 'x');
	for (size_t i = 0; i < length; i++) {
		put_byte(out, digits[bytes[i] >> 4]);
		put_byte(out, digits[bytes[i] & 15]);
	}
}

bool words_end(struct words_out *out)
{
	put_byte(out, '\n');
	out->text[out->used] = '\0';
	return !out->full;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

static int octal_byte(const char *digits)
{
	int value = 0;

	for (int i = 0; i < 3; i++) {
		if (digits[i] < '0' || digits[i] > '7')
			return -1;
		value = value * 8 + digits[i] - '0';
	}
	return value < 256 ? value : -1;
}

static bool ends_word(char c)
{
	return !c || c == ' ' || c == '\n';
}

/* Decodes the next byte of a word; advances *from. -1 if it is malformed. */
static int next_byte(const char **from)
{
	int value;

	if (**from != '\\')
		return (unsigned char)*(*from)++;
	value = octal_byte(*from + 1);
	*from += 4;
	return value;
}

static int next_pair(const char **from)
{
	int high = hex_digit((*from)[0]), low = high < 0 ? -1 : hex_digit((*from)[1]);

	*from += 2;
	return low < 0 ? -1 : high << 4 | low;
}

int words_next(const char **line, char *word, size_t size)
{
	const char *from = *line;
	size_t length = 0;
	bool hex;

	while (*from == ' ')
		from++;
	if (ends_word(*from))
		return -1;
	hex = from[0] == '\\' && from[1] == 'x';
	if (hex)
		from += 2;
	while (!ends_word(*from)) {
		int byte = hex ? next_pair(&from) : next_byte(&from);

		if (byte < 0 || length + 1 >= size)
			return -1;
		word[length++] = (char)byte;
	}
	word[length] = '\0';
	*line = from;
	return (int)length;
}
