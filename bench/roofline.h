// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/session.h"

namespace wick::bench {

/// Text as it may stand in HTML and SVG.
std::string escape(std::string_view text);

/// The colour class of an engine, e.g. "e0" for wick.
std::string engine_class(std::string_view engine);

/// A bar for each case with a name, and marks on it for the engines beside wick.
std::string comparison_bars(std::span<const Row* const> rows);

/// An SVG: arithmetic intensity against speed, both logarithmic, with the roofs of the machine
/// (Williams, Waterman & Patterson, "Roofline", 2009). The first experiment's rows, and others of
/// all threads, are numbered as in roofline_key(); other engines are small dots.
std::string roofline_svg(const Machine& machine, std::span<const Row> rows);

/// The numbered points as an HTML list.
std::string roofline_key(const Machine& machine, std::span<const Row> rows);

}  // namespace wick::bench
