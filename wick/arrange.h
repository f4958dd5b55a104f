// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "wick/tensor.h"

namespace wick {

// Ops that put elements in other places: the ones that take several tensors, and the `_into` forms
// of Tensor's methods for indexing, building and sorting. What holds for every `_into` form (see
// tensor.h) holds here; an output may be an input itself only where that is said.

/// Tensors of one dtype, of one shape but along `dim`, end to end along it.
WICK_API Tensor cat(const std::vector<Tensor>& tensors, Index dim);
WICK_API void cat_into(const Tensor& out, const std::vector<Tensor>& tensors, Index dim);
/// Tensors of one dtype and shape side by side along a new dim.
WICK_API Tensor stack(const std::vector<Tensor>& tensors, Index dim);
WICK_API void stack_into(const Tensor& out, const std::vector<Tensor>& tensors, Index dim);

/// Which of the first two dims of a mesh the first tensor runs along: the first (`ij`, matrices) or
/// the second (`xy`, Cartesian).
enum class MeshIndexing : std::uint8_t { ij, xy };
/// Tensors of rank 1 (a scalar counts as one element) repeated over the grid that they span. Views:
/// they can be read, but not written to.
WICK_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes,
                                      MeshIndexing indexing = MeshIndexing::ij);

WICK_API void linspace_into(const Tensor& out, Scalar start, Scalar stop);
WICK_API void eye_into(const Tensor& out);
WICK_API void repeat_into(const Tensor& out, const Tensor& x, const Dims& repeats);
WICK_API void tile_into(const Tensor& out, const Tensor& x, const Dims& repeats);
WICK_API void pad_into(const Tensor& out, const Tensor& x, const Dims& before, const Dims& after,
                       PadMode mode = PadMode::constant, Scalar value = 0);
WICK_API void roll_into(const Tensor& out, const Tensor& x, const Dims& shifts, const Dims& dims);
/// out may be x itself.
WICK_API void tril_into(const Tensor& out, const Tensor& x, Index diagonal = 0);
WICK_API void triu_into(const Tensor& out, const Tensor& x, Index diagonal = 0);
/// The number of classes is the size of out's last dim.
WICK_API void one_hot_into(const Tensor& out, const Tensor& ids, Scalar on = 1, Scalar off = 0);

WICK_API void index_select_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids);
WICK_API void gather_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids);
// out may be x itself: then only the elements that ids name are written (those of small floats:
// the lines that they are in), and nothing is copied.
WICK_API void scatter_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                           const Tensor& src);
WICK_API void scatter_add_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                               const Tensor& src);
WICK_API void index_add_into(const Tensor& out, const Tensor& x, Index dim, const Tensor& ids,
                             const Tensor& src);
WICK_API void slice_assign_into(const Tensor& out, const Tensor& x,
                                const std::vector<Slice>& slices, const Tensor& src);
WICK_API void masked_fill_into(const Tensor& out, const Tensor& x, const Tensor& mask,
                               Scalar value);

/// out may be x itself.
WICK_API void sort_into(const Tensor& out, const Tensor& x, Index dim = -1,
                        bool descending = false);
WICK_API void argsort_into(const Tensor& out, const Tensor& x, Index dim = -1,
                           bool descending = false);
WICK_API void topk_into(const Tensor& values, const Tensor& indices, const Tensor& x, Index k,
                        Index dim = -1, bool largest = true);

}  // namespace wick
