// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A power cut during a replay: its time and its effects */
#include "outage.h"
#include "random.h"

bool outage_wanted(const struct outage *outage)
{
	return outage->at_request || outage->after_ns != FB_NEVER;
}

/* A stream separate from the core's, which draws from the seed itself */
u64 outage_moment(const struct outage *outage, u64 now_ns, u64 done_ns)
{
	u64 random = ~outage->seed;

	return now_ns + fb_splitmix(&random) % (done_ns - now_ns + 1);
}

struct telling {
	struct outage_told *told;
	u64 torn_before;	/* 1 + sequence of the last torn part, which is reported in pieces */
};

static void tell(void *context, const struct fb_fated *fated)
{
	struct telling *t = context;

	t->told->bytes[fated->fate] += fated->length_bytes;
	if (fated->torn && t->torn_before != fated->sequence + 1) {
		t->torn_before = fated->sequence + 1;
		t->told->torn++;
	}
}

void outage_happens(struct fb_medium *medium, const struct outage *outage, u64 cut_ns, struct outage_told *told)
{
	struct telling telling = { .told = told };

	told->happened = true;
	told->cut_ns = cut_ns;
	fb_cut(medium, cut_ns, outage->seed, tell, &telling);
}
