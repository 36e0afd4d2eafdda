/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared declarations of the core. Callers (VFS glue, tests) hold one lock around each call and
 * see objects. Errors are negative errno values. A chunk is a page of the flash: `chunk` is its
 * number on the whole flash (block * chunks_per_block + page), `page` its number in its block, `k`
 * a chunk of a file.
 */
#ifndef Y2_YAFFS2_H
#define Y2_YAFFS2_H

#include "flash.h"
#include "header.h"
#include "index.h"
#include "tags.h"

#define Y2_RESERVED_BLOCKS 5u /* not available to users: work space of garbage collection */
#define Y2_CHECKPOINT_MIN_BLOCKS 60u	/* smaller devices are scanned */
#define Y2_NO_BLOCK		0xffffffffu
#define Y2_NO_CHUNK		0xffffffffu

enum y2_block_state {
	Y2_BLOCK_EMPTY,
	Y2_BLOCK_ALLOCATING,	/* receives the written chunks */
	Y2_BLOCK_FULL,		/* closed */
	Y2_BLOCK_DIRTY,		/* without live chunks */
	Y2_BLOCK_CHECKPOINT,
	Y2_BLOCK_DEAD,
};

struct y2_block {
	u32 seq;
	u16 live;		/* chunks in use */
	u16 written;		/* pages programmed since the erase, summary excluded */
	u8 state;
	/* holds headers that keep older, obsolete chunks from coming back */
	bool shrink_header:1;
	bool retire:1;		/* failed: empty it, then mark it bad */
	bool refresh:1;		/* bits had to be corrected: move its data soon */
	bool unmarked:1;	/* a mark failed: obsolete chunks may come back */
	bool needs_erase:1;		/* found empty by one page only: erase before use */
	bool last_torn:1;	/* a scan has met a note that its last page is torn */
	/* holds unreadable data: a copy would read as if it were right */
	bool unreadable:1;
};

struct y2_object {
	struct list_head in_hash;	/* by id */
	struct list_head siblings;	/* in the parent's children, by cookie */
	struct list_head in_names;	/* by parent and name; if loaded */
	/* a hard link: in its target's list; else the list of links to this */
	struct list_head links;
	struct list_head in_dirty;
	struct y2_object *parent;	/* NULL: unlinked */
	u64 cookie;			/* position in its directory, for readdir; never 0 */
	u32 id;
	u32 header;			/* its chunk; Y2_NO_CHUNK: none yet */
	u8 type;
	u8 serial;			/* of its header; pages of 512 bytes only */
	bool loaded:1;			/* the fields below have been read from the header */
	/* freed when refs becomes 0; without refs: when its tombstone has room */
	bool unlinked:1;
	bool tail_hidden:1; /* a file: nothing behind its end can come back when it grows */
	/* data follows its header: it is copied when the header is rewritten */
	bool extended:1;
	bool scan_seen:1;		/* a scan has met its newest header */
	/* its shrink header may be half done; pages of 512 bytes only */
	bool scan_shrunk:1;
	bool scan_deleted:1; /* a scan has met its tombstone: older chunks do not count */
	/* and chunks newer than that before: it needs another */
	bool scan_needs_tombstone:1;
	bool scan_shadowed:1; /* a header newer than all of it has taken its name */
	bool scan_linked:1;		/* and a link leads to it */
	bool scan_tail:1; /* its last chunk claims more than the file has */
	u32 refs;			/* VFS inodes in memory */
	u32 mode, uid, gid, atime, mtime, ctime, rdev;
	u32 name_hash;
	char *name, *alias;
	union {
		struct {
			struct y2_index index;
			u64 size;
			u64 scan_limit;	/* older chunks from here on do not count */
		};
		struct {
			struct list_head children;
			u32 unloaded;	/* children whose names are not loaded yet */
			/* where readdir goes on; NULL: from the first */
			struct y2_object *last_read;
			u64 next_cookie;
		};
		struct {
			struct y2_object *target;	/* of a hard link */
			u32 target_id;
		};
	};
};

