#include "gih/app/memory_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gih/base/error.hpp"

namespace gih {
namespace {

Subset subset_of(const Settings& settings) {
  Subset S = 0;
  const auto& lags = settings.memory.lags.empty() ? settings.data.parents : settings.memory.lags;
  for (const int lag : lags) {
    if (lag > settings.model.M) {
      throw InputError(fmt::format("memory.lags = {}: must be at most model.window = {}",
                                   fmt::join(lags, ","), settings.model.M));
    }
    S |= Subset{1} << (lag - 1);
  }
  return S;
}

Reader reader_of(const Settings& settings) {
  if (!settings.memory.trained) {
    return Reader::limit(settings.data.d, settings.model.M, subset_of(settings));
  }
  require_simplified(settings, "memory.features = trained");
  return Reader::trained(settings.model, initial_parameters(settings));
}

}  // namespace

MemoryPoint::MemoryPoint(const Settings& settings)
    : settings_(settings), reader_(reader_of(settings)), read_(settings.memory.read) {
  const MemorySettings& memory = settings.memory;
  subset_of(settings);  // refuses lags beyond the window, whatever the features
  if (!settings.data.L) {
    throw InputError("data.length = inf: a memory needs sequences of a finite length");
  }
  if (memory.trained_scale && !memory.trained) {
    throw InputError("memory.scale = trained: needs memory.features = trained");
  }
  if (memory.trained && settings.init_file.empty()) {
    throw InputError("memory.features = trained: needs init.file, the run that was trained");
  }
  if (memory.trained_scale) read_.a = reader_.a();
  if (!(read_.a >= 0.0)) {
    throw InputError(fmt::format("memory.scale = trained: a = {} must be at least 0", read_.a));
  }
  if (memory.switching > 0.0 && settings.data.initial != Initial::uniform) {
    throw InputError("memory.switching: needs data.initial = uniform");
  }
  if (memory.snaptra) {
    if (memory.halo != Halo::exact) {
      throw InputError("memory.halo = none: is for memory.system = compressive");
    }
    if (memory.snap.overlap_logit != 0.0 && std::isinf(read_.a)) {
      throw InputError("memory.snap-overlap-logit: needs a finite memory.scale");
    }
    check_snaptra(memory.snap);
    snap_ = start_snapshots();
    return;
  }
  check_stream(memory.stream);
  if (read_.distance == Distance::none && read_.slope > 0.0) {
    throw InputError(
        fmt::format("memory.slope = {}: needs memory.distance, which is none", read_.slope));
  }
  if (memory.training.joint && !memory.trained) {
    throw InputError("memory.joint = true: needs memory.features = trained");
  }
  if (memory.training.by == TrainBy::ce && !is_convex(memory.stream.compressor) &&
      compressor_row(memory.stream.compressor.kind).weights) {
    // Values outside the simplex make -log(y + eps) as small as one likes.
    throw InputError(
        fmt::format("memory.train = ce: compressor {} does not keep values laws; use conv-kv, "
                    "snap-att, or conv-scalar with memory.softmax-taps",
                    compressor_row(memory.stream.compressor.kind).name));
  }
  compressor_ = {memory.stream.compressor, reader_.d_e()};
  read_.convex = is_convex(memory.stream.compressor);
  if (compressor_row(memory.stream.compressor.kind).weights) {
    Stream stream(settings.data.seed, Purpose::memory_weights, 0);
    compressor_.weights = initial_weights(memory.stream.compressor, reader_.d_e(), reader_.d(),
                                          memory.training.noise, stream);
  } else if (memory.training.joint) {
    throw InputError(
        fmt::format("memory.joint = true: compressor {} has no weights to train beside",
                    compressor_row(memory.stream.compressor.kind).name));
  }
}

SnapTask MemoryPoint::start_snapshots() const {
  const MemorySettings& memory = settings_.memory;
  if (memory.snap_queries == SnapQueries::oracle) {
    if (memory.trained) {
      throw InputError("memory.snap-queries = oracle: needs memory.features = limit");
    }
    return {memory.snap, oracle_weights(reader_.d_e())};
  }
  if (memory.snap_tune_all && !memory.trained) {
    throw InputError("memory.snap-tune = all: needs memory.features = trained");
  }
  return {memory.snap, mean_weights(memory.snap, reader_.d_e())};
}

Subset MemoryPoint::S() const {
  return subset_of(settings_);
}

bool MemoryPoint::is_trained() const {
  if (snap_) return settings_.memory.snap_queries == SnapQueries::trained;
  return settings_.memory.training.by != TrainBy::none && compressor_.weights.size() > 0;
}

MemoryCurve MemoryPoint::train(const std::function<bool(std::size_t)>& done) {
  const MemorySettings& memory = settings_.memory;
  if (snap_) return train_snaptra(done);
  TrainedCompressor trained =
      train_compressor(reader_, settings_.data, memory.stream,
                       {read_.a, read_.multiplicity, memory.eps}, memory.training, done);
  compressor_ = std::move(trained.compressor);
  read_.compressed_bias = compressor_.bias;
  if (memory.training.joint) {
    reader_ = Reader::trained(settings_.model, trained.theta);
    if (memory.trained_scale) read_.a = trained.theta.a;
  }
  return std::move(trained.curve);
}

MemoryCurve MemoryPoint::train_snaptra(const std::function<bool(std::size_t)>& done) {
  const MemorySettings& memory = settings_.memory;
  const MemoryTraining& as = memory.training;
  TrainedSnapshots trained = train_snapshots(reader_, settings_.data, memory.snap, read_,
                                             {as.steps, as.batch, as.sequences, as.rate, as.clip,
                                              as.noise, memory.eps, memory.snap_tune_all},
                                             done);
  snap_->weights = std::move(trained.weights);
  if (memory.snap_tune_all) {
    reader_ = Reader::trained(settings_.model, trained.theta);
    read_.a = trained.a;
  }
  MemoryCurve curve;
  curve.loss = std::move(trained.loss);
  return curve;
}

MemoryTask MemoryPoint::task() const {
  const MemorySettings& memory = settings_.memory;
  return {reader_,     S(),        memory.halo,      memory.stream, read_,
          compressor_, memory.eps, memory.switching, snap_};
}

std::vector<Measure> MemoryPoint::evaluate(const std::function<bool(std::size_t)>& done) const {
  return evaluate_memory(task(), settings_.data, Split::validation, settings_.thread_count(), done);
}

LossSplit MemoryPoint::split(std::size_t kernels) const {
  if (snap_ || settings_.memory.trained || settings_.memory.switching > 0.0) {
    throw InputError(
        "the split of the loss is for compressive memories with memory.features = limit and no "
        "switching");
  }
  std::vector<Kernel> mixed;
  for (std::size_t i = 0; i < kernels; ++i) {
    mixed.push_back(sequence_kernel(settings_.data, Split::train, i));
  }
  return sample_loss(SequenceLaw::kernels(std::move(mixed)), S(), settings_.model.M,
                     settings_.memory.stream, read_, static_cast<int>(*settings_.data.L),
                     settings_.memory.eps, settings_.data.validation, settings_.data.seed,
                     settings_.thread_count());
}

double MemoryPoint::bytes() const {
  const MemorySettings& memory = settings_.memory;
  const auto L = static_cast<double>(*settings_.data.L);
  const auto p = static_cast<double>(reader_.d_e() + reader_.d());
  const double sequence = 8.0 * L * (3.0 * p + 40.0);  // items, slots and their data
  const double evaluating =
      sequence * settings_.thread_count() + 3000.0 * static_cast<double>(settings_.data.validation);
  const auto held = std::min(static_cast<double>(memory.training.sequences),
                             static_cast<double>(settings_.data.train));
  const double training = is_trained() ? sequence * held * 2.0 : 0.0;
  const auto weights = static_cast<double>(compressor_.weights.size());
  return 50e6 + evaluating + training + 100.0 * weights;
}

}  // namespace gih
