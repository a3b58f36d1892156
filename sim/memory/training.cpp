#include "gih/memory/training.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gih/base/error.hpp"

namespace gih {
namespace {

using Index = Eigen::Index;

/// Rows [u ; x] of `count` items from position `first` on.
Matrix item_rows(const Items& items, std::size_t first, std::size_t count) {
  Matrix rows = Matrix::Zero(static_cast<Index>(count), items.d_e() + items.d);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<Index>(i);
    rows.row(row).head(items.d_e()) = items.u.row(static_cast<Index>(first + i) - 1);
    rows(row, items.d_e() + items.x[first + i - 1]) = 1.0;
  }
  return rows;
}

/// The weights, and what is trained beside them, as one vector; and back.
struct Flat {
  static Eigen::VectorXd of(const Compressing& compressor, const Eigen::VectorXd& decoder) {
    Eigen::VectorXd all(compressor.weights.size() + 1 + decoder.size());
    all << compressor.weights, compressor.bias, decoder;
    return all;
  }
  static void to(const Eigen::VectorXd& all, Compressing& compressor, Eigen::VectorXd& decoder) {
    const Index n = compressor.weights.size();
    compressor.weights = all.head(n);
    compressor.bias = all[n];
    decoder = all.tail(decoder.size());
  }
};

class Run {
 public:
  Run(const Reader& reader, const DataSpec& data, const StreamSpec& stream,
      const MemoryReading& reading, const MemoryTraining& training)
      : reader_(reader),
        data_(data),
        stream_(stream),
        reading_(reading),
        training_(training),
        batches_(data.seed, Purpose::memory_training, 0) {
    result_.compressor.spec = stream.compressor;
    result_.compressor.d_e = reader.d_e();
    Stream weights(data.seed, Purpose::memory_weights, 0);
    result_.compressor.weights =
        initial_weights(stream.compressor, reader.d_e(), reader.d(), training.noise, weights);
    if (training.by == TrainBy::ar_z && !reading.multiplicity) {
      result_.compressor.bias = std::log(static_cast<double>(stream.compressor.rate));
    }
    if (training.by == TrainBy::ae) {
      decoder_ = initial_decoder(stream.compressor, reader.d_e() + reader.d());
    }
    draw();
  }

