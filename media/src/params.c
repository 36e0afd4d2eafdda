// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names and ranges of the parameters, and the rules between them */
#include "arith.h"
#include "check.h"
#include "kind.h"

#define RULE(param, of_kinds, lowest, highest, otherwise, text) \
	{ .name = #param, .meaning = text, .min = lowest, .max = highest, .fallback = otherwise, .kinds = of_kinds },

static const struct fb_param_rule rules[FB_PARAM_COUNT] = { FB_PARAMS(RULE) };

#define WORD(constant, word) word,

static const char *const kind_words[] = { FB_KINDS(WORD) NULL };
static const char *const ftl_words[] = { FB_FTLS(WORD) NULL };
static const char *const gc_policy_words[] = { FB_GC_POLICIES(WORD) NULL };

static const char *const *const words[FB_PARAM_COUNT] = {
	[FB_PARAM_kind] = kind_words,
	[FB_PARAM_ftl] = ftl_words,
	[FB_PARAM_gc_policy] = gc_policy_words,
};

const struct fb_param_rule *fb_param_rule(enum fb_param param)
{
	return &rules[param];
}

const char *fb_kind_word(enum fb_kind kind)
{
	return kind_words[kind];
}

const char *fb_param_word(enum fb_param param, u64 value)
{
	return words[param] && value <= rules[param].max ? words[param][value] : NULL;
}

bool fb_complain(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		 u64 min, u64 max, const char *reason)
{
	complaint->param = param;
	complaint->value = params->by_index[param];
	complaint->min = min;
	complaint->max = max;
	complaint->reason = reason;
	return false;
}

bool fb_check_range(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		    u64 min, u64 max, const char *reason)
{
	u64 value = params->by_index[param];

	if (value >= min && value <= max)
		return true;
	return fb_complain(complaint, params, param, min, max, reason);
}

bool fb_check_power_of_two(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param)
{
	if (fb_power_of_two(params->by_index[param]))
		return true;
	return fb_complain(complaint, params, param, rules[param].min, rules[param].max, "must be a power of two");
}

bool fb_check_whole(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param,
		    u64 unit, const char *reason)
{
	if (params->by_index[param] % unit == 0)
		return true;
	return fb_complain(complaint, params, param, rules[param].min, rules[param].max, reason);
}

bool fb_check_multiple(struct fb_complaint *complaint, const struct fb_params *params, enum fb_param param)
{
	return fb_check_whole(complaint, params, param, params->sector_bytes, "must be a multiple of sector_bytes");
}

bool fb_check_sectors(const struct fb_params *params, struct fb_complaint *complaint)
{
	return fb_check_power_of_two(complaint, params, FB_PARAM_sector_bytes) &&
	       fb_check_multiple(complaint, params, FB_PARAM_capacity_bytes) &&
	       fb_check_multiple(complaint, params, FB_PARAM_used_bytes) &&
	       fb_check_range(complaint, params, FB_PARAM_used_bytes, 0, params->capacity_bytes,
			      "no more than capacity_bytes");
}

bool fb_check_params(const struct fb_params *params, struct fb_complaint *complaint)
{
	u32 i;

	if (!fb_check_range(complaint, params, FB_PARAM_kind, 0, FB_KIND_COUNT - 1, NULL))
		return false;
	for (i = 0; i < FB_PARAM_COUNT; i++)
		if (rules[i].kinds & 1u << params->kind &&
		    !fb_check_range(complaint, params, i, rules[i].min, rules[i].max, NULL))
			return false;
	return fb_kind_ops(params)->check(params, complaint);
}

/* FNV-1a over the names and values of the kind's parameters, byte by byte, the lowest first */
static u64 add_byte(u64 digest, u8 byte)
{
	return (digest ^ byte) * 0x100000001b3ull;
}

u64 fb_params_digest(const struct fb_params *params)
{
	u64 digest = 0xcbf29ce484222325ull;
	const char *name;
	u32 i, byte;

	for (i = 0; i < FB_PARAM_COUNT; i++) {
		if (!(rules[i].kinds & 1u << params->kind))
			continue;
		for (name = rules[i].name; *name; name++)
			digest = add_byte(digest, *name);
		for (byte = 0; byte < 8; byte++)
			digest = add_byte(digest, params->by_index[i] >> 8 * byte);
	}
	return digest;
}
