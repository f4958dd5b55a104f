// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/model_folder.h"
#include "cli/progress.h"
#include "models/embedder.h"

namespace wick::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTextsAtOnce = 64;  // between two steps of the progress bar

struct Options {
  std::vector<std::string> texts;
  std::string file;
  std::string model;
  bool json = false;
  bool similarity = false;
  bool read = false;
};

void read_lines(const std::string& name, std::vector<std::string>& texts) {
  std::ifstream file;
  if (name != "-") {
    file.open(name, std::ios::binary);
    if (!file || fs::is_directory(name))
      throw Error(ErrorKind::io, "embed", str("cannot read ", name));
  }
  std::istream& in = name == "-" ? std::cin : file;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    texts.push_back(line);
  }
  if (in.bad()) throw Error(ErrorKind::io, "embed", str("cannot read ", name));
}

Tensor embed_all(const models::Embedder& embedder, const std::vector<std::string>& texts) {
  const auto count = static_cast<Index>(texts.size());
  const Tensor out = Tensor::empty({count, embedder.size()});
  Progress progress;
  const std::span<const std::string> all(texts);
  for (std::size_t done = 0; done < texts.size(); done += kTextsAtOnce) {
    const auto part = all.subspan(done, std::min(kTextsAtOnce, texts.size() - done));
    copy_into(out.narrow(0, static_cast<Index>(done), static_cast<Index>(part.size())),
              embedder.embed(part));
    if (texts.size() > kTextsAtOnce)
      progress.show(static_cast<double>(done + part.size()) / static_cast<double>(count),
                    fmt::format("{} of {} texts", done + part.size(), count));
  }
  return out;
}

/// Rows as JSON arrays, each number with as many digits as tell it from its neighbours.
void print_rows(std::string_view name, const Tensor& rows) {
  fmt::print("\"{}\": [", name);
  const std::vector<f32> values = rows.to_vector<f32>();
  const auto width = static_cast<std::size_t>(rows.size(1));
  for (std::size_t i = 0; i * width < values.size(); ++i)
    fmt::print("{}[{}]", i == 0 ? "\n  " : ",\n  ",
               fmt::join(std::span(values).subspan(i * width, width), ", "));
  fmt::print("]");
}

void print_json(const std::string& model, const Tensor& vectors, const Tensor* similarity) {
  fmt::print("{{\"model\": {},\n", nlohmann::json(model).dump());
  print_rows("embeddings", vectors);
  if (similarity != nullptr) {
    fmt::print(",\n");
    print_rows("similarity", *similarity);
  }
  fmt::print("}}\n");
}

void print_text(const std::vector<std::string>& texts, const Tensor& vectors,
                const Tensor* similarity) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (similarity == nullptr) {
      const auto v = vectors.select(0, static_cast<Index>(i)).to_vector<f32>();
      fmt::print("[{:.4f}, ... {} numbers]  {}\n",
                 fmt::join(std::span(v).first(std::min<std::size_t>(6, v.size())), ", "), v.size(),
                 texts[i]);
      continue;
    }
    for (const f32 s : similarity->select(0, static_cast<Index>(i)).to_vector<f32>())
      fmt::print("{:7.4f} ", s);
    fmt::print(" {}\n", texts[i]);
  }
}

void run(const Options& options) {
  std::vector<std::string> texts = options.texts;
  if (!options.file.empty()) read_lines(options.file, texts);
  if (texts.empty()) throw CLI::ValidationError("embed", "give texts, or --file FILE");
  const fs::path folder = options.model.empty() ? find_model() : fs::path(options.model);
  const auto embedder =
      models::Embedder::load(folder, options.read ? FileMode::read : FileMode::map);
  const Tensor vectors = embed_all(embedder, texts);
  Tensor similarity;
  if (options.similarity) similarity = vectors.matmul(vectors.t());
  const Tensor* shown = options.similarity ? &similarity : nullptr;
  if (options.json)
    print_json(fs::path(folder / "").parent_path().filename().string(), vectors, shown);
  else
    print_text(texts, vectors, shown);
}

}  // namespace

void add_embed(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "embed", "Turn sentences into vectors with a BERT model (all-MiniLM-L6-v2)");
  command->add_option("text", options->texts, "Sentences")->type_name("TEXT");
  command->add_option("--file", options->file, "One sentence a line; - is the standard input")
      ->type_name("FILE");
  command
      ->add_option("--model", options->model,
                   "Folder with config.json, vocab.txt and model.safetensors")
      ->type_name("DIR");
  command->add_flag("--json", options->json,
                    "Print {\"model\": ..., \"embeddings\": [[...], ...]}");
  command->add_flag("--similarity", options->similarity,
                    "Print the cosine of each pair of sentences");
  command->add_flag("--read", options->read,
                    "Read the weights into memory instead of mapping them: safe if the file may "
                    "shrink meanwhile");
  command->callback([options] { run(*options); });
}

}  // namespace wick::cli
