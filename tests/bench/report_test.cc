// SPDX-License-Identifier: Apache-2.0
#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/roofline.h"

namespace wick::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Row product() {
  Row row;
  row.what = {.experiment = 1, .op = "matmul", .dtype = DType::f32, .shape = {1024, 1024, 1024}};
  row.what.work = row.what.flops = 2147483648.0;
  row.what.bytes = 12582912;
  row.engine = "wick";
  row.median_ms = 3.256;
  row.rate = 659.5;
  row.share_of_limit = 0.83;
  row.kept = 9;
  return row;
}

Machine machine() {
  Machine m;
  m.cpu = "A <fast> CPU";
  m.isa = "avx2";
  m.cores = m.threads = 2;
  m.one = {93, 46, 93, 93, 11, 14};
  m.all = {183, 92, 183, 183, 18, 22};
  return m;
}

TEST(Report, LinesReadAsTheChapters) {
  EXPECT_EQ(text_line(product()),
            "matmul f32 1024x1024x1024: median 3.256 ms (660 GFLOP/s)  83 % of f32 FMA peak");
  Row noisy = product();
  noisy.noisy = true;
  noisy.kept = 4;
  noisy.dropped = 41;
  EXPECT_THAT(text_line(noisy), HasSubstr("noisy: 4 of 45 batches kept"));
  Row exp = product();
  exp.what = {.experiment = 1, .op = "exp", .shape = {4194304}, .limit = Limit::copy};
  exp.median_ms = 1.765;
  exp.rate = 19.0;
  EXPECT_EQ(text_line(exp), "exp    f32 [4194304]: median 1.765 ms (19.0 GB/s)  83 % of copy");
  Row raw = product();
  raw.what.experiment = 4;
  raw.what.dtype = DType::f4;
  raw.error = "matmul: f4 is not supported";
  EXPECT_EQ(text_line(raw), "matmul f4: error: matmul: f4 is not supported");
}

TEST(Report, Elements) {
  EXPECT_EQ(one_line(Tensor::full({2, 2}, 2)), "[[2, 2], [2, 2]]");
  EXPECT_EQ(one_line(Tensor::zeros({0})), "[]");
}

TEST(Report, JsonHasTheFields) {
  Row failed = product();
  failed.median_ms.reset();
  failed.rate.reset();
  failed.share_of_limit.reset();
  failed.error = "matmul: \"quoted\"";
  const Row rows[] = {product(), failed};
  const auto json = nlohmann::json::parse(to_json(machine(), rows));
  EXPECT_EQ(json["machine"]["cpu"], "A <fast> CPU");
  EXPECT_EQ(json["machine"]["limits"]["fma_gflops"]["f32"]["1"], 93);
  EXPECT_EQ(json["machine"]["limits"]["copy_gbs"]["all"], 18);
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["shape"], (std::vector<int>{1024, 1024, 1024}));
  EXPECT_EQ(row["unit"], "GFLOP/s");
  EXPECT_TRUE(row["error"].is_null());
  EXPECT_TRUE(json["rows"][1]["median_ms"].is_null());
  EXPECT_EQ(json["rows"][1]["error"], "matmul: \"quoted\"");
}

TEST(Report, HtmlStandsAlone) {
  const Row rows[] = {product()};
  const std::string html = to_html(machine(), rows);
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("A &lt;fast&gt; CPU"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(Report, HtmlOfAnEmptyRun) {
  const std::string html = to_html(Machine{}, {});
  EXPECT_THAT(html, HasSubstr("</html>"));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace wick::bench
