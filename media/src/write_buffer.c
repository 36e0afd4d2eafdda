// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The write buffer of a flash device: the pages that have arrived, and when each is programmed */
#include "arith.h"
#include "state.h"

void fb_buffer_lay_out(const struct fb_params *p, struct fb_write_buffer *buffer, u64 *end_offset)
{
	buffer->pages = p->write_buffer_bytes / p->page_bytes;
	if (buffer->pages)
		buffer->by_pages = fb_divisor(buffer->pages);
	buffer->offset = fb_add_table(end_offset, buffer->pages * sizeof(struct fb_buffered));
}

static struct fb_buffered *entry(const struct fb_medium *m, u64 number)
{
	const struct fb_write_buffer *buffer = &m->flash.buffer;

	return (struct fb_buffered *)fb_table(m, buffer->offset) + fb_remainder(&buffer->by_pages, number);
}

void fb_buffer_power_on(struct fb_medium *m)
{
	u64 i;

	for (i = 0; i < m->flash.buffer.pages; i++)
		*entry(m, i) = (struct fb_buffered) { 0 };
}

u64 fb_buffer_room_ns(const struct fb_medium *m, u64 ready_ns)
{
	if (!m->flash.buffer.pages)
		return ready_ns;
	return fb_max(ready_ns, entry(m, m->flash.buffer.next)->programmed_ns);
}

u64 fb_buffer_put(struct fb_medium *m, u64 page, u64 arrived_ns, u64 programmed_ns)
{
	struct fb_buffered *found;

	if (!m->flash.buffer.pages)
		return programmed_ns;
	entry(m, m->flash.buffer.next++)->programmed_ns = programmed_ns;
	found = entry(m, page);
	found->found_page = page;
	found->found_ns = programmed_ns;
	return arrived_ns;
}

bool fb_buffer_holds(const struct fb_medium *m, u64 page)
{
	const struct fb_buffered *found;

	if (!m->flash.buffer.pages)
		return false;
	found = entry(m, page);
	return found->found_page == page && found->found_ns > m->now_ns;
}
