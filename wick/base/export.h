// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what a shared library shows; everything else is built with hidden visibility.
#if defined(_WIN32)
#if defined(WICK_BUILDING_SHARED)
#define WICK_API __declspec(dllexport)
#elif defined(WICK_SHARED)
#define WICK_API __declspec(dllimport)
#else
#define WICK_API
#endif
#else
#define WICK_API __attribute__((visibility("default")))
#endif
