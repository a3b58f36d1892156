#include "sequence_terms.hpp"

#include <cmath>
#include <complex>

#include "gih/model/table_engine.hpp"

namespace gih {
namespace {

using Complex = std::complex<double>;
constexpr double step_length = 1e-30;

std::size_t position(std::span<const Token> x, Eigen::Index l) {
  return static_cast<std::size_t>(x[static_cast<std::size_t>(l - 1)]);
}

/// <v, v'> without conjugation, which would not be differentiable.
Complex inner(const Eigen::MatrixXcd& v, const Eigen::MatrixXcd& v_prime, Eigen::Index h) {
  return v.row(h).cwiseProduct(v_prime.row(h)).sum();
}

bool contains(Subset S, Eigen::Index h) {
  return (S >> h & 1U) != 0;
}

Eigen::VectorXd column(const std::vector<double>& values) {
  return Eigen::VectorXd::Map(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

Complex imaginary_step() {
  return {0.0, step_length};
}

double derivative(Complex moved) {
  return moved.imag() / step_length;
}

std::vector<Eigen::MatrixXcd> first_attention(const ComplexParameters& theta, int d,
                                              std::span<const Token> prompt) {
  const auto length = static_cast<Eigen::Index>(prompt.size()) + 1;
  const Eigen::Index H = theta.w.rows(), M = theta.w.cols();
  Eigen::MatrixXcd X = Eigen::MatrixXcd::Zero(length, d);
  for (Eigen::Index j = 1; j < length; ++j) {
    X(j - 1, static_cast<Eigen::Index>(position(prompt, j))) = 1.0;
  }
  std::vector<Eigen::MatrixXcd> v(prompt.size() + 1, Eigen::MatrixXcd::Zero(H, d));
  for (Eigen::Index h = 0; h < H; ++h) {
    // exp(W_P): 0 where W_P is -infinity.
    Eigen::MatrixXcd attention = Eigen::MatrixXcd::Zero(length, length);
    for (Eigen::Index i = 0; i < length; ++i) {
      for (Eigen::Index j = 0; j < length; ++j) {
        if (i - j >= 1 && i - j <= M) attention(i, j) = std::exp(theta.w(h, i - j - 1));
      }
      const Complex sum = attention.row(i).sum();
      if (sum != 0.0) attention.row(i) /= sum;
    }
    const Eigen::MatrixXcd out = attention * X;
    for (Eigen::Index l = 0; l < length; ++l) v[static_cast<std::size_t>(l)].row(h) = out.row(l);
  }
  return v;
}

Eigen::VectorXd features(const std::vector<Subset>& subsets, const Eigen::VectorXd& c,
                         const Eigen::MatrixXd& v) {
  std::vector<double> phi;
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    std::vector<double> block{c(static_cast<Eigen::Index>(S))};
    for (Eigen::Index h = 0; h < v.rows(); ++h) {
      if (!contains(subsets[S], h)) continue;
      std::vector<double> longer;
      for (const double entry : block) {
        for (const double v_k : v.row(h)) longer.push_back(entry * v_k);
      }
      block = std::move(longer);
    }
    phi.insert(phi.end(), block.begin(), block.end());
  }
  return column(phi);
}

Complex kernel_of(const std::vector<Subset>& subsets, const Eigen::VectorXcd& c,
                  const Eigen::MatrixXcd& v, const Eigen::MatrixXcd& v_prime) {
  Complex sum = 0.0;
  for (std::size_t S = 0; S < subsets.size(); ++S) {
    const Complex c_S = c(static_cast<Eigen::Index>(S));
    Complex term = c_S * c_S;
    for (Eigen::Index h = 0; h < v.rows(); ++h) {
      if (contains(subsets[S], h)) term *= inner(v, v_prime, h);
    }
    sum += term;
  }
  return sum;
}

Eigen::VectorXcd masked_scores(const ModelSpec& model, const ComplexParameters& theta,
                               std::span<const Token> prompt) {
  const std::vector<Subset> subsets = model.subsets();
  const auto v = first_attention(theta, model.d, prompt);
  const auto M = static_cast<std::size_t>(model.M);
  const Complex C_D = theta.c.cwiseProduct(theta.c).sum();
  Eigen::VectorXcd s(static_cast<Eigen::Index>(prompt.size() - M));
  for (std::size_t l = M + 1; l <= prompt.size(); ++l) {
    s(static_cast<Eigen::Index>(l - M - 1)) = kernel_of(subsets, theta.c, v[l - 1], v.back()) / C_D;
  }
  return s;
}

Complex loss_of_scores(const Eigen::VectorXcd& s, Complex a, double eps, std::span<const Token> x) {
  Complex sum = 0.0, of_query = 0.0;
  const std::size_t first = x.size() - 1 - static_cast<std::size_t>(s.size());
  for (Eigen::Index l = 0; l < s.size(); ++l) {
    const Complex weight = std::exp(a * s(l));
    sum += weight;
    if (x[first + static_cast<std::size_t>(l)] == x.back()) of_query += weight;
  }
  return -std::log(of_query / sum + eps);
}

SequenceTerms sequence_terms(const ModelSpec& model, const Parameters& theta, double eps,
                             std::span<const Token> x, double second_sign) {
  const std::vector<Subset> subsets = model.subsets();
  const auto v = first_attention(ComplexParameters(theta), model.d, x.first(x.size() - 1));
  const auto L = static_cast<Eigen::Index>(x.size()) - 1;
  const Eigen::Index M = model.M, H = model.H, N = L - M;
  const auto nS = static_cast<Eigen::Index>(subsets.size());
  const Eigen::VectorXd p = theta.p();
  const Eigen::MatrixXd query = v.back().real();

  SequenceTerms terms;
  terms.K = Eigen::MatrixXd::Ones(nS, N);
  terms.b.assign(static_cast<std::size_t>(H), Eigen::MatrixXd::Zero(M, N));
  terms.others.assign(static_cast<std::size_t>(H), Eigen::VectorXd::Zero(N));
  for (Eigen::Index n = 0; n < N; ++n) {
    const Eigen::Index l = M + 1 + n;
    const Eigen::MatrixXd v_l = v[static_cast<std::size_t>(l - 1)].real();
    const Eigen::VectorXd agree = v_l.cwiseProduct(query).rowwise().sum();
    for (Eigen::Index S = 0; S < nS; ++S) {
      const Subset set = subsets[static_cast<std::size_t>(S)];
      for (Eigen::Index h = 0; h < H; ++h) {
        if (!contains(set, h)) continue;
        terms.K(S, n) *= agree(h);
        double rest = p(S);
        for (Eigen::Index other = 0; other < H; ++other) {
          if (other != h && contains(set, other)) rest *= agree(other);
        }
        terms.others[static_cast<std::size_t>(h)](n) += rest;
      }
    }
    for (Eigen::Index h = 0; h < H; ++h) {
      for (Eigen::Index i = 1; i <= M; ++i) {
        terms.b[static_cast<std::size_t>(h)](i - 1, n) =
            query(h, static_cast<Eigen::Index>(position(x, l - i))) +
            second_sign * v_l(h, static_cast<Eigen::Index>(position(x, L + 1 - i)));
      }
    }
  }
  terms.s = terms.K.transpose() * p;
  terms.sigma = softmax(theta.a * terms.s);
  Eigen::VectorXd is_query(N);
  for (Eigen::Index n = 0; n < N; ++n) is_query(n) = position(x, M + 1 + n) == x.back() ? 1.0 : 0.0;
  const double y_q = terms.sigma.dot(is_query);
  terms.rho = (is_query.array() - y_q) / (y_q + eps);
  return terms;
}

FlowTerms flow_terms(const World& world, double second_sign) {
  const ModelSpec model = masked_model(world);
  const AllSequences all = all_sequences(world);
  FlowTerms flow;
  flow.g0 = Eigen::VectorXd::Zero(world.theta.c.size());
  flow.gh.assign(static_cast<std::size_t>(model.H), Eigen::VectorXd::Zero(model.M));
  for (std::size_t n = 0; n < all.x.size(); ++n) {
    const auto terms = sequence_terms(model, world.theta, world.eps, all.x[n], second_sign);
    const Eigen::VectorXd pull = all.weight[n] * terms.sigma.cwiseProduct(terms.rho);
    flow.g0 += terms.K * pull;
    flow.f += terms.s.dot(pull);
    for (std::size_t h = 0; h < flow.gh.size(); ++h) {
      flow.gh[h] += terms.b[h] * pull.cwiseProduct(terms.others[h]);
    }
  }
  return flow;
}

Eigen::VectorXd softmax(const Eigen::VectorXd& w) {
  const Eigen::VectorXd weights = (w.array() - w.maxCoeff()).exp();
  return weights / weights.sum();
}

Parameters one_hot_heads(const Parameters& theta) {
  Parameters result = theta;
  result.w.setZero();
  result.w.diagonal().setConstant(60.0);
  return result;
}

AllSequences all_sequences(const World& world) {
  AllSequences all;
  const double share = 1.0 / static_cast<double>(world.kernels.size());
  for (std::size_t k = 0; k < world.kernels.size(); ++k) {
    // Every probability is positive, so each kernel visits the same sequences in the same order.
    std::size_t n = 0;
    each_sequence(world.kernels[k], world.start, world.L,
                  [&](std::span<const Token> x, double probability) {
                    if (k == 0) {
                      all.x.emplace_back(x.begin(), x.end());
                      all.weight.push_back(0.0);
                    }
                    all.weight[n++] += share * probability;
                  });
  }
  return all;
}

std::vector<std::vector<Token>> some_sequences(const World& world, std::size_t stride) {
  const AllSequences all = all_sequences(world);
  std::vector<std::vector<Token>> chosen;
  for (std::size_t n = 0; n < all.x.size(); n += stride) chosen.push_back(all.x[n]);
  return chosen;
}

std::span<const Token> prompt_of(std::span<const Token> x) {
  return x.first(x.size() - 1);
}

Prompts world_prompts(const World& world, const AllSequences& all, bool mask, Positions positions) {
  auto table = std::make_shared<TokenTable>();
  table->d = world.d();
  table->rows = all.x.size();
  table->columns = static_cast<std::size_t>(world.L) + 1;
  for (const auto& x : all.x) table->tokens.insert(table->tokens.end(), x.begin(), x.end());
  DataSpec data;
  data.d = world.d();
  data.parents = world.kernels.front().parents;
  data.L = static_cast<std::size_t>(world.L);
  data.train = table->rows;
  data.validation = 0;
  data.table = table;
  Prompts prompts = build_prompts(
      data, {.M = world.M(), .mask = mask, .target = Target::sampled, .positions = positions},
      Split::train, 1);
  const std::size_t questions = prompts.questions.size() / all.x.size();
  for (std::size_t q = 0; q < prompts.questions.size(); ++q) {
    prompts.questions[q].weight = all.weight[q / questions] / static_cast<double>(questions);
  }
  return prompts;
}

ModelSpec masked_model(const World& world) {
  ModelSpec model = world.model;
  model.mask = true;
  return model;
}

std::unique_ptr<Objective> world_objective(const World& world) {
  return make_table_engine(masked_model(world), {world.eps},
                           world_prompts(world, all_sequences(world), true), 1);
}

}  // namespace gih
