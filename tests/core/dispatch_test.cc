// SPDX-License-Identifier: Apache-2.0
#include "wick/core/dispatch.h"

#include <gmock/gmock.h>

#include "tests/views.h"

namespace wick {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr DType all_dtypes(int i) { return static_cast<DType>(i); }

Storage storage_of(DType t) {
  return dispatch<Storage>(t, "test",
                           []<class T>(std::type_identity<T>) { return Storage(Buffer<T>(2)); });
}

TEST(DType, NamesBitsAndKinds) {
  EXPECT_EQ(kDTypeCount, 14);
  EXPECT_EQ(name(DType::u8), "u8");
  EXPECT_EQ(name(DType::f8e8m0), "f8e8m0");
  int raws = 0, floats = 0, ints = 0;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType t = all_dtypes(i);
    raws += is_raw(t) ? 1 : 0;
    floats += is_float(t) ? 1 : 0;
    ints += is_int(t) ? 1 : 0;
    dispatch(t, "test", [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(dtype_of<T>, t);
      if (bits(t) % 8 == 0) EXPECT_EQ(static_cast<int>(sizeof(T)) * 8, bits(t));
      EXPECT_EQ(is_raw(t), Raw<T>);
      EXPECT_EQ(is_float(t), Float<T>);
      EXPECT_EQ(is_int(t), Int<T>);
    });
    EXPECT_EQ(dtype(storage_of(t)), t);
  }
  EXPECT_EQ(raws, 4);
  EXPECT_EQ(floats, 5);
  EXPECT_EQ(ints, 5);
}

TEST(Dispatch, ConstraintIsTheListOfDtypes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType t = all_dtypes(i);
    const auto run = [&] {
      return dispatch<int>(storage_of(t), "sqrt", []<Float T>(const Buffer<T>& b) {
        return static_cast<int>(sizeof(T)) * static_cast<int>(b.size());
      });
    };
    if (is_float(t)) {
      EXPECT_EQ(run(), bits(t) / 4);
      continue;
    }
    const Error e = testing::error_of(run);
    EXPECT_EQ(e.kind(), ErrorKind::unsupported_dtype);
    EXPECT_EQ(e.op(), "sqrt");
    EXPECT_THAT(e.what(), AllOf(HasSubstr("sqrt"), HasSubstr(std::string(name(t)))));
  }
}

TEST(Dispatch, TwoAndThreeOperandsAgree) {
  const Storage a = storage_of(DType::f32), b = storage_of(DType::f64);
  const auto two = []<Element T>(const Buffer<T>&, const Buffer<T>&) { return 2; };
  const auto three = []<Element T>(const Buffer<T>&, const Buffer<T>&, const Buffer<T>&) {
    return 3;
  };
  EXPECT_EQ(dispatch<int>(a, a, "add", two), 2);
  EXPECT_EQ(dispatch<int>(b, b, b, "where", three), 3);
  for (const Error& e : {testing::error_of([&] { dispatch<int>(a, b, "add", two); }),
                         testing::error_of([&] { dispatch<int>(a, a, b, "add", three); }),
                         testing::error_of([&] { dispatch<int>(a, b, a, "add", three); })}) {
    EXPECT_EQ(e.kind(), ErrorKind::dtype);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("add"), HasSubstr("f32"), HasSubstr("f64")));
  }
  EXPECT_ERROR(dispatch<int>(storage_of(DType::f4), storage_of(DType::f4), "add", two),
               unsupported_dtype);
}

TEST(Dispatch, NoSuchDtype) {
  EXPECT_ERROR(dispatch(static_cast<DType>(77), "op", []<class T>(std::type_identity<T>) {}),
               internal);
}

TEST(Storage, CloneCopiesShareDoesNot) {
  const Storage a = storage_of(DType::i32);
  const Storage shared = a, own = clone(a);
  EXPECT_EQ(view(a).data, view(shared).data);
  EXPECT_NE(view(a).data, view(own).data);
  EXPECT_FALSE(view(a).unique);
  EXPECT_TRUE(view(own).unique);
  EXPECT_EQ(view(own).bytes, 8);
  EXPECT_EQ(dtype(own), DType::i32);
}

}  // namespace
}  // namespace wick
