// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <utility>

#include "wick/io.h"
#include "wick/io/mapped_file.h"
#include "wick/io/safetensors_header.h"

namespace wick {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

struct SafeTensors::Entry {
  Info info;
  std::span<const std::byte> bytes;
};

struct SafeTensors::State {
  std::string file;
  std::shared_ptr<const void> owner;
  std::vector<std::string> names;
  std::map<std::string, std::string> metadata;
  std::map<std::string, Entry, std::less<>> entries;
};

SafeTensors SafeTensors::open(const std::filesystem::path& path, FileMode mode) {
  auto file = MappedFile::open(path, mode);
  const auto bytes = file->bytes();
  return from_memory(bytes, std::move(file), path.string());
}

SafeTensors SafeTensors::from_memory(std::span<const std::byte> file,
                                     std::shared_ptr<const void> owner, std::string_view name) {
  SafeTensorsHeader header = parse_safetensors_header(file, name);
  auto state = std::make_shared<State>();
  state->file = name;
  state->owner = std::move(owner);
  state->metadata = std::move(header.metadata);
  for (SafeTensorsItem& item : header.items) {
    const auto begin = static_cast<std::size_t>(item.begin);
    const auto size = static_cast<std::size_t>(item.end - item.begin);
    Entry entry{
        {std::move(item.format_dtype), std::nullopt, std::move(item.shape), item.end - item.begin},
        header.data.subspan(begin, size)};
    entry.info.dtype = safetensors_dtype(entry.info.format_dtype);
    state->entries.emplace(item.name, std::move(entry));
    state->names.push_back(std::move(item.name));
  }
  return SafeTensors(std::move(state));
}

const std::vector<std::string>& SafeTensors::names() const { return state_->names; }

const std::map<std::string, std::string>& SafeTensors::metadata() const { return state_->metadata; }

bool SafeTensors::contains(std::string_view name) const {
  return state_->entries.find(name) != state_->entries.end();
}

const SafeTensors::Entry& SafeTensors::entry(std::string_view name) const {
  const auto at = state_->entries.find(name);
  if (at == state_->entries.end())
    throw Error(
        ErrorKind::argument, "safetensors",
        str("no tensor ", shown(name), " among the ", state_->names.size(), " in ", state_->file));
  return at->second;
}

const SafeTensors::Info& SafeTensors::info(std::string_view name) const { return entry(name).info; }

std::span<const std::byte> SafeTensors::bytes(std::string_view name) const {
  return entry(name).bytes;
}

Tensor SafeTensors::tensor(std::string_view name) const {
  const Entry& e = entry(name);
  if (!e.info.dtype)
    throw Error(ErrorKind::unsupported_dtype, "safetensors",
                str("tensor ", shown(name), " in ", state_->file, " has dtype ",
                    shown(e.info.format_dtype), ", which wick has none for"));
  const auto where = [&] { return str("for tensor ", shown(name), " in ", state_->file); };
  return with_error_context(where, [&] {
    // The memory is marked read-only; the cast only fits the type.
    auto* data = const_cast<std::byte*>(e.bytes.data());
    return Tensor::from_foreign(data, e.info.bytes, *e.info.dtype,
                                Layout::contiguous(Dims(std::span(e.info.shape))), state_, true);
  });
}

Tensor SafeTensors::part(std::string_view name, int dim, Index begin, Index end) const {
  const Tensor whole = tensor(name);
  if (whole.rank() <= dim || begin < 0 || begin > end || end > whole.shape()[dim])
    throw Error(ErrorKind::index, "safetensors",
                str("tensor ", shown(name), " of shape ", to_string(whole.shape()), " has no ",
                    dim == 0 ? "rows " : "columns ", begin, " to ", end));
  return whole.narrow(dim, begin, end - begin);
}

Tensor SafeTensors::rows(std::string_view name, Index begin, Index end) const {
  return part(name, 0, begin, end);
}

Tensor SafeTensors::columns(std::string_view name, Index begin, Index end) const {
  return part(name, 1, begin, end);
}

}  // namespace wick