struct y2_options {
	bool inband_tags;
	bool no_tags_ecc;
	bool no_checkpoint;		/* neither read nor written */
	bool no_checkpoint_read;
	bool no_checkpoint_write;
	bool no_summary;
	bool deferred_erase;		/* the collection erases blocks without live chunks */
	bool empty_lost_and_found;
	bool read_only;
};

struct y2_stats {
	u64 pages_read, pages_written, pages_marked, blocks_erased; /* all flash operations */
	u64 user_chunks, header_chunks;			/* written on request */
	u64 gc_copies, gc_blocks, passive_gc, aggressive_gc, forced_gc;
	u64 summaries_used, blocks_scanned, checkpoint_mounts, checkpoints_written;
	u64 bits_fixed, chunks_lost, retired_blocks, write_retries, erase_intents;
};

struct y2_fs {
	struct y2_geometry geometry;
	const struct y2_flash_ops *ops;
	void *flash;
	struct y2_options options;
	struct y2_stats stats;
	u32 (*now)(void);		/* seconds since 1970 */

	bool yaffs1;			/* pages of 512 bytes: as YAFFS1, see scan_yaffs1.c */
	u32 chunk_max;
	u32 chunk_bytes;		/* data bytes of a page */
	u32 summary_chunks;		/* at the end of a full block */
	u32 data_chunks;		/* of a block, without the summary */

	struct y2_block *blocks;
	unsigned long *live;		/* a bitmap: a bit a chunk */
	u32 seq;			/* of the newest block */
	u32 alloc_block;		/* Y2_NO_BLOCK: none */
	u32 last_alloc;			/* the search for an empty block continues behind it */
	u32 empty_blocks, good_blocks, checkpoint_blocks, live_chunks;
	/* a full block with a last page that a scan takes for torn; Y2_NO_BLOCK: none */
	u32 torn_full;
	u32 torn_newest; /* the newest block, if its last page is torn; else Y2_NO_BLOCK */
	bool mark_failed;		/* a block is unmarked */
	bool unmarked; /* a read-only mount has found obsolete chunks */
	bool failed;			/* read-only until the next mount, see block.c */
	u32 reserved; /* chunks that the caller has reserved for later writes */
	u8 *summary;			/* of alloc_block */

	struct list_head *by_id, *by_name;
	u32 hash_mask;
	u32 objects, leaves, next_id;
	struct list_head dirty;		/* objects with an outdated header */
	struct y2_object *root, *lost_and_found;

	u32 gc_block, gc_page;		/* the block being collected; Y2_NO_BLOCK: none */
	u32 gc_sample;			/* where the next sampling starts */
	u32 erased_since_forced;	/* blocks */
	u32 gc_misses;			/* consecutive searches for a victim without success */
	bool gc_running;
	bool gc_prioritised; /* blocks may have to be emptied or refreshed: retire, refresh */

	bool checkpoint_valid;		/* the one on flash is current */
	u8 *page, *page2; /* buffers of a chunk: for all of the core, and for flash.c */
	u8 *cached; /* the last chunk read in part: the next read may need the rest */
	u32 cached_chunk;		/* Y2_NO_CHUNK: none */
	u8 *oob;
};

/* flash.c: pages with tags */
int y2_chunk_read(struct y2_fs *fs, u32 chunk, u8 *data, struct y2_tags *tags);
int y2_chunk_write(struct y2_fs *fs, u32 chunk, const u8 *data, const struct y2_tags *tags);
bool y2_chunk_swapped(struct y2_fs *fs, struct y2_tags *tags);
void y2_chunk_mark(struct y2_fs *fs, u32 chunk);
u8 y2_serial_after(struct y2_fs *fs, u32 chunk);

