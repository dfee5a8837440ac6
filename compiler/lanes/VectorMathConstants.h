//===- VectorMathConstants.h - fitted numbers -------------------*- C++ -*-===//
//
// Written by `tools/dev polynomials` from compiler/lanes/polynomials/*.sollya: do not edit. An
// array that stands for p or q holds a polynomial's coefficients from the highest down.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tess::compiler::vmath {

// Arc.sollya
/// kPi32 - kPi32Over: pi (rounded).
inline constexpr double kPi32 = 0x1.921fb6p1;
/// kPi32 - kPi32Over: pi (rounded).
inline constexpr double kPi32Over = 0x1.777a5cp-24;
/// kAtan32: x + x^3 p(x^2) for atan x (fpminimax).
inline constexpr double kAtan32[] = {-0x1.449a16p-9, 0x1.c62ea6p-7,  -0x1.2a759ap-5, 0x1.01e514p-4, -0x1.636df2p-4,
                                     0x1.c423eep-4,  -0x1.246f74p-3, 0x1.99984cp-3,  -0x1.555554p-2};
/// kAsin32: x + x^3 p(x^2) for asin x (fpminimax).
inline constexpr double kAsin32[] = {0x1.573674p-5, 0x1.8342c2p-7, 0x1.08af92p-5,
                                     0x1.6c70f4p-5, 0x1.333808p-4, 0x1.555552p-3};
/// kAtan64: x - x^3 p(x^2) for atan x (fdlibm atan).
inline constexpr double kAtan64[] = {0x1.0ad3ae322da11p-6,  -0x1.2b4442c6a6c2fp-5, 0x1.97b4b24760debp-5,
                                     -0x1.dde2d52defd9ap-5, 0x1.10d66a0d03d51p-4,  -0x1.3b0f2af749a6dp-4,
                                     0x1.745cdc54c206ep-4,  -0x1.c71c6fe231671p-4, 0x1.24924920083ffp-3,
                                     -0x1.999999998ebc4p-3, 0x1.555555555550dp-2};
/// kAtanHigh + kAtanLow: atan 1/2 (rounded).
inline constexpr double kAtanHigh[] = {0x1.dac670561bb4fp-2, 0x1.921fb54442d18p-1, 0x1.f730bd281f69bp-1,
                                       0x1.921fb54442d18p0};
/// kAtanHigh + kAtanLow: atan 1/2 (rounded).
inline constexpr double kAtanLow[] = {0x1.a2b7f222f65e2p-56, 0x1.1a62633145c07p-55, 0x1.007887af0cbbdp-56,
                                      0x1.1a62633145c07p-54};
/// kAsinP / kAsinQ: x + x^3 p(x^2) / q(x^2) for asin x (fdlibm asin).
inline constexpr double kAsinP[] = {0x1.23de10dfdf709p-15, 0x1.9efe07501b288p-11, -0x1.48228b5688f3bp-5,
                                    0x1.9c1550e884455p-3,  -0x1.4d61203eb6f7dp-2, 0x1.5555555555555p-3};
/// kAsinP / kAsinQ: x + x^3 p(x^2) / q(x^2) for asin x (fdlibm asin).
inline constexpr double kAsinQ[] = {0x1.3b8c5b12e9282p-4, -0x1.6066c1b8d0159p-1, 0x1.02ae59c598ac8p1,
                                    -0x1.33a271c8a2d4bp1, 0x1p0};

// Erf.sollya
/// kErf32: x + x p(x^2) for erf x (N. Juffa's erff).
inline constexpr double kErf32[] = {-0x1.38ep-11,  0x1.471a58p-8, -0x1.b691b2p-6,
                                    0x1.ce1c44p-4, -0x1.8127p-2,  0x1.06eba8p-3};
/// kErfExponent32: 1 - e^(x p(x) - x) for erf x (N. Juffa's erff).
inline constexpr double kErfExponent32[] = {-0x1.22p-16,    0x1.91cfb2p-12, -0x1.fd1438p-9, 0x1.8d6342p-6,
                                            -0x1.b55cb8p-4, -0x1.450aap-1,  -0x1.079d0cp-3};