  TrainedCompressor run(const std::function<bool(std::size_t)>& done) {
    Adam adam(result_.compressor.weights.size() + 1 + decoder_.size(), training_.rate,
              training_.clip);
    const Index moved =
        reader_.is_limit() ? 0 : reader_.theta().c.size() + reader_.theta().w.size() + 1;
    Adam transformer(training_.joint ? moved : 0, training_.rate, training_.clip);
    for (std::size_t step = 0; step < training_.steps && training_.by != TrainBy::none; ++step) {
      double log_Z_loss = 0.0, loss = 0.0, dbias = 0.0;
      Eigen::VectorXd dweights = Eigen::VectorXd::Zero(result_.compressor.weights.size());
      Eigen::VectorXd ddecoder = Eigen::VectorXd::Zero(decoder_.size());
      Parameters dtheta = zero_parameters(reader_.model());
      double transformer_loss = 0.0;
      const double share = 1.0 / static_cast<double>(training_.batch);
      for (std::size_t b = 0; b < training_.batch; ++b) {
        const Eviction eviction = any_eviction();
        if (training_.joint) transformer_step(eviction.sequence, share, dtheta, transformer_loss);
        const Items& items = items_[eviction.sequence];
        if (training_.by == TrainBy::ce) {
          const MemoryGradient one = cross_entropy(items, stream_, result_.compressor, through());
          loss += share * one.loss;
          dweights += share * one.dweights;
          continue;
        }
        const Detached old(item_rows(items, eviction.old, eviction.rows));
        const std::size_t before =
            std::min(stream_.compressor.halo_rows(), eviction.old - items.first);
        const Detached halo(item_rows(items, eviction.old - before, before));
        if (training_.by == TrainBy::ae) {
          const AutoencodingGradient one =
              autoencoding(result_.compressor, decoder_, old, halo, training_.norm);
          loss += share * one.loss;
          dweights += share * one.dweights;
          ddecoder += share * one.ddecoder;
          continue;
        }
        const Detached queries(a() * items.u.middleRows(static_cast<Index>(eviction.query) - 1,
                                                        static_cast<Index>(eviction.queries)));
        const CompressorGradient one =
            attention_reconstruction(result_.compressor, queries, old, halo, reconstruction());
        loss += share * one.loss;
        log_Z_loss += share * one.log_Z_loss;
        dweights += share * one.dweights;
        dbias += share * one.dbias;
      }
      Eigen::VectorXd gradient(dweights.size() + 1 + ddecoder.size());
      gradient << dweights, training_.by == TrainBy::ar_z ? dbias : 0.0, ddecoder;
      result_.curve.loss.push_back(loss);
      result_.curve.log_Z_loss.push_back(log_Z_loss);
      result_.curve.gradient_norm.push_back(dweights.norm());
      if (!std::isfinite(loss)) {
        throw RunError(
            fmt::format("training of the compressor, step {}: the loss is not finite; "
                        "use a smaller step size or clip",
                        step));
      }
      Eigen::VectorXd at = Flat::of(result_.compressor, decoder_);
      adam.step(gradient, at);
      Flat::to(at, result_.compressor, decoder_);
      if (training_.joint) move(dtheta, transformer_loss, transformer);
      if (done && !done(step + 1)) break;
    }
    result_.theta = reader_.theta();
    return std::move(result_);
  }

 private:
  double a() const { return training_.joint ? reader_.theta().a : reading_.a; }

  void draw() {
    const std::size_t L = *data_.L, count = std::min(training_.sequences, data_.train);
    tokens_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Token> x(L + 1);
      draw_sequence(data_, sequence_kernel(data_, Split::train, i), Split::train, i, x);
      x.pop_back();
      tokens_[i] = std::move(x);
      items_.push_back(reader_.items(tokens_[i]));
    }
    evictions_ = evictions(stream_, items_.front().first, L);
    if (evictions_.empty() && training_.by != TrainBy::none) {
      throw InputError(fmt::format(
          "nothing is compressed in {} positions with segments of {}, {} slots of memory and rate "
          "{}: use longer sequences or a smaller memory",
          L, stream_.segment, stream_.n_mem, stream_.compressor.rate));
    }
  }

  Eviction any_eviction() {
    const auto pick = [&](std::size_t n) {
      return static_cast<std::size_t>(batches_.uniform() * static_cast<double>(n));
    };
    const std::size_t sequence = pick(items_.size());
    Eviction eviction = evictions_[pick(evictions_.size())];
    eviction.sequence = sequence;
    return eviction;
  }

  ReconstructionSpec reconstruction() const {
    return {training_.norm, reading_.multiplicity,
            training_.by == TrainBy::ar_z ? training_.lambda : 0.0};
  }

  ThroughMemory through() const {
    ThroughMemory through;
    through.read.a = a();
    through.read.multiplicity = reading_.multiplicity;
    through.eps = reading_.eps;
    through.segments = training_.segments;
    return through;
  }

  /// The transformer's gradient: through memory and segment, not through the compressor.
  void transformer_step(std::size_t i, double share, Parameters& dtheta, double& loss) {
    items_[i] = reader_.items(tokens_[i]);
    ThroughMemory stopped = through();
    stopped.live_compressed = false;
    const MemoryGradient one = cross_entropy(items_[i], stream_, result_.compressor, stopped);
    reader_.backward(tokens_[i], share * one.du, dtheta);
    dtheta.a += share * one.da;
    loss += share * one.loss;
  }

