// SPDX-License-Identifier: Apache-2.0
#include "wick/io/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/test_files.h"

namespace wick {
namespace {

using wick::testing::ScratchFolder;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string open_error(const std::filesystem::path& path, FileMode mode) {
  try {
    (void)MappedFile::open(path, mode);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
    return e.what();
  }
  return "no error";
}

class MappedFileTest : public ::testing::TestWithParam<FileMode> {};

TEST_P(MappedFileTest, HoldsTheBytes) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * 7);
  wick::testing::write_text(scratch / "a", text);
  const auto file = MappedFile::open(scratch / "a", GetParam());
  EXPECT_EQ(text_of(*file), text);
  std::filesystem::remove(scratch / "a");  // the bytes stay
  EXPECT_EQ(text_of(*file), text);
}

TEST_P(MappedFileTest, EmptyFile) {
  const ScratchFolder scratch;
  wick::testing::write_text(scratch / "empty", "");
  EXPECT_TRUE(MappedFile::open(scratch / "empty", GetParam())->bytes().empty());
}

TEST_P(MappedFileTest, WhatIsNoReadableFile) {
  const ScratchFolder scratch;
  EXPECT_THAT(open_error(scratch / "none", GetParam()), ::testing::HasSubstr("No such file"));
  EXPECT_THAT(open_error(scratch / "none", GetParam()),
              ::testing::HasSubstr((scratch / "none").string()));
  EXPECT_THAT(open_error(scratch.path(), GetParam()), ::testing::HasSubstr("directory"));
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);  // must not block
  EXPECT_THAT(open_error(scratch / "pipe", GetParam()), ::testing::HasSubstr("not a regular file"));
  EXPECT_THAT(open_error("/dev/null", GetParam()), ::testing::HasSubstr("not a regular file"));
}

INSTANTIATE_TEST_SUITE_P(Modes, MappedFileTest, ::testing::Values(FileMode::map, FileMode::read),
                         [](const auto& mode) {
                           return std::string(mode.param == FileMode::map ? "map" : "read");
                         });

TEST(MappedFile, ReadModeDoesNotSeeLaterChanges) {
  const ScratchFolder scratch;
  wick::testing::write_text(scratch / "a", "before");
  const auto file = MappedFile::open(scratch / "a", FileMode::read);
  wick::testing::write_text(scratch / "a", "x");  // shorter now
  EXPECT_EQ(text_of(*file), "before");
}

TEST(MappedFile, ReadModeKeepsToTheMemoryLimit) {
  const ScratchFolder scratch;
  {
    std::ofstream make(scratch / "large");
  }
  std::filesystem::resize_file(scratch / "large", std::uintmax_t{1} << 40);  // holes: no disk space
  try {
    (void)MappedFile::open(scratch / "large", FileMode::read);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  }
}

}  // namespace
}  // namespace wick
