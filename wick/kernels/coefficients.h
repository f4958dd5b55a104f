// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wick::kernels::coefficients {

// Minimax polynomials, lowest degree first, made by tools/minimax.py. Those named Short are good to
// about 35 bits: what a result in f32 needs when it is computed in f64.

/// (e^r - 1 - r) / r^2 in r, |r| <= ln(2) / 2.
inline constexpr double kExp[] = {
    0x1.0000000000000p-1,  0x1.555555555555cp-3,  0x1.555555555555fp-5,  0x1.111111110e8a1p-7,
    0x1.6c16c16c130dfp-10, 0x1.a01a01b4edb00p-13, 0x1.a01a01b59622ep-16, 0x1.71ddec912340bp-19,
    0x1.27e4bcc294374p-22, 0x1.af7212f1070a4p-26, 0x1.1fa16dcdeb72dp-29};

inline constexpr float kExp32[] = {0x1.000000p-1F, 0x1.555486p-3F, 0x1.555456p-5F, 0x1.12414ap-7F,
                                   0x1.6dbb00p-10F};

inline constexpr double kExpShort[] = {
    0x1.ffffffffe9165p-2,  0x1.555555811136fp-3,  0x1.5555558db8b8fp-5, 0x1.11109cc1347c9p-7,
    0x1.6c161c82dbbb0p-10, 0x1.a18e3b0e7a87ap-13, 0x1.a1926e03dd1b4p-16};

/// (2 atanh(s) - 2s) / s^3 in s^2, for s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)).
inline constexpr double kLog[] = {0x1.5555555555555p-1, 0x1.9999999999a44p-2, 0x1.2492492474ff7p-2,
                                  0x1.c71c7204824f4p-3, 0x1.745cf7b5bdf8cp-3, 0x1.3b1c7be94f5aap-3,
                                  0x1.0fb742b69d0bcp-3, 0x1.0c4fa790b6b4bp-3};

inline constexpr double kLogShort[] = {0x1.5555555565c8ap-1, 0x1.999998c1e4c18p-2,
                                       0x1.24932b082ff04p-2, 0x1.c6775aff16ff4p-3,
                                       0x1.8ccf45980c60cp-3};

/// The same without its first term, 2/3.
inline constexpr double kPow[] = {0x1.999999999999ap-2, 0x1.249249249252cp-2, 0x1.c71c71c6e771ep-3,
                                  0x1.745d177d620abp-3, 0x1.3b1394a97c67ep-3, 0x1.11190676c0b26p-3,
                                  0x1.df6fc8565c648p-4, 0x1.e0b585b10317ap-4};

/// (log(1 + f) - f + f^2 / 2) / f^3 in f.
inline constexpr float kLog32[] = {0x1.555544p-2F,  -0x1.000010p-2F, 0x1.99a6e0p-3F,
                                   -0x1.555a60p-3F, 0x1.230552p-3F,  -0x1.fc198cp-4F,
                                   0x1.e9f8eap-4F,  -0x1.e00d46p-4F, 0x1.0fbe4ep-4F};

/// (sin r - r) / r^3 in r^2, |r| <= pi / 4.
inline constexpr double kSin[] = {
    -0x1.5555555555555p-3,  0x1.111111111110ap-7,  -0x1.a01a01a0188b2p-13, 0x1.71de3a530b5e3p-19,
    -0x1.ae64525b95c65p-26, 0x1.61206ba899913p-33, -0x1.aa91be3b62747p-41};

/// (cos r - 1 + r^2 / 2) / r^4 in r^2.
inline constexpr double kCos[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c0fp-10, 0x1.a01a01a018c08p-16, -0x1.27e4fb75dcf81p-22,
    0x1.1eed8c7eee0f8p-29, -0x1.93930e6fdd9bdp-37, 0x1.aab2c2f53f1ccp-45};

inline constexpr double kSinShort[] = {-0x1.5555554c042b9p-3, 0x1.1111081196ed3p-7,
                                       -0x1.a00f327ed5ba3p-13, 0x1.6cbec3bdb865ap-19};

inline constexpr double kCosShort[] = {0x1.5555554ecfe4fp-5, -0x1.6c16b80f5a366p-10,
                                       0x1.a010c4e88f406p-16, -0x1.2417e8be6dbeep-22};

