// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "tests/ops/op_calls.h"

// The numbers are written as NumPy writes an array with four digits and commas:
// np.array2string(x, separator=", ", precision=4).

namespace wick {
namespace {

std::string shown(const Tensor& x) {
  const std::string text = x.to_string();
  return text.substr(0, text.rfind("\nTensor"));
}
Tensor vec(const std::vector<f64>& v, DType t = DType::f32) {
  return Tensor::from_vector(v, {static_cast<Index>(v.size())}).to_dtype(t);
}

TEST(Display, ScalarsAndTheLastLine) {
  EXPECT_EQ(Tensor::scalar(2.5).to_string(), "2.5\nTensor[] f32");
  EXPECT_EQ(shown(Tensor::scalar(3)), "3.");
  EXPECT_EQ(shown(Tensor::scalar(7, DType::i32)), "7");
  EXPECT_EQ(shown(Tensor::scalar(1e-8, DType::f64)), "1.e-08");
  std::ostringstream out;
  out << Tensor::zeros({2, 1}, DType::u8);
  EXPECT_EQ(out.str(), "[[0],\n [0]]\nTensor[2, 1] u8");
}

TEST(Display, Vectors) {
  EXPECT_EQ(shown(vec({1, 2, 3})), "[1., 2., 3.]");
  EXPECT_EQ(shown(vec({1, 2.5, -3.25})), "[ 1.  ,  2.5 , -3.25]");
  EXPECT_EQ(shown(vec({1.0 / 3, 2.0 / 3, 100})), "[  0.3333,   0.6667, 100.    ]");
  EXPECT_EQ(shown(vec({0.1, 0.2, 0.12345})), "[0.1   , 0.2   , 0.1235]");
  EXPECT_EQ(shown(vec({-0.0, 1})), "[-0.,  1.]");
  EXPECT_EQ(shown(vec({0, 100, 255}, DType::u8)), "[  0, 100, 255]");
  EXPECT_EQ(shown(vec({-5, 3, 12}, DType::i64)), "[-5,  3, 12]");
  EXPECT_EQ(shown(vec({99999.99996}, DType::f64)), "[100000.]");
  // Raw formats are bytes: 1 is 0010, 1.5 is 0011, -6 is 1111, the first in the low half.
  EXPECT_EQ(vec({1, 1.5, -6}, DType::f4).to_string(), "[50, 15] bytes\nTensor[3] f4");
}

TEST(Display, NaNAndInfinity) {
  EXPECT_EQ(shown(vec({NAN, 1, INFINITY, -INFINITY})), "[ nan,   1.,  inf, -inf]");
  EXPECT_EQ(shown(vec({NAN, INFINITY})), "[nan, inf]");
  EXPECT_EQ(shown(vec({NAN, 1.25})), "[ nan, 1.25]");
  EXPECT_EQ(shown(vec({1e10, NAN, -INFINITY})), "[1.e+10,    nan,   -inf]");
}

TEST(Display, ExponentsWhereNumbersSpanMuch) {
  EXPECT_EQ(shown(vec({1e10, 1.25e3})), "[1.00e+10, 1.25e+03]");
  EXPECT_EQ(shown(vec({1e-5, 1})), "[1.e-05, 1.e+00]");
  EXPECT_EQ(shown(vec({0.5, 1000})), "[5.e-01, 1.e+03]");
  EXPECT_EQ(shown(vec({0.5, 499})), "[  0.5, 499. ]");
  EXPECT_EQ(shown(vec({0.1, 1e-300, 3}, DType::f64)), "[1.e-001, 1.e-300, 3.e+000]");
  EXPECT_EQ(shown(vec({123456.789, -0.5}, DType::f64)), "[ 1.2346e+05, -5.0000e-01]");
}

TEST(Display, MoreDims) {
  EXPECT_EQ(shown(vec({1, -2, 3.5, 40}).reshape({2, 2})), "[[ 1. , -2. ],\n [ 3.5, 40. ]]");
  EXPECT_EQ(shown(Tensor::arange(0, 12).reshape({2, 2, 3})),
            "[[[ 0.,  1.,  2.],\n  [ 3.,  4.,  5.]],\n\n [[ 6.,  7.,  8.],\n  [ 9., 10., 11.]]]");
  EXPECT_EQ(shown(Tensor::arange(0, 8).reshape({2, 1, 2, 2})),
            "[[[[0., 1.],\n   [2., 3.]]],\n\n\n [[[4., 5.],\n   [6., 7.]]]]");
  EXPECT_EQ(shown(Tensor::arange(0, 6).reshape({2, 3}).t().flip(0)),
            "[[2., 5.],\n [1., 4.],\n [0., 3.]]");
}

TEST(Display, Empty) {
  EXPECT_EQ(Tensor::zeros({0}).to_string(), "[]\nTensor[0] f32");
  EXPECT_EQ(shown(Tensor::zeros({2, 0})), "[]");
  EXPECT_EQ(shown(Tensor::zeros({0, 3}, DType::i64)), "[]");
  EXPECT_EQ(shown(Tensor()), "[]");
  EXPECT_EQ(shown(Tensor::zeros({Index{1} << 40, 0})), "[]");  // at once
}

TEST(Display, LongRowsGoOnBelow) {
  EXPECT_EQ(shown(Tensor::arange(0, 30)),
            "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13., 14.,\n"
            " 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27., 28., 29.]");
  EXPECT_EQ(shown(Tensor::arange(100, 130, 1, DType::i64)),
            "[100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114,\n"
            " 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129]");
}

TEST(Display, LargeOnesAreShortened) {
  EXPECT_EQ(shown(Tensor::arange(0, 2000)),
            "[0.000e+00, 1.000e+00, 2.000e+00, ..., 1.997e+03, 1.998e+03, 1.999e+03]");
  EXPECT_EQ(shown(Tensor::arange(0, 1200, 1, DType::f64).affine(1.0 / 1199, 0)),
            "[0.0000e+00, 8.3403e-04, 1.6681e-03, ..., 9.9833e-01, 9.9917e-01,\n 1.0000e+00]");
  EXPECT_EQ(shown(Tensor::arange(0, 3600, 1, DType::i32).reshape({1200, 3})),
            "[[   0,    1,    2],\n [   3,    4,    5],\n [   6,    7,    8],\n ...,\n"
            " [3591, 3592, 3593],\n [3594, 3595, 3596],\n [3597, 3598, 3599]]");
  EXPECT_EQ(shown(Tensor::arange(0, 3600, 1, DType::i32).reshape({60, 60})),
            "[[   0,    1,    2, ...,   57,   58,   59],\n"
            " [  60,   61,   62, ...,  117,  118,  119],\n"
            " [ 120,  121,  122, ...,  177,  178,  179],\n"
            " ...,\n"
            " [3420, 3421, 3422, ..., 3477, 3478, 3479],\n"
            " [3480, 3481, 3482, ..., 3537, 3538, 3539],\n"
            " [3540, 3541, 3542, ..., 3597, 3598, 3599]]");
  // A view of one element that claims a quadrillion is shown as quickly.
  const Tensor huge = Tensor::ones({1}).broadcast_as({Index{1} << 25, Index{1} << 25});
  EXPECT_LT(shown(huge).size(), 400U);
}

}  // namespace
}  // namespace wick
