// SPDX-License-Identifier: GPL-2.0-only
/* The tree of an image: walks a directory, names sorted, so that the same directory gives the same image. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "mkyaffs2_image.h"

/* A file with several names that has been written under one of them */
struct seen {
	dev_t device;
	ino_t inode;
	u32 object;
	struct seen *next;
};

struct walk {
	struct image *image;
	bool all_root;
	u32 next_object;
	struct seen *seen;
};

static u32 seen_as(struct walk *walk, const struct stat *is, u32 object)
{
	struct seen *seen;

	for (seen = walk->seen; seen; seen = seen->next)
		if (seen->device == is->st_dev && seen->inode == is->st_ino)
			return seen->object;
	seen = malloc(sizeof(*seen));
	if (!seen)
		die("no memory");
	*seen = (struct seen) { is->st_dev, is->st_ino, object, walk->seen };
	walk->seen = seen;
	return object;
}

static u8 type_of(mode_t mode)
{
	return S_ISREG(mode) ? Y2_FILE : S_ISDIR(mode) ? Y2_DIRECTORY : S_ISLNK(mode) ? Y2_SYMLINK : Y2_SPECIAL;
}

/* As Linux packs a device number into 32 bits, which is how it lies on flash */
static u32 device_number(dev_t device)
{
	return (minor(device) & 0xff) | major(device) << 8 | (minor(device) & ~0xffu) << 12;
}

static void describe(const struct walk *walk, const struct stat *is, u32 parent, const char *name,
		     struct y2_header *header)
{
	memset(header, 0, sizeof(*header));
	if (strlen(name) > Y2_NAME_MAX)
		die("name too long: %s", name);
	strcpy(header->name, name);
	header->type = type_of(is->st_mode);
	header->parent = parent;
	header->mode = is->st_mode;
	header->uid = walk->all_root ? 0 : is->st_uid;
	header->gid = walk->all_root ? 0 : is->st_gid;
	header->atime = (u32)is->st_atime;
	header->mtime = (u32)is->st_mtime;
	header->ctime = (u32)is->st_ctime;
	if (header->type == Y2_FILE)
		header->size = (u64)is->st_size;
	if (S_ISCHR(is->st_mode) || S_ISBLK(is->st_mode))
		header->rdev = device_number(is->st_rdev);
}

/* Chunks of zeros stay: unyaffs and others take the chunks of a file as they come, without holes */
static void put_file(struct walk *walk, u32 object, const char *path, u64 size)
{
	FILE *file = fopen(path, "rb");
	u8 *data = malloc(walk->image->chunk_bytes);
	u32 k = 0;

	if (!file || !data)
		die("cannot read %s: %s", path, strerror(errno));
	if (size > (u64)walk->image->chunk_max * walk->image->chunk_bytes)
		die("%s is longer than %u pages", path, walk->image->chunk_max);
	for (u64 left = size; left;) {
		u32 bytes = left < walk->image->chunk_bytes ? (u32)left : walk->image->chunk_bytes;

		if (fread(data, bytes, 1, file) != 1)
			die("%s got shorter while it was read", path);
		image_data(walk->image, object, ++k, data, bytes);
		left -= bytes;
	}
	free(data);
	fclose(file);
}

static void put_directory(struct walk *walk, u32 object, const char *path);

static void put_entry(struct walk *walk, u32 parent, const char *directory, const char *name)
{
	u32 object = walk->next_object++, first;
	struct y2_header header;
	struct stat is;
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		die("no memory");
	if (lstat(path, &is))
		die("cannot read %s: %s", path, strerror(errno));
	describe(walk, &is, parent, name, &header);
	first = !S_ISDIR(is.st_mode) && is.st_nlink > 1 ? seen_as(walk, &is, object) : object;
	if (first != object) {
		header.type = Y2_HARDLINK;
		header.equivalent = first;
		header.size = 0;
	} else if (header.type == Y2_SYMLINK) {
		ssize_t length = readlink(path, header.alias, sizeof(header.alias));

		if (length < 0 || length > (ssize_t)Y2_ALIAS_MAX)
			die("target of %s is longer than %u", path, Y2_ALIAS_MAX);
		header.alias[length] = 0;
	}
	if (object > Y2_ID_NEW_MAX)
		die("more than %u objects", Y2_ID_NEW_MAX - Y2_ID_FIRST_FREE);
	image_header(walk->image, object, &header);
	if (header.type == Y2_FILE)
		put_file(walk, object, path, header.size);
	else if (header.type == Y2_DIRECTORY)
		put_directory(walk, object, path);
	free(path);
}

static void put_directory(struct walk *walk, u32 object, const char *path)
{
	struct dirent **names;
	int count = scandir(path, &names, NULL, alphasort);

	if (count < 0)
		die("cannot read %s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (strcmp(names[i]->d_name, ".") && strcmp(names[i]->d_name, ".."))
			put_entry(walk, object, path, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

void image_tree(struct image *image, const char *directory, bool all_root)
{
	struct walk walk = { .image = image, .all_root = all_root, .next_object = Y2_ID_FIRST_FREE };
	struct y2_header header;
	struct stat is;

	if (stat(directory, &is) || !S_ISDIR(is.st_mode))
		die("%s is no directory", directory);
	describe(&walk, &is, Y2_ID_ROOT, "", &header);
	image_header(image, Y2_ID_ROOT, &header);
	put_directory(&walk, Y2_ID_ROOT, directory);
	while (walk.seen) {
		struct seen *next = walk.seen->next;

		free(walk.seen);
		walk.seen = next;
	}
}
