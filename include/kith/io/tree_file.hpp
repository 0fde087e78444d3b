// Exported trees as .npz files, and back.
#pragma once

#include <kith/apps/tree_export.hpp>
#include <kith/progress.hpp>

#include <string>
#include <variant>

namespace kith::io::inline v0 {

/// .npz with `point`, `less`, `greater` (u32 per node), `split_dim` (u8, u16 or u32, the smallest that holds the dims)
/// and, one number each, `root` (u32), `rows` (u64), `dims` (u32), `bits` (u8: 32 or 64, the type of the points),
/// `split` (u8: 0 widest, 1 cycle), `unique` (u8: 0 or 1), and, if it is the left one, `middle` (u8: 1). Whole or not
/// at all; "-" is standard output. Throws IoError.
KITH_EXPORT void write_tree(const std::string& path, const apps::NodeTable& table,
                            const ProgressCallback& progress = {});

/// .npz with `index` (u32), `points` (n x dims), `split_dim` and the single numbers above but `root`.
KITH_EXPORT void write_tree(const std::string& path, const apps::InOrderTree& tree,
                            const ProgressCallback& progress = {});

/// Whether this is an .npz archive with the arrays of one of the two. A pipe, which can be read only once, is not
/// looked at: false. Throws IoError.
KITH_EXPORT bool is_tree_file(const std::string& path);

/// Reads what `write_tree` wrote, or what NumPy saved under the same names with any integer types. What the arrays say
/// is not believed: see `apps::verify_tree`. Throws IoError, CorruptFile.
KITH_EXPORT std::variant<apps::NodeTable, apps::InOrderTree> read_tree(const std::string& path);

}  // namespace kith::io::inline v0
