// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The public interface of a medium; its kind computes the cost of a request */
#include "arith.h"
#include "kind.h"
#include "nand_faults.h"
#include "state.h"

static u64 parts_offset(const struct fb_params *params, u64 *end_offset)
{
	*end_offset = 0;
	fb_add_table(end_offset, sizeof(struct fb_medium));
	return fb_power_layout(params, end_offset);
}

u64 fb_common_bytes(const struct fb_params *params)
{
	u64 end_offset;

	parts_offset(params, &end_offset);
	return end_offset;
}

size_t fb_state_bytes(const struct fb_params *params)
{
	struct fb_complaint complaint;

	return fb_check_params(params, &complaint) ? fb_kind_ops(params)->state_bytes(params) : 0;
}

void fb_begin_state(struct fb_medium *m, const struct fb_params *params, size_t state_bytes)
{
	u64 end_offset;
	u32 i;

	m->version = FB_STATE_VERSION;
	m->param_count = FB_PARAM_COUNT;
	m->counter_count = FB_COUNTER_COUNT;
	m->state_bytes = state_bytes;
	for (i = 0; i < FB_PARAM_COUNT; i++)
		if (fb_param_rule(i)->kinds & 1u << params->kind)
			m->params.by_index[i] = params->by_index[i];
	fb_power_init(m, parts_offset(&m->params, &end_offset));
}

enum fb_error fb_init(void *memory, size_t bytes, const struct fb_params *params)
{
	struct fb_medium *m = memory;
	size_t state_bytes = fb_state_bytes(params);

	if (!state_bytes)
		return FB_BAD_PARAMETER;
	if (bytes < state_bytes)
		return FB_TRUNCATED;
	fb_begin_state(m, params, state_bytes);
	if (fb_kind_ops(params)->init)
		fb_kind_ops(params)->init(m);
	m->magic = FB_STATE_MAGIC;
	return FB_OK;
}

static bool undamaged(const struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	u64 end_offset;

	return m->state_bytes == fb_state_bytes(&m->params) &&
	       fb_power_undamaged(m, parts_offset(&m->params, &end_offset)) &&
	       (!kind->undamaged || kind->undamaged(m));
}

enum fb_error fb_open(void *memory, size_t bytes, struct fb_medium **medium)
{
	struct fb_medium *m = memory;
	struct fb_complaint complaint;

	if (bytes < sizeof(m->magic) || m->magic != FB_STATE_MAGIC)
		return FB_NOT_A_STATE;
	if (bytes < offsetof(struct fb_medium, params))
		return FB_TRUNCATED;
	if (m->version != FB_STATE_VERSION || m->param_count != FB_PARAM_COUNT || m->counter_count != FB_COUNTER_COUNT)
		return FB_OTHER_VERSION;
	if (bytes < sizeof(*m) || bytes < m->state_bytes)
		return FB_TRUNCATED;
	if (!fb_check_params(&m->params, &complaint))
		return FB_BAD_PARAMETER;
	if (!undamaged(m))
		return FB_DAMAGED;
	*medium = m;
	return FB_OK;
}

/* After a cut, the firmware recovers before it serves any request */
static void restart(struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	u64 took_ns = kind->restart ? kind->restart(m) : 0;

	m->controller_free_ns = took_ns;
	m->counters.restarts++;
	m->counters.restart_ns += took_ns;
	m->power.cut = 0;
	m->power.half_erased = 0;
}

void fb_power_on(struct fb_medium *m)
{
	m->age_ns += m->now_ns;
	m->now_ns = 0;
	m->controller_free_ns = 0;
	m->busy_until_ns = 0;
	m->durable_ns = 0;
	m->link.count = 0;
	fb_power_forget(m);
	if (fb_kind_ops(&m->params)->power_on)
		fb_kind_ops(&m->params)->power_on(m);
	if (m->power.cut)
		restart(m);
}

/* A kind without sectors accepts none: sector_bytes is 0 */
static bool acceptable(const struct fb_medium *m, const struct fb_kind_ops *kind, const struct fb_request *request)
{
	u64 capacity_bytes = m->params.capacity_bytes;
	u64 within_sector = m->params.sector_bytes - 1;

	switch (request->op) {
	case FB_FLUSH:
		return kind->submit;
	case FB_READ:
	case FB_WRITE:
	case FB_DISCARD:
		return request->length_bytes &&
		       request->length_bytes <= capacity_bytes &&
		       request->offset_bytes <= capacity_bytes - request->length_bytes &&
		       !((request->offset_bytes | request->length_bytes) & within_sector);
	}
	return false;
}

