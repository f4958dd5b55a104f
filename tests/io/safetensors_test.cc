// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/io/safetensors_files.h"
#include "tests/test_files.h"
#include "wick/io.h"

namespace wick {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wick::testing::counted;
using wick::testing::open_bytes;
using wick::testing::safetensors_file;

// A valid file: two tensors, an empty one, a scalar, metadata. 36 bytes of data.
std::string good_file() {
  return safetensors_file(R"({"__metadata__":{"format":"pt","note":"ü"},)"
                          R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                          R"("none":{"dtype":"I16","shape":[4,0],"data_offsets":[24,24]},)"
                          R"("s":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
                          R"("a":{"dtype":"U8","shape":[4],"data_offsets":[32,36]}}   )",
                          counted(36));
}

// The message of the `format` Error that opening `file` raises.
std::string refusal(std::string_view file) {
  try {
    (void)open_bytes(file);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::format) << e.what();
    return e.what();
  }
  return "accepted";
}

// One tensor "x" and `data` bytes of data.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets,
                std::size_t data) {
  return safetensors_file(str(R"({"x":{"dtype":")", dtype, R"(","shape":)", shape,
                              R"(,"data_offsets":)", offsets, "}}"),
                          counted(data));
}

TEST(SafeTensors, ReadsAGoodFile) {
  const SafeTensors file = open_bytes(good_file());
  EXPECT_THAT(file.names(), ElementsAre("b", "none", "s", "a"));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.metadata().at("note"), "ü");
  EXPECT_FALSE(file.contains("__metadata__"));
  EXPECT_EQ(file.info("b").dtype, DType::f32);
  EXPECT_EQ(file.info("b").format_dtype, "F32");
  EXPECT_THAT(file.info("b").shape, ElementsAre(2, 3));
  EXPECT_EQ(file.info("b").bytes, 24);
  EXPECT_TRUE(file.info("s").shape.empty());
  EXPECT_TRUE(file.bytes("none").empty());
  EXPECT_EQ(file.bytes("a").size(), 4U);
  EXPECT_EQ(std::to_integer<int>(file.bytes("a")[3]), 35);
  EXPECT_THROW((void)file.info("c"), Error);
  EXPECT_THROW((void)file.bytes("__metadata__"), Error);
}

TEST(SafeTensors, NoTensors) {
  EXPECT_TRUE(open_bytes(safetensors_file("{}")).names().empty());
  EXPECT_TRUE(open_bytes(safetensors_file(R"({"__metadata__":{}})")).names().empty());
}