/// kErfc32: p(q) for (1 + 2 a) e^(a^2) erfc a, a = 3 (1 + q) / (1 - q) (Chebyshev interpolation).
inline constexpr double kErfc32[] = {-0x1.21d0f1bce9e29p-12, -0x1.a133a7774f499p-11, 0x1.05ab4105fcee7p-9,
                                     0x1.5203b0f84bbf1p-9,   -0x1.85cc256e46942p-6,  0x1.17bac93a8cf9fp-4,
                                     -0x1.e88a4104b8236p-4,  0x1.098429c361de8p-3,   -0x1.85a159aba677bp-5,
                                     -0x1.15c089ed75fc9p-3,  0x1.40c522d64e381p0};
/// kErx + kErfOneP / kErfOneQ: kErx + p(s) / q(s) for erf(1 + s) (fdlibm erf).
inline constexpr double kErx = 0x1.b0ac16p-1;
/// kErfZeroP / kErfZeroQ: x + x p(x^2) / q(x^2) for erf x (fdlibm erf).
inline constexpr double kErfZeroP[] = {-0x1.8ead6120016acp-16, -0x1.7a291236668e4p-8, -0x1.d2a51dbd7194fp-6,
                                       -0x1.4cd7d691cb913p-2, 0x1.06eba8214db68p-3};
/// kErfZeroP / kErfZeroQ: x + x p(x^2) / q(x^2) for erf x (fdlibm erf).
inline constexpr double kErfZeroQ[] = {-0x1.09c4342a2612p-18, 0x1.15dc9221c1a1p-13, 0x1.4d022c4d36b0fp-8,
                                       0x1.0a54c5536cebap-4,  0x1.97779cddadc09p-2, 0x1p0};
/// kErx + kErfOneP / kErfOneQ: kErx + p(s) / q(s) for erf(1 + s) (fdlibm erf).
inline constexpr double kErfOneP[] = {-0x1.1bf380a96073fp-9, 0x1.22a36599795ebp-5,  -0x1.c63983d3e28ecp-4,
                                      0x1.45fca805120e4p-2,  -0x1.7d240fbb8c3f1p-2, 0x1.a8d00ad92b34dp-2,
                                      -0x1.359b8bef77538p-9};
/// kErx + kErfOneP / kErfOneQ: kErx + p(s) / q(s) for erf(1 + s) (fdlibm erf).
inline constexpr double kErfOneQ[] = {0x1.88b545735151dp-7,
                                      0x1.bedc26b51dd1cp-7,
                                      0x1.02660e763351fp-3,
                                      0x1.2635cd99fe9a7p-4,
                                      0x1.14af092eb6f33p-1,
                                      0x1.b3e6618eee323p-4,
                                      0x1p0};
/// kErfMiddleP / kErfMiddleQ: e^(-x^2 - 0.5625 + p(s) / q(s)) / x for erfc x, s = 1 / x^2 (fdlibm erfc).
inline constexpr double kErfMiddleP[] = {-0x1.3a0efc69ac25cp3, -0x1.4526557e4d2f2p6, -0x1.7135cebccabb2p7,
                                         -0x1.44cb184282266p7, -0x1.f300ae4cba38dp5, -0x1.51e0441b0e726p3,
                                         -0x1.63416e4ba736p-1, -0x1.43412600d6435p-7};
/// kErfMiddleP / kErfMiddleQ: e^(-x^2 - 0.5625 + p(s) / q(s)) / x for erfc x, s = 1 / x^2 (fdlibm erfc).
inline constexpr double kErfMiddleQ[] = {-0x1.eeff2ee749a62p-5, 0x1.a47ef8e484a93p2, 0x1.b28a3ee48ae2cp6,
                                         0x1.ad02157700314p8,   0x1.42b1921ec2868p9, 0x1.b290dd58a1a71p8,
                                         0x1.1350c526ae721p7,   0x1.3a6b9bd707687p4, 0x1p0};