/// erf(x) / x in x^2, |x| <= 1.
inline constexpr double kErf[] = {
    0x1.20dd750429b6dp+0,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,  -0x1.b82ce3128499cp-6,
    0x1.565bcd0db02b9p-8,  -0x1.c02db3d8ec96ap-11, 0x1.f9a321a10bc22p-14, -0x1.f4d1df37d0abcp-17,
    0x1.b9def189a4784p-20, -0x1.5f1d360cccd35p-23, 0x1.f7a40a3ce4b41p-27, -0x1.386aa76e1fa14p-30,
    0x1.057964764b83cp-34};

inline constexpr double kErfShort[] = {
    0x1.20dd750400815p+0, -0x1.8127465fbc7a0p-2,  0x1.ce2f079943054p-4,  -0x1.b829a7b01b353p-6,
    0x1.5628ee40a639ep-8, -0x1.bcbe9cea0c379p-11, 0x1.d82699afb8d41p-14, -0x1.43840b985b558p-17};

/// (1 + 2z) e^(z^2) erfc(z) in (z - 3.75) / (z + 3.75), z >= 0.
inline constexpr double kErfcx[] = {
    0x1.3ccda0b5d5dc2p+0,  -0x1.1f367683f89a7p-3,  0x1.d5f294815a412p-9,   0x1.510169d096809p-4,
    -0x1.bda9309a294b3p-4, 0x1.7a14188a99aa6p-4,   -0x1.e0d0fa6ddfa29p-5,  0x1.d0b0037dcdae1p-6,
    -0x1.3f603c39989b3p-7, 0x1.cc3a0e21e31a4p-10,  0x1.33fb297298449p-12,  -0x1.303f9d8fea96fp-12,
    0x1.b1439731ec26bp-15, 0x1.778a2942bfe4bp-16,  -0x1.80006b5ef2c3dp-17, -0x1.05258ce25a2c8p-20,
    0x1.d632f87464fc2p-20, -0x1.f47a9684ef392p-25, -0x1.15bb5f78f7aaap-22, 0x1.a1427f8429502p-26,
    0x1.4c27e4d4a0ae0p-25, -0x1.2d6f8a7d5ab78p-28, -0x1.635ab6ccd0d87p-28, 0x1.2b29f9966ff2cp-31,
    0x1.d2e6daef7edabp-32, -0x1.474a912a49dc1p-35};

inline constexpr double kErfcxShort[] = {
    0x1.3ccda0b59dd24p+0,  -0x1.1f3676a2c680ap-3, 0x1.d5f2c853e7597p-9,  0x1.510172f121204p-4,
    -0x1.bda9504ff4f85p-4, 0x1.7a13b4c515df1p-4,  -0x1.e0cf1ce2644ddp-5, 0x1.d0b78219ba98ap-6,
    -0x1.3f7c27a4adfa6p-7, 0x1.cb12c2fc3f04ep-10, 0x1.3b316af865ffap-12, -0x1.2a2e4c1e376c0p-12,
    0x1.6d45d3408044bp-15, 0x1.3706efe8ec8bcp-16, -0x1.9bfaa2c3c9314p-18};

/// (z + 3.5) e^(z^2 / 2) erfc(z / sqrt(2)) / 2 in z / (z + 3.5) - 0.34375, 0 <= z <= 15.
inline constexpr float kGeluErf32[] = {
    0x1.e94a06p-1F, -0x1.98d062p+0F, 0x1.ba65c2p+0F,  -0x1.09bf0cp+0F, 0x1.bae064p-5F,
    0x1.634fe2p-2F, -0x1.410cdcp-4F, -0x1.2fc078p-3F, 0x1.d85e08p-6F,  0x1.c7e58ep-5F};

/// (e^(-s/2) - 1) / s + 1/2 in s, over s: kExp32 scaled by powers of -1/2.
inline constexpr float kExpHalf32[] = {0x1.000000p-3F, -0x1.555486p-6F, 0x1.555456p-9F,
                                       -0x1.12414ap-12F, 0x1.6dbb00p-16F};

}  // namespace wick::kernels::coefficients