TEST(SafeTensors, HeaderLength) {
  EXPECT_THAT(refusal(""), HasSubstr("header length"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("header length"));
  EXPECT_THAT(refusal(std::string(8, '\0')), HasSubstr("object"));
  EXPECT_THAT(refusal(std::string(8, '\xFF') + "{}"), HasSubstr("100000000"));
  const std::string good = good_file();
  EXPECT_THAT(refusal(std::string("\x00\x00\x00\x06\x00\x00\x00\x00", 8) + good.substr(8)),
              HasSubstr("100000000"));
  EXPECT_THAT(refusal(std::string("\xFF\xFF\x00\x00\x00\x00\x00\x00", 8) + good.substr(8)),
              HasSubstr("does not fit"));
  EXPECT_THAT(refusal(std::string("\x03\x00\x00\x00\x00\x00\x00\x00", 8) + "{}"),
              HasSubstr("does not fit"));
}

TEST(SafeTensors, HeaderJson) {
  for (const char* header : {"[]",
                             "1",
                             "null",
                             "\"x\"",
                             "",
                             " {}",
                             "\xEF\xBB\xBF{}",
                             "{",
                             "{}}",
                             "{} x",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{\"\xFF\":{}}",
                             "{,}",
                             "{\"x\":1}",
                             "{\"x\":null}",
                             "{\"x\":[]}",
                             "{\"x\":true}",
                             "{\"__metadata__\":1}",
                             "{\"__metadata__\":{\"a\":1}}",
                             "{\"__metadata__\":{\"a\":{}}}",
                             "{\"__metadata__\":{\"a\":[]}}",
                             "{\"__metadata__\":{\"a\":null}}"})
    EXPECT_NE(refusal(safetensors_file(header)), "accepted") << header;
  std::string deep;
  for (int i = 0; i < 1000000; ++i) deep += "{\"a\":";
  EXPECT_NE(refusal(safetensors_file(deep)), "accepted");
  EXPECT_NE(refusal(safetensors_file("{\"a\":" + std::string(1000000, '['))), "accepted");
  // A huge name does not make a huge message.
  EXPECT_LT(refusal(safetensors_file("{\"" + std::string(1000000, 'n') + "\":1}")).size(), 1000U);
}

TEST(SafeTensors, DuplicateKeys) {
  const std::string x = R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(refusal(safetensors_file("{" + x + "," + x + "}", "1")), HasSubstr("twice"));
  EXPECT_THAT(refusal(safetensors_file(R"({"__metadata__":{},"__metadata__":{}})")),
              HasSubstr("twice"));
  EXPECT_THAT(refusal(safetensors_file(R"({"__metadata__":{"a":"1","a":"2"}})")),
              HasSubstr("twice"));
  EXPECT_THAT(refusal(safetensors_file(
                  R"({"x":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", "1")),
              HasSubstr("twice"));
  // The same name spelled with an escape is the same name.
  EXPECT_THAT(
      refusal(safetensors_file(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("\u0078":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                               "12")),
      HasSubstr("twice"));
}

TEST(SafeTensors, Fields) {
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{}})")), HasSubstr("no dtype"));
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{"dtype":"U8","shape":[0]}})")),
              HasSubstr("no data_offsets"));
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{"dtype":"U8","data_offsets":[0,0]}})")),
              HasSubstr("no shape"));
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{"kind":"U8"}})")), HasSubstr("unknown key"));
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{"dtype":8}})")), HasSubstr("\"x\""));
  EXPECT_THAT(refusal(safetensors_file(R"({"x":{"dtype":["U8"]}})")), HasSubstr("\"x\""));
  for (const char* shape : {"1", "\"1\"", "[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[[1]]", "[null]",
                            "{}", "[9223372036854775808]", "[18446744073709551616]", "[true]"})
    EXPECT_NE(refusal(one("U8", shape, "[0,1]", 1)), "accepted") << shape;
  for (const char* offsets : {"1", "[]", "[0]", "[0,1,1]", "[0,1.0]", "[-1,0]", "[0,\"1\"]",
                              "[0,18446744073709551615]", "{\"0\":1}"})
    EXPECT_NE(refusal(one("U8", "[1]", offsets, 1)), "accepted") << offsets;
}

TEST(SafeTensors, ShapesAndOffsets) {
  EXPECT_THAT(refusal(one("F32", "[1000,1000]", "[0,4]", 4)), HasSubstr("wanted 4000000 bytes"));
  EXPECT_THAT(refusal(one("F32", "[1000,1000]", "[0,4000000]", 4)), HasSubstr("not in 0 to 4"));
  EXPECT_THAT(refusal(one("U8", "[2]", "[2,0]", 2)), HasSubstr("offsets 2 to 0"));
  EXPECT_THAT(refusal(one("U8", "[4294967296,4294967296]", "[0,1]", 1)), HasSubstr("64 bits"));
  EXPECT_THAT(refusal(one("U8", "[4294967296,0,4294967296]", "[0,0]", 0)), HasSubstr("64 bits"));
  EXPECT_NE(refusal(one("F64", "[2305843009213693952]", "[0,0]", 0)),
            "accepted");  // 2^61 * 64 bits
  EXPECT_NE(refusal(one("F32", "[0]", "[0,4]", 4)), "accepted");
  EXPECT_NE(refusal(one("F32", "[]", "[0,8]", 8)), "accepted");
  EXPECT_THAT(refusal(one("F4", "[3]", "[0,2]", 2)), HasSubstr("whole bytes"));
  EXPECT_EQ(refusal(one("F4", "[4]", "[0,2]", 2)), "accepted");
  EXPECT_EQ(refusal(one("F6_E2M3", "[2,4]", "[0,6]", 6)), "accepted");
}