/// kErfFarP / kErfFarQ: e^(-x^2 - 0.5625 + p(s) / q(s)) / x for erfc x, s = 1 / x^2 (fdlibm erfc).
inline constexpr double kErfFarP[] = {-0x1.e384e9bdc383fp8, -0x1.004616a2e5992p10, -0x1.3ec881375f228p9,
                                      -0x1.4145d43c5ed98p7, -0x1.1c209555f995ap4,  -0x1.993ba70c285dep-1,
                                      -0x1.4341239e86f4ap-7};
/// kErfFarP / kErfFarQ: e^(-x^2 - 0.5625 + p(s) / q(s)) / x for erfc x, s = 1 / x^2 (fdlibm erfc).
inline constexpr double kErfFarQ[] = {
    -0x1.670e242712d62p4, 0x1.da874e79fe763p8, 0x1.3f219cedf3be6p11, 0x1.8ffb7688c246ap11,
    0x1.802eb189d5118p10, 0x1.45cae221b9f0ap8, 0x1.e568b261d519p4,   0x1p0};

// Exp.sollya
/// kLog2E: 1 / ln 2 (rounded).
inline constexpr double kLog2E = 0x1.71547652b82fep0;
/// kLn2 + kLn2Low: ln 2 (rounded).
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
/// kLn2 + kLn2Low: ln 2 (rounded).
inline constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
/// kLn2High32 + kLn2Low32: ln 2 (rounded; Cephes splits so).
inline constexpr double kLn2High32 = 0x1.63p-1;
/// kLn2High32 + kLn2Low32: ln 2 (rounded; Cephes splits so).
inline constexpr double kLn2Low32 = -0x1.bd0106p-13;
/// kExp32: 1 + r + r^2 p(r) for e^r (Cephes expf).
inline constexpr double kExp32[] = {0x1.a0d2cep-13, 0x1.6e879cp-10, 0x1.11121p-7, 0x1.555382p-5, 0x1.555554p-3, 0x1p-1};
/// kExp64: 1 + r + r^2 p(r) for e^r (Taylor).
inline constexpr double kExp64[] = {0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29, 0x1.ae64567f544e4p-26,
                                    0x1.27e4fb7789f5cp-22, 0x1.71de3a556c734p-19, 0x1.a01a01a01a01ap-16,
                                    0x1.a01a01a01a01ap-13, 0x1.6c16c16c16c17p-10, 0x1.1111111111111p-7,
                                    0x1.5555555555555p-5,  0x1.5555555555555p-3,  0x1p-1};
/// kExp28: p(r) for e^r (fpminimax).
inline constexpr double kExp28[] = {0x1.6dd99322a7fc1p-10, 0x1.126fb961d0ef7p-7, 0x1.55541c3415135p-5,
                                    0x1.555404188fb07p-3,  0x1.00000090bb58dp-1, 0x1.000000a21b36bp0,
                                    0x1.ffffffff4debp-1};
/// kSinh32: x + x^3 p(x^2) for sinh x (fpminimax).
inline constexpr double kSinh32[] = {0x1.a8e94p-13, 0x1.1103a4p-7, 0x1.555562p-3};
/// kTanh32: x + x^3 p(x^2) for tanh x (Cephes tanhf).
inline constexpr double kTanh32[] = {-0x1.75e1d4p-8, 0x1.52269cp-6, -0x1.b83c5ap-5, 0x1.110726p-3, -0x1.555532p-2};

// Log.sollya
/// kLn2High64 + kLn2Low64: ln 2 (rounded; fdlibm splits so).
inline constexpr double kLn2High64 = 0x1.62e42feep-1;
/// kLn2High64 + kLn2Low64: ln 2 (rounded; fdlibm splits so).
inline constexpr double kLn2Low64 = 0x1.a39ef35793c76p-33;
/// kLog32: f - f^2 / 2 + f^3 p(f) for log(1 + f) (Cephes logf).
inline constexpr double kLog32[] = {0x1.204376p-4, -0x1.d7a37p-4, 0x1.de4a34p-4,  -0x1.fcba9ep-4, 0x1.23d37ep-3,
                                    -0x1.555cap-3, 0x1.999d58p-3, -0x1.fffff8p-3, 0x1.555554p-2};
