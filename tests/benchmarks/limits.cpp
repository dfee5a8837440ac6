// Limits of this machine with so many threads, one JSON object: multiply-adds a second of float32, bfloat16 and
// int8, and bytes a second that are read from memory. tests/benchmarks/limits.py runs it. 0: the processor has no such
// instruction.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

/// Chains of sums that do not wait for each other: enough for four cycles of latency and two units.
constexpr int kChains = 12;
constexpr int64_t kTrips = 4'000'000;
constexpr size_t kBytes = size_t(1) << 28; // a thread, far beyond every cache
constexpr int kRounds = 5;

/// Keeps the compiler from seeing what a vector holds; a function would not have the caller's registers.
#define TESS_HIDE(vector) asm volatile("" : "+v"(vector))

__attribute__((target("avx2,fma"))) void addFloats256() {
  __m256 sums[kChains] = {}, x = _mm256_set1_ps(1), y = x;
  for (int64_t trip = 0; trip < kTrips; ++trip) {
    TESS_HIDE(x);
#pragma clang loop unroll(full)
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(x, y, sum);
  }
  for (__m256 &sum : sums)
    TESS_HIDE(sum);
}

__attribute__((target("avx512f"))) void addFloats512() {
  __m512 sums[kChains] = {}, x = _mm512_set1_ps(1), y = x;
  for (int64_t trip = 0; trip < kTrips; ++trip) {
    TESS_HIDE(x);
#pragma clang loop unroll(full)
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(x, y, sum);
  }
  for (__m512 &sum : sums)
    TESS_HIDE(sum);
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void addBfloats512() {
  __m512 sums[kChains] = {}, ones = _mm512_set1_ps(1);
  __m512bh x = _mm512_cvtne2ps_pbh(ones, ones), y = x;
  for (int64_t trip = 0; trip < kTrips; ++trip) {
    TESS_HIDE(x);
#pragma clang loop unroll(full)
    for (__m512 &sum : sums)
      sum = _mm512_dpbf16_ps(sum, x, y);
  }
  for (__m512 &sum : sums)
    TESS_HIDE(sum);
}

__attribute__((target("avx512f,avx512vnni"))) void addBytes512() {
  __m512i sums[kChains] = {}, x = _mm512_set1_epi8(1), y = x;
  for (int64_t trip = 0; trip < kTrips; ++trip) {
    TESS_HIDE(x);
#pragma clang loop unroll(full)
    for (__m512i &sum : sums)
      sum = _mm512_dpbusd_epi32(sum, x, y);
  }
  for (__m512i &sum : sums)
    TESS_HIDE(sum);
}

/// Adds up all of the memory, which must be whole lines of eight vectors.
__attribute__((target("avx2"))) void readAll(const std::vector<uint64_t> &memory) {
  __m256i sums[8] = {};
  const auto *vectors = reinterpret_cast<const __m256i *>(memory.data());
  for (size_t i = 0; i < kBytes / sizeof(__m256i); i += 8)
    for (size_t k = 0; k < 8; ++k)
      sums[k] = _mm256_add_epi64(sums[k], _mm256_loadu_si256(vectors + i + k));
  for (__m256i &sum : sums)
    TESS_HIDE(sum);
}

/// Least seconds in which every thread has called `work` with its number.
double secondsOf(int threads, const std::function<void(int)> &work) {
  double least = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i)
      others.emplace_back(work, i);
    work(0);
    for (std::thread &other : others)
      other.join();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

/// Multiply-adds a second of all threads, where an instruction makes `each` of them.
double rateOf(int threads, int each, void (*work)()) {
  return double(threads) * each * kChains * kTrips / secondsOf(threads, [&](int) { work(); });
}

double readRate(int threads) {
  std::vector<std::vector<uint64_t>> memory(threads, std::vector<uint64_t>(kBytes / sizeof(uint64_t), 1));
  return double(threads) * kBytes / secondsOf(threads, [&](int i) { readAll(memory[i]); });
}

} // namespace

int main(int count, char **arguments) {
  int threads = count > 1 ? std::max(1, int(std::strtol(arguments[1], nullptr, 10))) : 1;
  bool isWide = __builtin_cpu_supports("avx512f");
  double floats = isWide ? rateOf(threads, 16, addFloats512) : rateOf(threads, 8, addFloats256);
  double bfloats = __builtin_cpu_supports("avx512bf16") ? rateOf(threads, 32, addBfloats512) : 0;
  double bytes = __builtin_cpu_supports("avx512vnni") ? rateOf(threads, 64, addBytes512) : 0;
  std::printf("{\"float32\": %.4g, \"bfloat16\": %.4g, \"int8\": %.4g, \"read\": %.4g}\n", floats, bfloats, bytes,
              readRate(threads));
}
