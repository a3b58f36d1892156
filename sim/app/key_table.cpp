// Every configuration key: one row each.
#include <algorithm>

#include "gih/app/config.hpp"
#include "gih/training/integrator.hpp"
#include "key_values.hpp"

namespace gih {
namespace {

using K = KeyTarget;
using T = std::string_view;
using S = const Settings&;
using G = const Stage*;

/// All but those of memory_keys.
std::vector<KeyRow> run_keys() {
  return {
      // ---- data ----
      {"data.vocab", "a whole number from 2 to 65536", "d, the vocabulary size",
       [](K k, T t) { return whole(t, 2, 65536, k.settings.data.d); },
       [](S s, G) { return std::to_string(s.data.d); }},
      {"data.parents", "lags from 1 to 31 that ascend, separated by commas",
       "r_1 < ... < r_n, the lags that the next token depends on",
       [](K k, T t) { return set_parents(t, k.settings.data.parents); },
       [](S s, G) { return fmt::format("{}", fmt::join(s.data.parents, ",")); }},
      {"data.length", "a whole number from 2 to 1e9, or inf",
       "L, the prompt length; inf is the population limit: the long-run window law of each kernel "
       "instead of a sequence",
       [](K k, T t) {
         if (t == "inf") return k.settings.data.L.reset(), true;
         return whole(t, 2, 1000000000, k.settings.data.L.emplace());
       },
       [](S s, G) { return s.data.L ? std::to_string(*s.data.L) : "inf"; }},
      {"data.prior", names_of(prior_table()), "law of the kernels; " + meanings_of(prior_table()),
       [](K k, T t) { return is_name(prior_table(), t) && (k.settings.data.prior.name = t, true); },
       [](S s, G) { return s.data.prior.name; }},
      {"data.alpha", "a number from 0.001 to 1e6", "Dirichlet concentration",
       [](K k, T t) { return real(t, 1e-3, 1e6, k.settings.data.prior.alpha); },
       [](S s, G) { return to_text(s.data.prior.alpha); }},
      {"data.floor", "a number from 0 to below 1/d", "gamma: pi becomes gamma + (1 - d gamma) pi",
       [](K k, T t) { return real(t, 0.0, 0.5, k.settings.data.prior.floor); },
       [](S s, G) { return to_text(s.data.prior.floor); }},
      {"data.initial", "uniform or stationary", "law of the first r_n tokens",
       [](K k, T t) {
         return choice(t, {"uniform", "stationary"}, k.settings.data.initial);
       },
       [](S s, G) {
         return chosen(s.data.initial, {"uniform", "stationary"});
       }},
      {"data.target", "sampled or conditional",
       "what is predicted: the token x_(L+1) that was drawn, or its true law pi(. given parents)",
       [](K k, T t) {
         return choice(t, {"sampled", "conditional"}, k.settings.prompts.target);
       },
       [](S s, G) {
         return chosen(s.prompts.target, {"sampled", "conditional"});
       }},
      {"data.train", "a whole number from 1 to 1e9",
       "number of training sequences, each with its own kernel",
       [](K k, T t) { return whole(t, 1, 1000000000, k.settings.data.train); },
       [](S s, G) { return std::to_string(s.data.train); }},
      {"data.validation", "a whole number from 0 to 1e9", "number of validation sequences",
       [](K k, T t) { return whole(t, 0, 1000000000, k.settings.data.validation); },
       [](S s, G) { return std::to_string(s.data.validation); }},
      {"data.seed", "a whole number from 0 to 2^64-1", "seed of all random streams",
       [](K k, T t) { return whole(t, 0, UINT64_MAX, k.settings.data.seed); },
       [](S s, G) { return std::to_string(s.data.seed); }},
      {"data.file", "the path of a data file (no # and no surrounding blanks), or empty",
       "tokens from a data file or JSON instead of drawn ones; vocabulary, length and parents "
       "follow it",
       [](K k, T t) { return set_path(t, k.settings.file); }, [](S s, G) { return s.file; }, true},
      {"data.kernels", "the path of a kernel file (no # and no surrounding blanks), or empty",
       "kernels (JSON or data file) for data.prior = file; vocabulary and parents follow it",
       [](K k, T t) { return set_path(t, k.settings.kernels); }, [](S s, G) { return s.kernels; },
       true},
      // ---- model ----
      {"model.variant", "simplified or full",
       "the disentangled transformer (2.5), or with W_Q, W_K, W_V and residual block (B.2)",
       [](K k, T t) {
         return choice(t, {"simplified", "full"}, k.settings.model.variant);
       },
       [](S s, G) {
         return chosen(s.model.variant, {"simplified", "full"});
       }},
      {"model.window", "a whole number from 1 to 31", "M, lags that a head of the first layer sees",
       [](K k, T t) { return whole(t, 1, 31, k.settings.model.M); },
       [](S s, G) { return std::to_string(s.model.M); }},
      {"model.heads", "a whole number from 1 to 31",
       "H, heads of the first layer; head h starts at lag h, so r_n <= H, and H <= M unless "
       "shifted",
       [](K k, T t) { return whole(t, 1, 31, k.settings.model.H); },
       [](S s, G) { return std::to_string(s.model.H); }},
      {"model.degree", "a whole number from 1 to 31", "D, degree of the polynomial kernel",
       [](K k, T t) { return whole(t, 1, 31, k.settings.model.D); },
       [](S s, G) { return std::to_string(s.model.D); }},
      {"model.subsets", "at-most or exactly",
       "subsets of heads in the kernel: of at most D, or of exactly D heads (C.7)",
       [](K k, T t) {
         return choice(t, {"at-most", "exactly"}, k.settings.model.rule);
       },
       [](S s, G) {
         return chosen(s.model.rule, {"at-most", "exactly"});
       }},
      {"model.mask", "true or false", "drop the first M positions from the second attention",
       [](K k, T t) {
         return choice(t, {"false", "true"}, k.settings.model.mask);
       },
       [](S s, G) {
         return chosen(s.model.mask, {"false", "true"});
       }},
      {"model.residual-in-kernel", "true or false",
       "full: subsets range over the residual block and the heads, or the heads alone",
       [](K k, T t) {
         return choice(t, {"false", "true"}, k.settings.model.residual_in_kernel);
       },
       [](S s, G) {
         return chosen(s.model.residual_in_kernel, {"false", "true"});
       }},
      {"model.head-norm", "none, l2 or layer",
       "each head's output as it is, of unit length, or layer-normed with trained scale and shift",
       [](K k, T t) {
         return choice(t, {"none", "l2", "layer"}, k.settings.model.head_norm);
       },
       [](S s, G) {
         return chosen(s.model.head_norm, {"none", "l2", "layer"});
       }},
      {"model.head-window", "common or shifted", "lags that head h sees: 1 to M, or h to h+M-1",
       [](K k, T t) {
         return choice(t, {"common", "shifted"}, k.settings.model.head_window);
       },
       [](S s, G) {
         return chosen(s.model.head_window, {"common", "shifted"});
       }},
      {"model.feature-norm", "auto, sqrt-C_D or l2",
       "what phi is divided by: sqrt(C_D) (2.4), or its length; auto: l2 in the full variant",
       [](K k, T t) {
         return choice(t, {"auto", "sqrt-C_D", "l2"}, k.settings.model.feature_norm);
       },
       [](S s, G) {
         return chosen(s.model.feature_norm, {"auto", "sqrt-C_D", "l2"});
       }},
      {"model.self-attention", "none, or a number",
       "heads attend to their own position too, with this RPE score, which is not trained",
       [](K k, T t) {
         if (t == "none") return k.settings.model.self_score.reset(), true;
         return real(t, -unlimited, unlimited, k.settings.model.self_score.emplace());
       },
       [](S s, G) { return s.model.self_score ? to_text(*s.model.self_score) : "none"; }},
      {"model.rectify", "true or false", "inner products of head outputs below 0 count as 0",
       [](K k, T t) {
         return choice(t, {"false", "true"}, k.settings.model.rectify);
       },
       [](S s, G) {
         return chosen(s.model.rectify, {"false", "true"});
       }},
      // ---- loss ----
      {"loss.kind", "cross-entropy or softmax-cross-entropy",
       "-log(y_k + epsilon) for target k (2.1), or y taken as logits: log sum_j exp(y_j) - y_k",
       [](K k, T t) {
         return choice(t, {"cross-entropy", "softmax-cross-entropy"}, k.settings.loss_kind);
       },
       [](S s, G) {
         return chosen(s.loss_kind, {"cross-entropy", "softmax-cross-entropy"});
       }},
      {"loss.epsilon", "auto, or a number from 0 to 1", "eps; auto is L^(-1/2), and 0 when L = inf",
       [](K k, T t) {
         if (t == "auto") return k.settings.epsilon.reset(), true;
         return real(t, 0.0, 1.0, k.settings.epsilon.emplace());
       },
       [](S s, G) { return s.epsilon ? to_text(*s.epsilon) : "auto"; }},
      {"loss.positions", "last or sequential",
       "predict x_(L+1) alone, or the plain mean over x_(M+2) .. x_(L+1) (C.5)",
       [](K k, T t) {
         return choice(t, {"last", "sequential"}, k.settings.prompts.positions);
       },
       [](S s, G) {
         return chosen(s.prompts.positions, {"last", "sequential"});
       }},
      // ---- init ----
      {"init.w-diagonal", "a number", "w_(-h) of head h at the start",
       [](K k, T t) { return real(t, -unlimited, unlimited, k.settings.w_diagonal); },
       [](S s, G) { return to_text(s.w_diagonal); }},
      {"init.w-off", "a number", "every other w at the start",
       [](K k, T t) { return real(t, -unlimited, unlimited, k.settings.w_off); },
       [](S s, G) { return to_text(s.w_off); }},
      {"init.c", "a number, or one a subset separated by commas",
       "c_S at the start, subsets in bit-mask order: (), 1, 2, 12, 3, 13, 23, ...",
       [](K k, T t) { return set_numbers(t, k.settings.c); },
       [](S s, G) { return numbers_text(s.c); }},
      {"init.a", "a number", "a at the start",
       [](K k, T t) { return real(t, -unlimited, unlimited, k.settings.a); },
       [](S s, G) { return to_text(s.a); }},
      {"init.qkv", "a number, or three separated by commas",
       "full: W_Q, W_K and W_V at the start are these multiples of the identity",
       [](K k, T t) { return set_numbers(t, k.settings.qkv); },
       [](S s, G) { return numbers_text(s.qkv); }},
      {"init.file", "the path of a run file (no # and no surrounding blanks), or empty",
       "start from the parameters of another run instead",
       [](K k, T t) { return set_path(t, k.settings.init_file); },
       [](S s, G) { return s.init_file; }, true},
      {"init.step", "last, or STAGE:STEP of a log row", "which row of init.file",
       [](K k, T t) { return set_init_step(t, k.settings); },
       [](S s, G) {
         return s.init_step ? fmt::format("{}:{}", s.init_step->first, s.init_step->second)
                            : "last";
       }},
      // ---- stages ----
      {"stage.K.train", "c, w, a, qkv, or several joined by +",
       "what stage K = 1, 2, ... trains; qkv: W_Q, W_K, W_V and the scale and shift of head norms",
       [](K k, T t) { return set_blocks(t, k.stage->trains); },
       [](S, G g) { return blocks_text(g->trains); }},
      {"stage.K.method", names_of(integrator_table()), meanings_of(integrator_table()),
       [](K k, T t) { return is_name(integrator_table(), t) && (k.stage->method = t, true); },
       [](S, G g) { return g->method; }},
      {"stage.K.epochs", "a whole number from 0 to 1e12", "gd: steps of the stage",
       [](K k, T t) { return whole(t, 0, 1000000000000, k.stage->epochs); },
       [](S, G g) { return std::to_string(g->epochs); }},
      {"stage.K.time", "a number from 0 to 1e15", "flow: how long the stage lasts",
       [](K k, T t) { return real(t, 0.0, 1e15, k.stage->time); },
       [](S, G g) { return to_text(g->time); }},
      {"stage.K.tolerance", "a number from 1e-13 to 0.1",
       "flow: error of a step, absolute and relative (of c relative to its length)",
       [](K k, T t) { return real(t, 1e-13, 0.1, k.stage->tolerance); },
       [](S, G g) { return to_text(g->tolerance); }},
      {"stage.K.stepper", names_of(stepper_table()), "flow: " + meanings_of(stepper_table()),
       [](K k, T t) { return is_name(stepper_table(), t) && (k.stage->stepper = t, true); },
       [](S, G g) { return g->stepper; }},
      {"stage.K.learning-rate", "a number above 0", "gd: step size",
       [](K k, T t) {
         return real(t, std::numeric_limits<double>::min(), unlimited, k.stage->learning_rate);
       },
       [](S, G g) { return to_text(g->learning_rate); }},
      // ---- log and run ----
      {"log.every", "auto, or a whole number from 1",
       "steps (gd) or time (flow) between log rows; auto: at most 2000 rows a stage, dense early",
       [](K k, T t) {
         if (t == "auto") return k.settings.log_every = 0, true;
         return whole(t, 1, std::uint64_t{1} << 53, k.settings.log_every);
       },
       [](S s, G) { return s.log_every ? std::to_string(s.log_every) : "auto"; }},
      {"run.threads", "all, or a whole number from 1 to 1024",
       "threads; results do not depend on it, bit for bit",
       [](K k, T t) {
         if (t == "all") return k.settings.threads = 0, true;
         return whole(t, 1, 1024, k.settings.threads);
       },
       [](S s, G) { return s.threads ? std::to_string(s.threads) : "all"; }},
      {"run.checkpoint", "seconds from 0.1 to 86400",
       "time between saves of the unfinished run (log and state)",
       [](K k, T t) { return real(t, 0.1, 86400.0, k.settings.checkpoint); },
       [](S s, G) { return to_text(s.checkpoint); }},
      {"run.max-memory", "an amount such as 80 %, 500 MB or 4 GB",
       "refuse before the start what may need more; % is of this machine's memory",
       [](K k, T t) { return set_memory(t, k.settings); },
       [](S s, G) {
         return s.memory_bytes > 0.0 ? to_text(s.memory_bytes / 1e6) + " MB"
                                     : to_text(s.memory_percent) + " %";
       }},
  };
}

}  // namespace

const std::vector<KeyRow>& key_table() {
  static const std::vector<KeyRow> table = [] {
    std::vector<KeyRow> all = run_keys();
    std::vector<KeyRow> memory = memory_keys();
    for (KeyRow& row : memory) row.optional = true;  // of no use to a run: not in its file
    const auto run = std::find_if(all.begin(), all.end(), [](const KeyRow& row) {
      return std::string_view(row.name).starts_with("run.");  // stays last: config.hpp's readers
    });
    all.insert(run, memory.begin(), memory.end());
    return all;
  }();
  return table;
}

}  // namespace gih