/* block.c: states of blocks and which chunks live */
int y2_blocks_init(struct y2_fs *fs);
size_t y2_live_bytes(const struct y2_fs *fs);	/* of the bitmap */
bool y2_block_goes_at_once(const struct y2_fs *fs, u32 block);
int y2_block_erase(struct y2_fs *fs, u32 block);
u32 y2_block_find_empty(struct y2_fs *fs, u32 after);
bool y2_chunk_is_live(const struct y2_fs *fs, u32 chunk);
void y2_chunk_live(struct y2_fs *fs, u32 chunk);
void y2_chunk_obsolete(struct y2_fs *fs, u32 chunk);
u32 y2_chunks_free(const struct y2_fs *fs);	/* for users, without all reserves */

/* append.c: the head of the log */
enum y2_urgency { Y2_USER, Y2_CRITICAL };	/* critical: may take the last block */
int y2_append(struct y2_fs *fs, const u8 *data, struct y2_tags *tags, enum y2_urgency urgency,
	      u32 *chunk);
void y2_append_close(struct y2_fs *fs);

/* summary.c */
void y2_summary_note(struct y2_fs *fs, u32 page, const struct y2_tags *tags);
void y2_summary_write(struct y2_fs *fs, u32 block);
bool y2_summary_read(struct y2_fs *fs, u32 block, u32 seq);	/* to fs->summary */

/* object.c */
struct y2_object *y2_object_find(struct y2_fs *fs, u32 id);
struct y2_object *y2_object_new(struct y2_fs *fs, u32 id, u8 type);
void y2_object_set_type(struct y2_object *obj, u8 type);
void y2_object_free(struct y2_fs *fs, struct y2_object *obj);
u32 y2_object_new_id(struct y2_fs *fs);
int y2_object_load(struct y2_fs *fs, struct y2_object *obj);
int y2_object_fill(struct y2_fs *fs, struct y2_object *obj, const struct y2_header *header);
/* the target of a hard link, or itself */
struct y2_object *y2_object_resolve(struct y2_object *obj);
u32 y2_object_links(const struct y2_object *obj);
/* True if another object has taken its name in a power failure; it takes that of a link */
static inline bool y2_object_needs_name(const struct y2_object *obj)
{
	return obj->unlinked && !list_empty(&obj->links);
}

struct y2_object *y2_object_owner(struct y2_fs *fs, u32 chunk, u32 *k);

/* object_header.c */
struct y2_header_change {
	bool shrink;
	u32 shadows;
	enum y2_urgency urgency;
};

int y2_header_write(struct y2_fs *fs, struct y2_object *obj, const struct y2_header_change *change);
int y2_tombstone_write(struct y2_fs *fs, struct y2_object *obj);
void y2_mark_dirty(struct y2_fs *fs, struct y2_object *obj);
int y2_flush(struct y2_fs *fs, struct y2_object *obj);

/* dir.c */
struct y2_entry {
	u64 cookie;
	u32 id;		/* of the object, links resolved */
	u32 mode;
	char name[Y2_NAME_MAX + 1];
};

int y2_dir_load(struct y2_fs *fs, struct y2_object *dir);
struct y2_dir_pos {
	struct y2_object *dir;
	u64 cookie;
	struct list_head *next;		/* of the list of children */
};

struct y2_dir_pos y2_dir_pos_last(struct y2_object *dir);
struct y2_dir_pos y2_dir_pos_of(struct y2_object *obj);
void y2_dir_add(struct y2_fs *fs, struct y2_object *obj, const struct y2_dir_pos *pos);
void y2_dir_add_last(struct y2_fs *fs, struct y2_object *dir, struct y2_object *obj);
void y2_dir_remove(struct y2_fs *fs, struct y2_object *obj);
int y2_dir_name(struct y2_fs *fs, struct y2_object *obj, const char *name, u32 length);
int y2_lookup(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 length,
	      struct y2_object **obj);
/* Stores entries with a cookie of at least from; returns their number */
int y2_readdir(struct y2_fs *fs, struct y2_object *dir, u64 from, struct y2_entry *entries,
	       u32 max);

