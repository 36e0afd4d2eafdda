/* SPDX-License-Identifier: GPL-2.0-only */
/* The oracle: a tree in memory, changed by the same operations as the file system and compared with it. */
#ifndef Y2_MODEL_H
#define Y2_MODEL_H

#include "test.h"

#define MODEL_NODES	96
#define MODEL_NAMES	12	/* in a directory: "n0" to "n11" */

struct node {
	bool used, is_dir;
	u32 mode;
	u32 links;
	u8 *data;
	u64 size;
	int child[MODEL_NAMES];	/* of a directory: node number, or -1 */
	char target[24];	/* of a symbolic link */
	u32 rdev;
};

struct model {
	struct node nodes[MODEL_NODES];
};

struct model *model_new(void);
struct model *model_copy(const struct model *model);
void model_free(struct model *model);
int model_new_node(struct model *model, u32 mode);
void model_drop_link(struct model *model, int node);
void model_resize(struct node *node, u64 size);

/* NULL: the same; else what differs. The node loose may have, in each chunk, what it has in either model */
const char *model_compare(struct y2_fs *fs, const struct model *model, const struct model *other, int loose);
void model_take_data(struct y2_fs *fs, struct model *model, int node, struct y2_object *obj);
/* The object of a node; NULL: it has no name. The first name found */
struct y2_object *model_find(struct y2_fs *fs, const struct model *model, int node);
void model_name(char *name, int number);

#endif
