// Feeds arbitrary bytes to the readers of strings and sets, text columns and shingles among them.
#include "fuzz_reader.hpp"

#include "io/sequences/sequence_formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kith::io::SequenceFormat;
  constexpr SequenceFormat kFormats[] = {SequenceFormat::automatic, SequenceFormat::lines, SequenceFormat::fasta,
                                         SequenceFormat::phylip, SequenceFormat::sets};
  return kith::fuzz::feed(data, size, "fuzz", [&](const kith::runtime::InputFile& file) {
    const auto kind = size % 2 == 0 ? kith::SequenceKind::text : kith::SequenceKind::bytes;
    kith::io::SequenceReadOptions options{.format = kFormats[size % 5], .kind = kind};
    if (size % 3 == 1) options.text_column = size % 4 < 2 ? "1" : "name";
    if (size % 3 == 1) options.format = SequenceFormat::automatic;
    if (size % 7 == 1) options.shingle = 3;
    if (size % 7 == 2) options.words = true;
    const kith::io::SequenceFile read = kith::io::read_sequences(file, options);
    if (read.strings && read.strings->size() != read.sequences.size()) std::abort();
    if (!read.names.empty() && read.names.size() != read.sequences.size()) std::abort();
    std::uint64_t sum = 0;  // touches every item
    for (std::uint64_t i = 0; i < read.sequences.size(); ++i) {
      for (const std::uint32_t item : read.sequences.sequence(i)) sum += item;
    }
    volatile std::uint64_t sink = sum;
    (void)sink;
  });
}