/* namei.c: what changes names */
struct y2_new {
	u32 mode, uid, gid, rdev;
	const char *alias;
};

int y2_create(struct y2_fs *fs, struct y2_object *dir, const char *name, u32 length,
	      const struct y2_new *how, struct y2_object **obj);
int y2_link(struct y2_fs *fs, struct y2_object *target, struct y2_object *dir, const char *name,
	    u32 length);
int y2_unlink(struct y2_fs *fs, struct y2_object *entry);
int y2_rename(struct y2_fs *fs, struct y2_object *entry, struct y2_object *dir, const char *name,
	      u32 length);
void y2_object_put(struct y2_fs *fs, struct y2_object *obj);	/* drops a ref */
int y2_drop_unlinked(struct y2_fs *fs, struct y2_object *obj);
int y2_promote_link(struct y2_fs *fs, struct y2_object *obj);

/* file.c */
int y2_read(struct y2_fs *fs, struct y2_object *obj, u64 offset, u8 *to, u32 length);
/* Returns the number of bytes written, if any; from must not be in the buffers of fs */
int y2_write(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from, u32 length);
/* y2_write() with chunks that the caller has reserved; the reservation is used up */
int y2_write_reserved(struct y2_fs *fs, struct y2_object *obj, u64 offset, const u8 *from,
		      u32 length, u32 chunks);
int y2_resize(struct y2_fs *fs, struct y2_object *obj, u64 size);
void y2_file_drop_chunks(struct y2_fs *fs, struct y2_object *obj, u32 first);
int y2_file_end_shrink(struct y2_fs *fs, struct y2_object *obj);
int y2_file_rewrite_last(struct y2_fs *fs, struct y2_object *obj);
u64 y2_file_max(const struct y2_fs *fs);

/* gc.c, gc_victim.c: garbage collection */
int y2_gc_make_room(struct y2_fs *fs, u32 chunks);
int y2_gc_background(struct y2_fs *fs);	/* one small step; 0: nothing to do, 1: call again */
int y2_gc_block(struct y2_fs *fs, u32 block);
int y2_gc_unmarked(struct y2_fs *fs);
/*
 * The note lives until the caller makes its chunk obsolete: a block without live chunks is erased
 * at once
 */
int y2_note_write(struct y2_fs *fs, enum y2_note kind, u32 block, u32 *chunk);
u32 y2_gc_victim_best(struct y2_fs *fs);
u32 y2_gc_victim_sampled(struct y2_fs *fs);
u32 y2_gc_victim_prioritised(struct y2_fs *fs);
u32 y2_gc_victim_oldest(struct y2_fs *fs);
bool y2_gc_may_erase(struct y2_fs *fs, u32 block);
u32 y2_gc_oldest_dirty(struct y2_fs *fs);

/* scan.c */
int y2_scan(struct y2_fs *fs);

/* checkpoint.c, checkpoint_stream.c, checkpoint_state.c */
int y2_checkpoint_read(struct y2_fs *fs);
int y2_checkpoint_write(struct y2_fs *fs);
int y2_checkpoint_invalidate(struct y2_fs *fs);
u32 y2_checkpoint_blocks_needed(const struct y2_fs *fs);

/* mount.c */
int y2_mount(struct y2_fs **fs, const struct y2_geometry *geometry, const struct y2_flash_ops *ops,
	     void *flash, const struct y2_options *options, u32 (*now)(void));
int y2_sync(struct y2_fs *fs, bool checkpoint);
int y2_set_read_only(struct y2_fs *fs, bool read_only);
int y2_unmount(struct y2_fs *fs);
void y2_abandon(struct y2_fs *fs);	/* frees memory; writes nothing */
u64 y2_free_bytes(const struct y2_fs *fs);

/* verify.c: checks the state in memory and prints contradictions. For tests */
int y2_verify(struct y2_fs *fs);

#endif