static void count(struct fb_counters *counters, const struct fb_request *request)
{
	switch (request->op) {
	case FB_READ:
		counters->host_reads++;
		counters->host_read_bytes += request->length_bytes;
		break;
	case FB_WRITE:
		counters->host_writes++;
		counters->host_written_bytes += request->length_bytes;
		counters->host_fua_writes += request->fua;
		break;
	case FB_DISCARD:
		counters->host_discards++;
		counters->host_discarded_bytes += request->length_bytes;
		break;
	case FB_FLUSH:
		counters->host_flushes++;
		break;
	}
}

u64 fb_link_take(struct fb_medium *m, u64 ready_ns, u64 bytes)
{
	u64 length_ns = fb_transfer_ns(bytes, m->params.link_ps_per_byte);

	m->counters.link_ns += length_ns;
	return fb_timeline_take(&m->link, m->now_ns, ready_ns, length_ns);
}

/* The time at which the medium accepts the request: now_ns, unless a write has to wait for room */
static u64 take_up(struct fb_medium *m, const struct fb_request *request, u64 now_ns)
{
	if (request->op == FB_WRITE)
		return fb_power_begin_write(m, request->length_bytes, now_ns);
	if (m->power.unreadable_sectors && request->op == FB_READ &&
	    fb_unreadable(m, request->offset_bytes, request->length_bytes))
		m->outcome = FB_UNCORRECTABLE;
	return now_ns;
}

/* Each moment counts once, regardless of how many requests are under way */
static void count_busy(struct fb_medium *m, u64 now_ns, u64 done_ns)
{
	u64 begin_ns = fb_max(now_ns, m->busy_until_ns);

	if (done_ns <= begin_ns)
		return;
	m->counters.busy_ns += done_ns - begin_ns;
	m->busy_until_ns = done_ns;
}

u64 fb_submit(struct fb_medium *m, const struct fb_request *request, u64 now_ns)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	u64 done_ns;

	m->outcome = FB_DONE;
	if (!acceptable(m, kind, request))
		return FB_NEVER;
	count(&m->counters, request);
	m->now_ns = take_up(m, request, now_ns);
	done_ns = kind->submit(m, request);
	count_busy(m, now_ns, done_ns);
	return done_ns;
}

u64 fb_rest(struct fb_medium *m, u64 now_ns)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);

	m->now_ns = now_ns;
	return kind->rest ? fb_max(now_ns, kind->rest(m)) : now_ns;
}

enum fb_outcome fb_last_outcome(const struct fb_medium *m)
{
	return m->outcome;
}

bool fb_read_only(const struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);

	return kind->read_only && kind->read_only(m);
}

void fb_age(struct fb_medium *m, u64 days)
{
	const u64 oldest_ns = (u64)FB_MAX_AGE_DAYS * 24 * FB_HOUR_NS;

	m->age_ns = fb_min(m->age_ns + fb_min(days, FB_MAX_AGE_DAYS) * 24 * FB_HOUR_NS, oldest_ns);
}

u64 fb_age_ns(const struct fb_medium *m)
{
	return m->age_ns + m->now_ns;
}

/* Reads need only the first step */
void fb_prefetch(const struct fb_medium *m, const struct fb_request *request, u32 step)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);

	if (kind->prefetch && (request->op == FB_WRITE || (request->op == FB_READ && !step)) &&
	    request->offset_bytes < m->params.capacity_bytes)
		kind->prefetch(m, request, step);
}

const struct fb_params *fb_medium_params(const struct fb_medium *m)
{
	return &m->params;
}

const struct fb_counters *fb_medium_counters(const struct fb_medium *m)
{
	return &m->counters;
}

struct fb_wear fb_medium_wear(const struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);

	return kind->wear ? kind->wear(m) : (struct fb_wear) { 0 };
}

u64 fb_blocks(const struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);

	return kind->blocks ? kind->blocks(m) : 0;
}

u32 fb_block_erases(const struct fb_medium *m, u64 block)
{
	return fb_kind_ops(&m->params)->block_erases(m, block);
}

const char *fb_verify(const struct fb_medium *m)
{
	const struct fb_kind_ops *kind = fb_kind_ops(&m->params);
	const char *fault = fb_power_verify(m);

	return fault || !kind->verify ? fault : kind->verify(m);
}

const char *fb_error_text(enum fb_error error)
{
	switch (error) {
	case FB_OK:
		return "no error";
	case FB_NOT_A_STATE:
		return "not a medium's state (no magic)";
	case FB_OTHER_VERSION:
		return "made by another version of the media core";
	case FB_TRUNCATED:
		return "truncated: smaller than the medium it describes";
	case FB_BAD_PARAMETER:
		return "a parameter is out of its range";
	case FB_DAMAGED:
		return "damaged: header and parameters contradict each other";
	}
	return "unknown error";
}
