#include "gih/memory/evaluation.hpp"

#include <doctest/doctest.h>

#include <bit>

#include <cmath>
#include <limits>
#include <map>

#include "gih/base/error.hpp"

using namespace gih;

namespace {

DataSpec data_of(std::size_t sequences, std::size_t L = 200) {
  DataSpec data;
  data.prior.alpha = 0.3;
  data.L = L;
  data.validation = sequences;
  return data;
}

struct Found {
  std::map<std::string, Measure> by_name;
  const Measure& operator[](const std::string& name) const { return by_name.at(name); }
};

Found evaluated(Compressor kind, const ReadOptions& read, const DataSpec& data, int threads = 1,
                std::size_t rate = 4, double switching = 0.0) {
  const Reader reader = Reader::limit(data.d, 3, 0b11);
  StreamSpec stream;
  stream.compressor.kind = kind;
  stream.compressor.rate = rate;
  const MemoryTask task{
      reader, 0b11, Halo::exact, stream, read, {stream.compressor, reader.d_e()}, 1e-3, switching};
  Found found;
  for (const Measure& measure : evaluate_memory(task, data, Split::validation, threads)) {
    found.by_name[measure.name] = measure;
  }
  return found;
}

}  // namespace

TEST_CASE("stores of content lose nothing, at any scale, and the exact limit is the head") {
  const DataSpec data = data_of(40);
  for (const double a : {0.5, 3.0, 12.0}) {
    ReadOptions read;
    read.a = a;
    read.multiplicity = true;
    for (const Compressor kind : {Compressor::group, Compressor::matrix}) {
      const Found found = evaluated(kind, read, data);
      CHECK(std::abs(found["kl_unc"].mean) < 1e-13);
      CHECK(std::abs(found["cross_entropy"].mean - found["cross_entropy_unc"].mean) < 1e-12);
    }
  }
  ReadOptions exact;
  exact.a = std::numeric_limits<double>::infinity();
  exact.multiplicity = true;
  CHECK(evaluated(Compressor::group, exact, data)["kl_gih"].mean < 1e-13);
}

TEST_CASE("measures are what they say") {
  ReadOptions read;
  read.a = 8.0;
  const Found drop = evaluated(Compressor::drop, read, data_of(60));
  CHECK(drop["kl_unc"].count == 60);
  CHECK(drop["kl_unc"].mean > 0.05);
  CHECK(drop["mass_compressed"].mean == 0.0);
  CHECK(drop["slots_held"].mean == 20.0);  // L is a multiple of n_s: the memory alone
  CHECK(std::isnan(drop["jensen"].mean));
  const Found mean = evaluated(Compressor::mean, read, data_of(60));
  CHECK(mean["slots_held"].mean == 20.0 + 44.0 + 1.0);  // 197 items: 44 blocks of 4, 1 that waits
  CHECK(mean["items_compressed"].mean == 176.0);
  CHECK(mean["bytes"].mean == 8.0 * 65.0 * 12.0);
  double mass = 0.0, items = 0.0;
  for (const char* part : {"compressed", "memory", "current"}) {
    for (std::size_t age = 1; age <= age_buckets; ++age) {
      mass += mean["mass_" + std::string(part) + "_" + std::to_string(age)].mean;
      items += mean["items_" + std::string(part) + "_" + std::to_string(age)].mean;
    }
  }
  CHECK(std::abs(mass - 1.0) < 1e-12);
  CHECK(std::abs(items - 1.0) < 1e-12);
  CHECK(mean["jensen"].mean > 0.0);
  CHECK(mean["match_mass"].mean > mean["match_share"].mean);  // attention prefers matches
  CHECK(mean["kl_unc_rare"].count + mean["kl_unc_mid"].count + mean["kl_unc_frequent"].count == 60);
  // The truth is nearest to what knows the parents and the prior, and Bayes nearer than the memory.
  CHECK(mean["kl_bayes"].count == 60);
  CHECK(mean["kl_bayes"].mean < mean["kl_pi"].mean);
}

