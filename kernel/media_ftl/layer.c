// SPDX-License-Identifier: GPL-2.0-only
/* The layer: start and stop; reads, writes and discards of a page */
#include "block_pool.h"
#include "layer.h"
#include "restart.h"
#include "soft_nand.h"

#define GC_RESERVE	4
#define OPEN_BLOCKS		2

/* More than a write can use, with the merges that it causes */
#define SEQUENCE_RESERVE	(1u << 21)

/* The core's defaults, and a die with the flash's geometry and zero times */
static void flash_params(const struct sftl_flash *flash, const struct sftl_config *config,
			 struct fb_params *p)
{
	u32 i;

	for (i = 0; i < FB_PARAM_COUNT; i++) {
		u64 fallback = fb_param_rule(i)->fallback;

		p->by_index[i] = fallback == FB_NO_DEFAULT ? 0 : fallback;
	}
	p->kind = FB_FLASH;
	p->queue_depth = 1;
	p->page_bytes = flash->page_bytes;
	p->pages_per_block = flash->pages_per_block;
	p->dies = 1;
	p->channels = 1;
	p->ftl = config->ftl;
	p->open_blocks = OPEN_BLOCKS;
	p->gc_reserve_blocks = GC_RESERVE;
	p->log_blocks = config->ftl == FB_FTL_PAGE ? 0 : config->log_blocks;
}

/* -EINVAL: the core refuses the parameters, or a tag cannot hold so many pages */
static int check_params(const struct fb_params *p)
{
	struct fb_complaint complaint;

	if (p->capacity_bytes / p->page_bytes > SFTL_MAX_PAGES || !fb_check_params(p, &complaint))
		return -EINVAL;
	return 0;
}

static int choose_params(const struct sftl_flash *flash, const struct sftl_config *config,
			 struct fb_params *p)
{
	u64 block_bytes = (u64)flash->pages_per_block * flash->page_bytes;
	u64 blocks, kept;

	if (config->spare_percent > 99)
		return -EINVAL;
	blocks = flash->blocks - (flash->blocks * config->spare_percent + 99) / 100;
	flash_params(flash, config, p);
	p->blocks_per_die = blocks;
	if (config->ftl == FB_FTL_PAGE)
		kept = GC_RESERVE + OPEN_BLOCKS + blocks * config->over_provisioning_percent / 100;
	else
		kept = config->log_blocks + 1;
	if (blocks <= kept)
		return -EINVAL;
	p->capacity_bytes = (blocks - kept) * block_bytes;
	return check_params(p);
}

static void *part(u8 *memory, size_t *end, size_t bytes)
{
	size_t begin = *end;

	*end = (begin + bytes + 63) / 64 * 64;
	return memory ? memory + begin : NULL;
}

/*
 * Places the parts of a layer one behind the other; returns their total size. Without memory it
 * only adds up the sizes.
 */
static size_t lay_out(struct sftl *layer, u8 *memory, const struct sftl_flash *flash,
		      const struct fb_params *p)
{
	size_t end = SFTL_HEADER_BYTES;

	layer->medium = part(memory, &end, fb_array_state_bytes(p, &sftl_array));
	layer->physical = part(memory, &end, p->blocks_per_die * sizeof(u32));
	layer->unclean = part(memory, &end, flash->blocks);
	layer->spares = part(memory, &end, flash->blocks * sizeof(u32));
	layer->rescue = part(memory, &end, flash->page_bytes);
	layer->held_data = part(memory, &end, SFTL_HELD_PAGES * (size_t)flash->page_bytes);
	return end;
}

int sftl_start(const struct sftl_flash *flash, const struct sftl_config *config,
	       struct sftl **layer)
{
	struct sftl counted;
	struct fb_params params;
	struct sftl *l;
	size_t bytes;
	int err = choose_params(flash, config, &params);

	if (err)
		return err;
	bytes = lay_out(&counted, NULL, flash, &params);
	l = flash->allocate(bytes);
	if (!l)
		return -ENOMEM;
	lay_out(l, (u8 *)l, flash, &params);
	l->flash = *flash;
	l->bytes = bytes;
	l->block_count = params.blocks_per_die;
	if (fb_array_init(l->medium, fb_array_state_bytes(&params, &sftl_array), &params,
			  &sftl_array))
		err = -EINVAL;
	if (!err)
		err = sftl_restart(l);
	if (err)
		flash->release(l);
	else
		*layer = l;
	return err;
}

void sftl_stop(struct sftl *l)
{
	l->flash.release(l);
}

u32 sftl_pages(const struct sftl *l)
{
	const struct fb_params *p = fb_medium_params(l->medium);

	return p->capacity_bytes / p->page_bytes;
}

static const struct fb_ftl *core_layer(const struct sftl *l)
{
	return fb_ftl(fb_medium_params(l->medium));
}

int sftl_read(struct sftl *l, u32 page, void *data)
{
	if (l->broken)
		return -EIO;
	if (!core_layer(l)->mapped(l->medium, page)) {
		memset(data, 0, l->flash.page_bytes);
		return 0;
	}
	l->error = 0;
	l->host_page = page;
	l->host_buffer = data;
	core_layer(l)->read(l->medium, page, l->flash.page_bytes, 0);
	l->host_buffer = NULL;
	return l->error;
}

static bool read_only(const struct sftl *l)
{
	return l->broken || !l->spare_count || l->sequence > SFTL_LAST_SEQUENCE - SEQUENCE_RESERVE;
}

int sftl_write(struct sftl *l, u32 page, const void *data)
{
	if (read_only(l))
		return -EROFS;
	l->error = 0;
	l->host_page = page;
	l->host_data = data;
	core_layer(l)->write(l->medium, page, 0);
	l->host_data = NULL;
	return l->error;
}

void sftl_discard(struct sftl *l, u32 first, u32 end)
{
	if (fb_medium_params(l->medium)->ftl == FB_FTL_PAGE && !read_only(l))
		core_layer(l)->discard(l->medium, first, end);
}
