// SPDX-License-Identifier: MIT
//
// What helps where a file of a store is damaged, for people: it follows what is wrong, in the same
// line.
#ifndef CELLFS_ENGINE_DISK_REMEDIES_H_
#define CELLFS_ENGINE_DISK_REMEDIES_H_

namespace cellfs {

inline constexpr char kRemedyOfLog[] =
    "the segments of the log from a backup help, all of one time; without one 'cellfs check "
    "--repair' says how the log can be mended, or where it can be cut and what is lost with that";

// Of a table that is not opened.
inline constexpr char kRemedyOfManifest[] =
    "MANIFEST and store files from one backup help, put in place while the store is not mounted; "
    "or 'cellfs check --repair' says what can be made of the files that are there";

// Of a store file, where somebody meets the damage; and after a check, which knows what is lost.
inline constexpr char kRemedyOfFile[] =
    "the same file from a backup helps, put in place while the store is not mounted; 'cellfs "
    "check' says what else is damaged, and what helps without a backup";
inline constexpr char kRemedyOfCheckedFile[] =
    "the same file from a backup helps, put in place while the store is not mounted; without one "
    "copy what can be read to another table, then 'cellfs disable' and 'cellfs drop' this one";

// Where what is damaged only saves time: no cell lies in it.
inline constexpr char kRemedyOfIndex[] =
    "no cell is lost, and reads do without it, slower; 'cellfs compact' of the mounted table, or of "
    "all tables, makes the file anew";

// Where others have filled the disk meanwhile.
inline constexpr char kRemedyOfFullDisk[] =
    "free space outside the store, or drop or truncate tables";

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_REMEDIES_H_
