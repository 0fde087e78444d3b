// See format.hpp: names of formats and what file extensions say.
#include <kith/io/format.hpp>

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

namespace kith::io::inline v0 {
namespace {

using NamedFormat = std::pair<std::string_view, Format>;

/// The first name of a format is the one that `name_of` gives.
constexpr NamedFormat kNames[] = {
    {"auto", Format::automatic}, {"text", Format::text},     {"csv", Format::text},    {"tsv", Format::text},
    {"xyz", Format::text},       {"npy", Format::npy},       {"npz", Format::npz},     {"ply", Format::ply},
    {"pcd", Format::pcd},        {"las", Format::las},       {"fvecs", Format::fvecs}, {"bvecs", Format::bvecs},
    {"ivecs", Format::ivecs},    {"idx", Format::idx},       {"pdb", Format::pdb},     {"gro", Format::gro},
    {"extxyz", Format::extxyz},  {"lammps", Format::lammps}, {"vtk", Format::vtk},     {"raw", Format::raw},
};

constexpr NamedFormat kExtensions[] = {
    {"csv", Format::text},         {"tsv", Format::text},    {"tab", Format::text},    {"txt", Format::text},
    {"xyz", Format::text},         {"pts", Format::text},    {"asc", Format::text},    {"dat", Format::text},
    {"data", Format::text},        {"npy", Format::npy},     {"npz", Format::npz},     {"ply", Format::ply},
    {"pcd", Format::pcd},          {"las", Format::las},     {"laz", Format::las},  // the LAS reader refuses it by name
    {"fvecs", Format::fvecs},      {"bvecs", Format::bvecs}, {"ivecs", Format::ivecs}, {"idx", Format::idx},
    {"pdb", Format::pdb},          {"ent", Format::pdb},     {"gro", Format::gro},     {"extxyz", Format::extxyz},
    {"lammpstrj", Format::lammps}, {"vtk", Format::vtk},     {"vtp", Format::vtk},     {"vtu", Format::vtk},
    {"vts", Format::vtk},
};

constexpr auto kNamesAlone = [] {
  std::array<std::string_view, std::size(kNames)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kNames[i].first;
  return names;
}();

/// MNIST and its relatives are called "t10k-images-idx3-ubyte" or "train-labels.idx1-ubyte".
bool is_named_like_mnist(std::string_view name) {
  constexpr std::string_view kEnd = "-ubyte";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  if (name.empty() || name.back() < '1' || name.back() > '9') return false;
  name.remove_suffix(1);
  return name.ends_with("-idx") || name.ends_with(".idx");
}

}  // namespace

std::span<const std::string_view> format_names() { return kNamesAlone; }

std::string_view name_of(Format format) {
  for (const auto& [name, value] : kNames) {
    if (value == format) return name;
  }
  return "unknown";
}

Format parse_format(std::string_view text) {
  for (const auto& [name, value] : kNames) {
    if (name == text) return value;
  }
  throw UsageError(fmt::format("\"{}\" is not a file format; give one of {}", text, fmt::join(format_names(), ", ")));
}

Format format_of_extension(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  if (is_named_like_mnist(name)) return Format::idx;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return Format::automatic;
  const std::string_view extension = std::string_view(name).substr(dot + 1);
  for (const auto& [known, value] : kExtensions) {
    if (known == extension) return value;
  }
  return Format::automatic;
}

}  // namespace kith::io::inline v0
