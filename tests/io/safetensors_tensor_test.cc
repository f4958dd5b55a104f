// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/io/safetensors_files.h"
#include "tests/test_files.h"
#include "wick/io.h"

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor numbers(const Dims& shape) {
  std::vector<f32> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<f32>(i);
  return Tensor::from_vector(values, shape);
}

TEST(SafeTensorsTensor, SeesTheFileWithoutACopy) {
  const wick::testing::ScratchFolder scratch;
  const auto path = scratch / "x.safetensors";
  save_safetensors(path, {{"x", numbers({3, 4})}}, {{"made", "here"}});
  for (const FileMode mode : {FileMode::map, FileMode::read}) {
    SafeTensors file = SafeTensors::open(path, mode);
    EXPECT_EQ(file.metadata().at("made"), "here");
    const Tensor x = file.tensor("x");
    EXPECT_EQ(static_cast<const void*>(x.data<f32>()), file.bytes("x").data());
    EXPECT_TRUE(x.is_read_only());
    EXPECT_EQ(x.shape(), (Dims{3, 4}));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data<f32>()) % 64, 0U);
    file = wick::testing::open_bytes(wick::testing::safetensors_file("{}"));
    std::filesystem::remove(path);  // the tensor keeps the bytes
    EXPECT_EQ(x.data<f32>()[11], 11.0F);
    save_safetensors(path, {{"x", numbers({3, 4})}}, {{"made", "here"}});
  }
}

TEST(SafeTensorsTensor, MisalignedBytesAreCopied) {
  std::string data(9, '\0');
  const f32 value = 1.5F;
  std::memcpy(data.data() + 1, &value, 4);
  std::memcpy(data.data() + 5, &value, 4);
  const SafeTensors file = wick::testing::open_bytes(
      wick::testing::safetensors_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
                                      data));
  const Tensor b = file.tensor("b");
  EXPECT_EQ(b.data<f32>()[0], 1.5F);
  EXPECT_EQ(b.data<f32>()[1], 1.5F);
}

TEST(SafeTensorsTensor, RowsAndColumns) {
  const wick::testing::ScratchFolder scratch;
  save_safetensors(scratch / "x", {{"x", numbers({3, 4})}, {"v", numbers({3})}});
  const SafeTensors file = SafeTensors::open(scratch / "x");
  EXPECT_THAT(file.rows("x", 1, 3).to_vector<f32>(), ElementsAre(4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(file.columns("x", 2, 4).to_vector<f32>(), ElementsAre(2, 3, 6, 7, 10, 11));
  EXPECT_THAT(file.rows("v", 2, 3).to_vector<f32>(), ElementsAre(2));
  EXPECT_EQ(file.rows("x", 3, 3).shape(), (Dims{0, 4}));
  EXPECT_THROW((void)file.rows("x", 0, 4), Error);
  EXPECT_THROW((void)file.rows("x", -1, 1), Error);
  EXPECT_THROW((void)file.rows("x", 2, 1), Error);
  EXPECT_THROW((void)file.columns("v", 0, 1), Error);
}

TEST(SafeTensorsTensor, RanksBeyondTheLibrarys) {
  const SafeTensors file = wick::testing::open_bytes(wick::testing::safetensors_file(
      R"({"x":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})", "1"));
  EXPECT_EQ(file.info("x").shape.size(), 9U);
  try {
    (void)file.tensor("x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::shape);
    EXPECT_THAT(e.what(), HasSubstr("\"x\""));
  }
}

TEST(SaveSafetensors, EveryDtypeComesBack) {
  const wick::testing::ScratchFolder scratch;
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const Tensor x = Tensor::empty({2, 4}, t);
    std::memset(view(x.storage()).data, i + 1, static_cast<std::size_t>(byte_size(t, 8)));
    tensors.emplace(name(t), x);
  }
  tensors.emplace("none", Tensor::empty({0, 3}, DType::i16));
  tensors.emplace("one", numbers({}));
  tensors.emplace("späte \"Namen\"\n", numbers({1}));
  save_safetensors(scratch / "all", tensors);
  const SafeTensors file = SafeTensors::open(scratch / "all");
  EXPECT_EQ(file.names().size(), tensors.size());
  for (const auto& [key, x] : tensors) {
    const Tensor y = file.tensor(key);
    EXPECT_EQ(y.dtype(), x.dtype());
    EXPECT_EQ(y.shape(), x.shape());
    const auto bytes = static_cast<std::size_t>(byte_size(x.dtype(), x.element_count()));
    if (bytes > 0) {
      EXPECT_EQ(std::memcmp(view(x.storage()).data, file.bytes(key).data(), bytes), 0) << key;
      EXPECT_EQ(view(y.storage()).data, file.bytes(key).data()) << key << " was copied";
    }
  }
}

TEST(SaveSafetensors, ViewsAreWrittenDense) {
  const wick::testing::ScratchFolder scratch;
  const Tensor x = numbers({3, 4});
  save_safetensors(scratch / "v", {{"t", x.t()}, {"row", x.narrow(0, 1, 1)}, {"flip", x.flip(1)}});
  const SafeTensors file = SafeTensors::open(scratch / "v");
  EXPECT_THAT(file.tensor("t").to_vector<f32>(), ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_THAT(file.tensor("row").to_vector<f32>(), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(file.rows("flip", 0, 1).to_vector<f32>(), ElementsAre(3, 2, 1, 0));
}

TEST(SaveSafetensors, ReplacesAFileThatIsMapped) {
  const wick::testing::ScratchFolder scratch;
  save_safetensors(scratch / "x", {{"x", numbers({1000})}});
  const Tensor old = SafeTensors::open(scratch / "x").tensor("x");
  save_safetensors(scratch / "x", {{"x", old.narrow(0, 0, 1)}});
  EXPECT_EQ(old.data<f32>()[999], 999.0F);
  EXPECT_EQ(SafeTensors::open(scratch / "x").info("x").bytes, 4);
}

TEST(SaveSafetensors, FailuresLeaveNothingBehind) {
  const wick::testing::ScratchFolder scratch;
  const Tensor x = numbers({1});
  EXPECT_THROW(save_safetensors(scratch / "f", {{"__metadata__", x}}), Error);
  EXPECT_THROW(save_safetensors(scratch / "f", {{"\xFF", x}}), Error);
  EXPECT_THROW(save_safetensors(scratch / "f", {{"x", x}}, {{"k", "\xFF"}}), Error);
  EXPECT_THROW(save_safetensors(scratch / "f", {{"x", Tensor::empty({3}, DType::f4)}}), Error);
  EXPECT_THROW(save_safetensors(scratch / "none" / "f", {{"x", x}}), Error);
  std::filesystem::create_directory(scratch / "folder");
  EXPECT_THROW(save_safetensors(scratch / "folder", {{"x", x}}), Error);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    left.push_back(entry.path().filename());
  EXPECT_THAT(left, ElementsAre("folder"));
}

}  // namespace
}  // namespace wick