  void move(const Parameters& dtheta, double loss, Adam& adam) {
    result_.curve.transformer_loss.push_back(loss);
    Parameters theta = reader_.theta();
    const Index nc = theta.c.size(), nw = theta.w.size();
    Eigen::VectorXd at(nc + nw + 1), gradient(nc + nw + 1);
    at << theta.c, Eigen::Map<Eigen::VectorXd>(theta.w.data(), nw), theta.a;
    gradient << dtheta.c, Eigen::Map<const Eigen::VectorXd>(dtheta.w.data(), nw), dtheta.a;
    adam.step(gradient, at);
    theta.c = at.head(nc);
    Eigen::Map<Eigen::VectorXd>(theta.w.data(), nw) = at.segment(nc, nw);
    theta.a = at[nc + nw];
    reader_ = Reader::trained(reader_.model(), theta);
  }

  Reader reader_;
  const DataSpec& data_;
  const StreamSpec& stream_;
  const MemoryReading& reading_;
  const MemoryTraining& training_;
  Stream batches_;
  std::vector<std::vector<Token>> tokens_;
  std::vector<Items> items_;
  std::vector<Eviction> evictions_;
  Eigen::VectorXd decoder_;
  TrainedCompressor result_;
};

}  // namespace

std::vector<Eviction> evictions(const StreamSpec& stream, std::size_t first, std::size_t L) {
  std::vector<Eviction> found;
  std::size_t done = 0;
  for (std::size_t end = stream.segment; end <= L; end += stream.segment) {
    if (end < first) continue;
    const std::size_t held = end - first + 1;
    const std::size_t evicted = held > stream.n_mem ? held - stream.n_mem : 0;
    const std::size_t rows = (evicted - done) / stream.compressor.rate * stream.compressor.rate;
    if (rows == 0) continue;
    const std::size_t start = std::max(first, end - stream.segment + 1);
    found.push_back({0, start, end - start + 1, first + done, rows});
    done += rows;
  }
  return found;
}

Adam::Adam(Index size, double rate, double clip)
    : mean_(Eigen::VectorXd::Zero(size)),
      square_(Eigen::VectorXd::Zero(size)),
      rate_(rate),
      clip_(clip) {}

void Adam::step(Eigen::VectorXd gradient, Eigen::VectorXd& at) {
  const double length = gradient.norm();
  if (clip_ > 0.0 && length > clip_) gradient *= clip_ / length;
  ++steps_;
  const double first = 1.0 - std::pow(0.9, steps_), second = 1.0 - std::pow(0.999, steps_);
  for (Index i = 0; i < at.size(); ++i) {
    mean_[i] = 0.9 * mean_[i] + 0.1 * gradient[i];
    square_[i] = 0.999 * square_[i] + 0.001 * gradient[i] * gradient[i];
    at[i] -= rate_ * (mean_[i] / first) / (std::sqrt(square_[i] / second) + 1e-8);
  }
}

TrainedCompressor train_compressor(const Reader& reader, const DataSpec& data,
                                   const StreamSpec& stream, const MemoryReading& reading,
                                   const MemoryTraining& training,
                                   const std::function<bool(std::size_t)>& done) {
  check_stream(stream);
  const CompressorRow& row = compressor_row(stream.compressor.kind);
  if (!row.weights) {
    throw InputError(fmt::format("compressor {} has no weights to train", row.name));
  }
  if (!data.L) throw InputError("data.length = inf: a memory needs a finite length");
  const bool uses_a =
      training.by == TrainBy::ar || training.by == TrainBy::ar_z || training.by == TrainBy::ce;
  if (uses_a && !training.joint && !std::isfinite(reading.a)) {
    throw InputError("a = inf: a compressor is trained at a finite a");
  }
  if (training.joint && reader.is_limit()) {
    throw InputError("joint training needs a trained transformer, not its limit");
  }
  return Run(reader, data, stream, reading, training).run(done);
}

}  // namespace gih