TEST(SafeTensors, DtypesThatWickLacksAreStillChecked) {
  EXPECT_THAT(refusal(one("I8", "[5]", "[0,4]", 4)), HasSubstr("wanted 5 bytes"));
  EXPECT_THAT(refusal(one("BOOL", "[4]", "[0,8]", 4)), HasSubstr("not in 0 to 4"));
  EXPECT_THAT(refusal(one("NEW7", "[4]", "[0,8]", 4)), HasSubstr("not in 0 to 4"));
  EXPECT_THAT(refusal(one("NEW7", "[4]", "[0,2]", 4)), HasSubstr("after the last"));
  for (const char* dtype : {"I8", "BOOL", "F8_E5M2", "NEW7", "f32", ""}) {
    const SafeTensors file = open_bytes(one(dtype, "[4]", "[0,4]", 4));
    EXPECT_FALSE(file.info("x").dtype);
    EXPECT_EQ(file.bytes("x").size(), 4U);
    try {
      (void)file.tensor("x");
      FAIL() << dtype;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::unsupported_dtype);
      EXPECT_THAT(e.what(), HasSubstr(dtype));
    }
  }
}

TEST(SafeTensors, GapsOverlapsAndRests) {
  const auto two = [](std::string_view first, std::string_view second, std::size_t data) {
    return refusal(
        safetensors_file(str(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":)", first,
                             R"(},"y":{"dtype":"U8","shape":[4],"data_offsets":)", second, "}}"),
                         counted(data)));
  };
  EXPECT_EQ(two("[0,4]", "[4,8]", 8), "accepted");
  EXPECT_EQ(two("[4,8]", "[0,4]", 8), "accepted");
  EXPECT_THAT(two("[0,4]", "[2,6]", 6), HasSubstr("inside"));
  EXPECT_THAT(two("[0,4]", "[0,4]", 4), HasSubstr("inside"));
  EXPECT_THAT(two("[0,4]", "[5,9]", 9), HasSubstr("gap"));
  EXPECT_THAT(two("[1,5]", "[5,9]", 9), HasSubstr("gap"));
  EXPECT_THAT(two("[0,4]", "[4,8]", 12), HasSubstr("4 bytes after the last"));
  EXPECT_THAT(two("[0,4]", "[4,8]", 7), HasSubstr("not in 0 to 7"));
  EXPECT_NE(refusal(safetensors_file("{}", "1234")), "accepted");
}

TEST(SafeTensors, EveryCutIsRefused) {
  const std::string good = good_file();
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(refusal(std::string_view(good).substr(0, n)), "accepted") << n;
  EXPECT_EQ(refusal(good), "accepted");
}

TEST(SafeTensors, FlippedBitsAreRefusedOrHarmless) {
  const std::string good = good_file();
  const std::size_t head = good.size() - 36;
  std::uint64_t state = 42;
  const auto random = [&](std::size_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33) % below;
  };
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bad = good;
    for (std::size_t flips = 1 + random(3); flips > 0; --flips) {
      char& byte = bad[random(head)];
      const std::size_t old = static_cast<unsigned char>(byte);
      byte = static_cast<char>(i % 2 == 0 ? random(256) : old ^ std::size_t{1} << random(8));
    }
    try {
      const SafeTensors file = open_bytes(bad);
      ++accepted;
      for (const std::string& name : file.names()) {
        unsigned sum = 0;  // reads every byte that is handed out
        for (const std::byte b : file.bytes(name)) sum += std::to_integer<unsigned>(b);
        if (file.info(name).dtype) sum += static_cast<unsigned>(file.tensor(name).element_count());
        ASSERT_LT(sum, 100000U);
      }
    } catch (const Error& e) {
      ASSERT_EQ(e.kind(), ErrorKind::format) << e.what();
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(SafeTensors, FilesOnDisk) {
  const wick::testing::ScratchFolder scratch;
  const auto path = scratch / "good.safetensors";
  wick::testing::write_text(path, good_file());
  for (const FileMode mode : {FileMode::map, FileMode::read})
    EXPECT_EQ(SafeTensors::open(path, mode).names().size(), 4U);
  wick::testing::write_text(path, good_file().substr(0, 100));
  try {
    (void)SafeTensors::open(path);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::format);
    EXPECT_THAT(e.what(), HasSubstr(path.string()));
  }
  EXPECT_THROW((void)SafeTensors::open(scratch / "none"), Error);
}

}  // namespace
}  // namespace wick
