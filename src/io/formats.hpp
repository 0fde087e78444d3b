// The readers and writers of each format; read_points.cpp and write_points.cpp choose between them.
#pragma once

#include <kith/io/read_points.hpp>
#include <kith/io/write_points.hpp>

#include "runtime/input_file.hpp"
#include "runtime/output_file.hpp"

namespace kith::io::inline v0 {

PointFile read_text(const runtime::InputFile& file, const ReadOptions& options);
PointFile read_npy(const runtime::InputFile& file, const ReadOptions& options);
PointFile read_npz(const runtime::InputFile& file, const ReadOptions& options);
PointFile read_ply(const runtime::InputFile& file, const ReadOptions& options);
PointFile read_pcd(const runtime::InputFile& file, const ReadOptions& options);
PointFile read_las(const runtime::InputFile& file, const ReadOptions& options);
/// fvecs, bvecs and ivecs; `format` says which.
PointFile read_vecs(const runtime::InputFile& file, const ReadOptions& options, Format format);
PointFile read_idx(const runtime::InputFile& file, const ReadOptions& options);

/// Recognises the format by content, then by the extension in the file's name, and reads it.
PointFile read_points(const runtime::InputFile& file, const ReadOptions& options);

void write_text(runtime::OutputFile& file, PointView points, const WriteOptions& options);
void write_npy(runtime::OutputFile& file, PointView points, const WriteOptions& options);
void write_npz(runtime::OutputFile& file, PointView points, const WriteOptions& options);
void write_ply(runtime::OutputFile& file, PointView points, const WriteOptions& options);
void write_pcd(runtime::OutputFile& file, PointView points, const WriteOptions& options);

}  // namespace kith::io::inline v0