/// kLog64: 2 s + s^3 p(s^2) for log((1 + s) / (1 - s)) (fdlibm log).
inline constexpr double kLog64[] = {0x1.2f112df3e5244p-3, 0x1.39a09d078c69fp-3, 0x1.7466496cb03dep-3,
                                    0x1.c71c51d8e78afp-3, 0x1.2492494229359p-2, 0x1.999999997fa04p-2,
                                    0x1.5555555555593p-1};
/// kLog37: s p(s^2) for log((1 + s) / (1 - s)) (fpminimax).
inline constexpr double kLog37[] = {0x1.e3b37f55bbd88p-3, 0x1.2432a33ef70bfp-2, 0x1.999a9d1840722p-2,
                                    0x1.555554da6a7fcp-1, 0x1.0000000004a7bp1};
/// kLogAddExp32: s p(s^2) for log((1 + s) / (1 - s)) (fpminimax).
inline constexpr double kLogAddExp32[] = {0x1.f438de12735adp-3, 0x1.b610fefc24beep-3, 0x1.251458393b2c8p-2,
                                          0x1.9996228dc14d5p-2, 0x1.555559a255eabp-1, 0x1.ffffffff22deep0};

// Pow.sollya
/// kThird + kThirdLow: 1 / 3 (rounded).
inline constexpr double kThird = 0x1.5555555555555p-2;
/// kThird + kThirdLow: 1 / 3 (rounded).
inline constexpr double kThirdLow = 0x1.5555555555555p-56;
/// kLogPair: 2 s + 2 s^3 (1/3 + s^2 p(s^2)) for log((1 + s) / (1 - s)) (Taylor).
inline constexpr double kLogPair[] = {0x1.2f684bda12f68p-5, 0x1.47ae147ae147bp-5, 0x1.642c8590b2164p-5,
                                      0x1.8618618618618p-5, 0x1.af286bca1af28p-5, 0x1.e1e1e1e1e1e1ep-5,
                                      0x1.1111111111111p-4, 0x1.3b13b13b13b14p-4, 0x1.745d1745d1746p-4,
                                      0x1.c71c71c71c71cp-4, 0x1.2492492492492p-3, 0x1.999999999999ap-3};

// Trig.sollya
/// kPio2: pi / 2 (rounded).
inline constexpr double kPio2[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
/// kInversePio2: 2 / pi (rounded).
inline constexpr double kInversePio2 = 0x1.45f306dc9c883p-1;
/// kTwoOverPi: 2 / pi (rounded down).
inline constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
/// kSin32: x + x^3 p(x^2) for sin x (Cephes sinf).
inline constexpr double kSin32[] = {-0x1.9943f2p-13, 0x1.11073cp-7, -0x1.555546p-3};
/// kCos32: 1 - x^2 / 2 + x^4 p(x^2) for cos x (Cephes sinf).
inline constexpr double kCos32[] = {0x1.99eb9cp-16, -0x1.6c0c34p-10, 0x1.55554ap-5};
/// kSin64 kSinCube64: x - x^3 kSinCube64 + x^5 p(x^2) for sin x (fdlibm sin).
inline constexpr double kSinCube64 = 0x1.5555555555549p-3;
/// kSin64 kSinCube64: x - x^3 kSinCube64 + x^5 p(x^2) for sin x (fdlibm sin).
inline constexpr double kSin64[] = {0x1.5d93a5acfd57cp-33, -0x1.ae5e68a2b9cebp-26, 0x1.71de357b1fe7dp-19,
                                    -0x1.a01a019c161d5p-13, 0x1.111111110f8a6p-7};
/// kCos64: 1 - x^2 / 2 + x^4 p(x^2) for cos x (fdlibm cos).
inline constexpr double kCos64[] = {-0x1.8fae9be8838d4p-37, 0x1.1ee9ebdb4b1c4p-29,  -0x1.27e4f809c52adp-22,
                                    0x1.a01a019cb159p-16,   -0x1.6c16c16c15177p-10, 0x1.555555555554cp-5};

} // namespace tess::compiler::vmath