TEST_CASE("the pooled law is where a long memory goes, the exact one elsewhere") {
  ReadOptions read;
  read.a = 3.0;
  const Found found = evaluated(Compressor::mean, read, data_of(12, 20000), 2, 2);
  CHECK(found["kl_pooled"].mean < 2e-3);
  CHECK(found["kl_pooled"].mean < 0.1 * found["kl_unc_pooled"].mean);
}

TEST_CASE("snapshots of patterns lose nothing, means of segments do") {
  const Reader reader = Reader::limit(3, 3, 0b11);
  MemoryTask task{reader, 0b11, Halo::exact, {}, {.a = 8.0}, {}, 1e-3, 0.0};
  for (const bool oracle : {true, false}) {
    SnapSpec spec;
    spec.log_Z = oracle;
    task.snap = {spec, oracle ? oracle_weights(9) : mean_weights(spec, 9)};
    Found found;
    for (const Measure& one : evaluate_memory(task, data_of(40), Split::validation, 2)) {
      found.by_name[one.name] = one;
    }
    CHECK((std::abs(found["kl_unc"].mean) < 1e-13) == oracle);
    CHECK(found["segments"].mean == 10.0);
    CHECK(found["size_variation"].mean < 1e-12);
    CHECK(found["participation"].mean <= 10.0 + 1e-12);
    CHECK(found["patterns"].mean > 5.0);
  }
}

TEST_CASE("T30: any number of threads finds the same bits") {
  ReadOptions read;
  read.a = 6.0;
  const Found one = evaluated(Compressor::most_used, read, data_of(150, 90));
  for (const int threads : {2, 3, 8}) {
    const Found many = evaluated(Compressor::most_used, read, data_of(150, 90), threads);
    for (const auto& entry : one.by_name) {
      const std::string& name = entry.first;
      const Measure& measure = entry.second;
      CAPTURE(name);
      CHECK(std::bit_cast<std::uint64_t>(measure.mean) ==
            std::bit_cast<std::uint64_t>(many[name].mean));
      CHECK(std::bit_cast<std::uint64_t>(measure.error) ==
            std::bit_cast<std::uint64_t>(many[name].error));
    }
  }
}

TEST_CASE("kernels that switch leave the past without use, and tell what they drew") {
  ReadOptions read;
  read.a = 8.0;
  const DataSpec data = data_of(200);
  const Found often = evaluated(Compressor::group, read, data, 2, 4, 1.0);
  const Found never = evaluated(Compressor::group, read, data, 2, 4, 1e-9);
  CHECK(often["kl_pi"].mean > never["kl_pi"].mean + 10 * never["kl_pi"].error);
  CHECK(often["kl_bayes"].count == 0);
  std::vector<Token> x(201), again(201);
  const Kernel last = draw_switching(data, Split::validation, 3, 20, 0.5, x);
  CHECK(draw_switching(data, Split::validation, 3, 20, 0.5, again).pi == last.pi);
  CHECK(x == again);
  CHECK(draw_switching(data, Split::train, 3, 20, 0.5, again).pi != last.pi);
  CHECK(draw_switching(data, Split::validation, 3, 20, 0.0, again).pi ==
        draw_switching(data, Split::validation, 3, 20, 1e-300, x).pi);
}

TEST_CASE("short prompts have an answer, infinite ones are refused, work can be stopped") {
  ReadOptions read;
  for (const std::size_t L : {2U, 3U, 4U, 5U, 19U, 20U, 21U}) {
    const Found found = evaluated(Compressor::mean, read, data_of(20, L));
    CHECK(std::isfinite(found["kl_unc"].mean));
    CHECK(found["kl_unc"].mean == 0.0);  // nothing is evicted before the memory is full
  }
  DataSpec infinite = data_of(5);
  infinite.L.reset();
  CHECK_THROWS_AS(evaluated(Compressor::mean, read, infinite), InputError);
  const Reader reader = Reader::limit(3, 3, 0b11);
  const MemoryTask task{reader, 0b11, Halo::exact, {}, read, {}, 1e-3, 0.0};
  CHECK(evaluate_memory(task, data_of(100), Split::validation, 1, [](std::size_t) {
          return false;
        }).empty());
}
