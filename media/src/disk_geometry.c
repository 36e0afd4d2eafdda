// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where a sector lies on the platters, and when it passes under the head */
#include "disk_geometry.h"

#define MINUTE_NS 60000000000ull

static u32 first_cylinder(const struct fb_params *p, u64 zone)
{
	return zone * p->cylinders / p->zones;
}

static u32 sectors_per_track(const struct fb_params *p, u64 zone)
{
	u64 difference = p->outer_sectors_per_track - p->inner_sectors_per_track;

	return p->zones == 1 ? p->outer_sectors_per_track :
			       p->outer_sectors_per_track - difference * zone / (p->zones - 1);
}

void fb_geometry_init(struct fb_geometry *g, const struct fb_params *p)
{
	u64 zone;

	g->revolution_ns = MINUTE_NS / p->rpm;
	g->head_skew_ns = p->head_switch_ns + p->write_settle_ns;
	g->cylinder_skew_ns = ((p->heads - 1) * g->head_skew_ns + p->seek_track_ns + p->write_settle_ns) %
			      g->revolution_ns;
	g->zones = p->zones;
	g->sectors = 0;
	for (zone = 0; zone < p->zones; zone++) {
		struct fb_zone *z = &g->zone[zone];
		u64 tracks = (first_cylinder(p, zone + 1) - first_cylinder(p, zone)) * p->heads;

		z->first_sector = g->sectors;
		z->first_cylinder = first_cylinder(p, zone);
		z->sectors_per_track = sectors_per_track(p, zone);
		g->sectors += tracks * z->sectors_per_track;
	}
}

static const struct fb_zone *zone_of(const struct fb_geometry *g, u64 sector)
{
	u32 low = 0, high = g->zones;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (g->zone[middle].first_sector > sector)
			high = middle;
		else
			low = middle;
	}
	return &g->zone[low];
}

struct fb_place fb_geometry_locate(const struct fb_geometry *g, const struct fb_params *p, u64 sector)
{
	const struct fb_zone *z = zone_of(g, sector);
	u64 in_zone = sector - z->first_sector;
	u64 track = in_zone / z->sectors_per_track;

	return (struct fb_place) {
		.track.cylinder = z->first_cylinder + track / p->heads,
		.track.head = track % p->heads,
		.sector = in_zone % z->sectors_per_track,
		.sectors_per_track = z->sectors_per_track,
	};
}

u64 fb_geometry_angle_ns(const struct fb_geometry *g, const struct fb_place *place)
{
	u64 skew_ns = place->track.cylinder * g->cylinder_skew_ns + place->track.head * g->head_skew_ns;

	return (skew_ns + place->sector * g->revolution_ns / place->sectors_per_track) % g->revolution_ns;
}

u64 fb_geometry_pass_ns(const struct fb_geometry *g, const struct fb_place *place, u64 sectors)
{
	return (place->sector + sectors) * g->revolution_ns / place->sectors_per_track -
	       place->sector * g->revolution_ns / place->sectors_per_track;
}
