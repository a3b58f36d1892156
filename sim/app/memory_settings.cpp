#include "gih/app/memory_settings.hpp"

#include <cmath>

#include "gih/app/config.hpp"
#include "key_values.hpp"

namespace gih {
namespace {

using K = KeyTarget;
using T = std::string_view;
using S = const Settings&;
using G = const Stage*;

constexpr const char* leftovers = "carry, floor, pad or ragged";
constexpr std::uint64_t most = 1000000000;

bool slots(T text, std::size_t& to) {
  if (text == "inf") return to = unlimited_slots, true;
  return whole(text, 0, most, to);
}

std::string slots_text(std::size_t count) {
  return count == unlimited_slots ? "inf" : std::to_string(count);
}

CompressorSpec& compressor(K k) {
  return k.settings.memory.stream.compressor;
}
const CompressorSpec& compressor(S s) {
  return s.memory.stream.compressor;
}

bool scale(T text, MemorySettings& to) {
  if (text == "trained") return to.trained_scale = true;
  double a = std::numeric_limits<double>::infinity();
  if (text != "inf" && !real(text, 0.0, unlimited, a)) return false;
  to.trained_scale = false;
  to.read.a = a;
  return true;
}

std::string scale_text(const MemorySettings& from) {
  if (from.trained_scale) return "trained";
  return std::isinf(from.read.a) ? "inf" : to_text(from.read.a);
}

}  // namespace

std::string MemorySettings::lags_text() const {
  return lags.empty() ? "parents" : fmt::format("{}", fmt::join(lags, ","));
}

std::vector<KeyRow> memory_keys() {
  std::vector<KeyRow> all{
      {"memory.system", "compressive or snaptra",
       "a memory that compresses what leaves it, or snapshots of segments",
       [](K k, T t) {
         return choice(t, {"compressive", "snaptra"}, k.settings.memory.snaptra);
       },
       [](S s, G) { return std::string(s.memory.snaptra ? "snaptra" : "compressive"); }},
      {"memory.features", "limit or trained",
       "u_l: one-hot of the tokens at memory.lags, the limit of training; or as init.* has it",
       [](K k, T t) {
         return choice(t, {"limit", "trained"}, k.settings.memory.trained);
       },
       [](S s, G) { return std::string(s.memory.trained ? "trained" : "limit"); }},
      {"memory.lags", "parents, or lags from 1 to 31 that ascend, separated by commas",
       "S of the induction head; parents: data.parents",
       [](K k, T t) {
         return t == "parents" ? (k.settings.memory.lags.clear(), true)
                               : set_parents(t, k.settings.memory.lags);
       },
       [](S s, G) { return s.memory.lags_text(); }},
      {"memory.scale", "a number from 0, inf or trained", "a, the scale of the scores",
       [](K k, T t) { return scale(t, k.settings.memory); },
       [](S s, G) { return scale_text(s.memory); }},
      {"memory.halo", "exact or none", "windows are whole, or cut where their segment starts",
       [](K k, T t) {
         return choice(t, {"exact", "none"}, k.settings.memory.halo);
       },
       [](S s, G) {
         return chosen(s.memory.halo, {"exact", "none"});
       }},
      {"memory.segment", "a whole number from 1", "n_s, tokens of a segment",
       [](K k, T t) {
         if (!whole(t, 1, most, k.settings.memory.stream.segment)) return false;
         k.settings.memory.snap.segment = k.settings.memory.stream.segment;
         return true;
       },
       [](S s, G) { return std::to_string(s.memory.stream.segment); }},
      {"memory.slots", "a whole number, or inf", "n_m, slots of the memory",
       [](K k, T t) { return slots(t, k.settings.memory.stream.n_mem); },
       [](S s, G) { return slots_text(s.memory.stream.n_mem); }},
      {"memory.compressed-slots", "a whole number, or inf",
       "n_c, slots of each level of compressed memory",
       [](K k, T t) { return slots(t, k.settings.memory.stream.n_cmem); },
       [](S s, G) { return slots_text(s.memory.stream.n_cmem); }},
      {"memory.levels", "a whole number from 1 to 30",
       "J, levels of compressed memory, each compressing the one below",
       [](K k, T t) { return whole(t, 1, 30, k.settings.memory.stream.levels); },
       [](S s, G) { return std::to_string(s.memory.stream.levels); }},
      {"memory.leftover", leftovers,
       "evicted items that fill no block wait; are lost; are filled up with zeros; or make a "
       "smaller "
       "block",
       [](K k, T t) {
         return choice(t, {"carry", "floor", "pad", "ragged"}, k.settings.memory.stream.leftover);
       },
       [](S s, G) {
         return chosen(s.memory.stream.leftover, {"carry", "floor", "pad", "ragged"});
       }},
      {"memory.start", "empty or zeros", "no slots at the start, or full of zeros",
       [](K k, T t) {
         return choice(t, {"empty", "zeros"}, k.settings.memory.stream.start);
       },
       [](S s, G) {
         return chosen(s.memory.stream.start, {"empty", "zeros"});
       }},
      {"memory.compressor", names_of(compressor_table()), meanings_of(compressor_table()),
       [](K k, T t) {
         if (!is_name(compressor_table(), t)) return false;
         compressor(k).kind = compressor_row(std::string(t)).kind;
         return true;
       },
       [](S s, G) { return std::string(compressor_row(compressor(s).kind).name); }},
      {"memory.rate", "a whole number from 1", "c, items that become one slot",
       [](K k, T t) { return whole(t, 1, most, compressor(k).rate); },
       [](S s, G) { return std::to_string(compressor(s).rate); }},
      {"memory.max-value", "norm, raw or mean",
       "max: values are normalised, as they are, or averaged",
       [](K k, T t) {
         return choice(t, {"norm", "raw", "mean"}, compressor(k).max_value);
       },
       [](S s, G) {
         return chosen(compressor(s).max_value, {"norm", "raw", "mean"});
       }},
      {"memory.keep-first", "true or false", "decimate: the first of a block, not the last",
       [](K k, T t) { return is_true(t, compressor(k).keep_first); },
       [](S s, G) { return std::string(text_of(compressor(s).keep_first)); }},
      {"memory.keep-counts", "true or false", "most-used: what is kept stands for all of its group",
       [](K k, T t) { return is_true(t, compressor(k).keep_counts); },
       [](S s, G) { return std::string(text_of(compressor(s).keep_counts)); }},
      {"memory.layers", "a whole number from 1 to 10", "dilated: layers",
       [](K k, T t) { return whole(t, 1, 10, compressor(k).layers); },
       [](S s, G) { return std::to_string(compressor(s).layers); }},
      {"memory.taps", "a whole number from 1 to 10", "dilated: taps of a layer",
       [](K k, T t) { return whole(t, 1, 10, compressor(k).width); },
       [](S s, G) { return std::to_string(compressor(s).width); }},
      {"memory.edge", "halo or zero", "dilated: before a block lies what was there, or zeros",
       [](K k, T t) {
         return choice(t, {"halo", "zero"}, compressor(k).edge);
       },
       [](S s, G) {
         return chosen(compressor(s).edge, {"halo", "zero"});
       }},
      {"memory.softmax-taps", "true or false", "conv-scalar: its taps are a softmax",
       [](K k, T t) { return is_true(t, compressor(k).softmax_taps); },
       [](S s, G) { return std::string(text_of(compressor(s).softmax_taps)); }},
      {"memory.similarity", "a number from -1 to 1",
       "group: least cosine of keys that share a slot",
       [](K k, T t) { return real(t, -1.0, 1.0, compressor(k).similarity); },
       [](S s, G) { return to_text(compressor(s).similarity); }},
      {"memory.decay", "a number above 0 to 1",
       "matrix-decay: what an item keeps at each later one",
       [](K k, T t) {
         return real(t, std::numeric_limits<double>::min(), 1.0, compressor(k).decay);
       },
       [](S s, G) { return to_text(compressor(s).decay); }},
      {"memory.multiplicity", "true or false", "chi: add log n to the logit of a slot of n items",
       [](K k, T t) { return is_true(t, k.settings.memory.read.multiplicity); },
       [](S s, G) { return std::string(text_of(s.memory.read.multiplicity)); }},
      {"memory.distance", "none, slot, c-offset or nearest",
       "delta: no term; rank from the query; to the mean of a slot's positions; to its last one",
       [](K k, T t) {
         return choice(t, {"none", "slot", "c-offset", "nearest"}, k.settings.memory.read.distance);
       },
       [](S s, G) {
         return chosen(s.memory.read.distance, {"none", "slot", "c-offset", "nearest"});
       }},
      {"memory.slope", "a number from 0", "eta: -eta delta is added to the logit",
       [](K k, T t) { return real(t, 0.0, unlimited, k.settings.memory.read.slope); },
       [](S s, G) { return to_text(s.memory.read.slope); }},
      {"memory.combine", "concat, mean, fixed or count",
       "compressed memory and the rest: one softmax; half each; memory.gamma; or by their slots",
       [](K k, T t) {
         return choice(t, {"concat", "mean", "fixed", "count"}, k.settings.memory.read.combine);
       },
       [](S s, G) {
         return chosen(s.memory.read.combine, {"concat", "mean", "fixed", "count"});
       }},
      {"memory.gamma", "a number from 0 to 1",
       "mass of the compressed memory under combine = fixed",
       [](K k, T t) { return real(t, 0.0, 1.0, k.settings.memory.read.gamma); },
       [](S s, G) { return to_text(s.memory.read.gamma); }},
      {"memory.epsilon", "a number above 0 to 1",
       "divergences are of (y + eps) / (1 + d eps); also of the cross-entropy",
       [](K k, T t) {
         return real(t, std::numeric_limits<double>::min(), 1.0, k.settings.memory.eps);
       },
       [](S s, G) { return to_text(s.memory.eps); }},
      {"memory.switching", "a number from 0 to 1", "probability of a new kernel at each segment",
       [](K k, T t) { return real(t, 0.0, 1.0, k.settings.memory.switching); },
       [](S s, G) { return to_text(s.memory.switching); }},
      {"memory.train", "none, ar, ar-z, ae or ce",
       "compressor's weights: as mean pooling; by attention reconstruction; the same with log Z; "
       "auto-encoding; cross-entropy",
       [](K k, T t) {
         return choice(t, {"none", "ar", "ar-z", "ae", "ce"}, k.settings.memory.training.by);
       },
       [](S s, G) {
         return chosen(s.memory.training.by, {"none", "ar", "ar-z", "ae", "ce"});
       }},
      {"memory.steps", "a whole number from 1", "steps of Adam",
       [](K k, T t) { return whole(t, 1, most, k.settings.memory.training.steps); },
       [](S s, G) { return std::to_string(s.memory.training.steps); }},
      {"memory.batch", "a whole number from 1", "evictions (ce: sequences) of a step",
       [](K k, T t) { return whole(t, 1, most, k.settings.memory.training.batch); },
       [](S s, G) { return std::to_string(s.memory.training.batch); }},
      {"memory.learning-rate", "a number above 0", "Adam's step size",
       [](K k, T t) {
         return real(t, std::numeric_limits<double>::min(), unlimited,
                     k.settings.memory.training.rate);
       },
       [](S s, G) { return to_text(s.memory.training.rate); }},
      {"memory.clip", "a number from 0", "largest length of the gradient; 0: any",
       [](K k, T t) { return real(t, 0.0, unlimited, k.settings.memory.training.clip); },
       [](S s, G) { return to_text(s.memory.training.clip); }},
      {"memory.noise", "a number from 0", "deviation of the first weights from mean pooling",
       [](K k, T t) { return real(t, 0.0, unlimited, k.settings.memory.training.noise); },
       [](S s, G) { return to_text(s.memory.training.noise); }},
      {"memory.lambda", "a number from 0", "ar-z: weight of the squared error of log Z",
       [](K k, T t) { return real(t, 0.0, unlimited, k.settings.memory.training.lambda); },
       [](S s, G) { return to_text(s.memory.training.lambda); }},
      {"memory.norm", "mse or fro", "ar, ae: mean square, or the norm as it is printed",
       [](K k, T t) {
         return choice(t, {"mse", "fro"}, k.settings.memory.training.norm);
       },
       [](S s, G) {
         return chosen(s.memory.training.norm, {"mse", "fro"});
       }},
      {"memory.backward-segments", "a whole number, or inf",
       "U: ce takes compressed slots older than this as constants",
       [](K k, T t) { return slots(t, k.settings.memory.training.segments); },
       [](S s, G) { return slots_text(s.memory.training.segments); }},
      {"memory.joint", "true or false", "train the transformer too, by cross-entropy",
       [](K k, T t) { return is_true(t, k.settings.memory.training.joint); },
       [](S s, G) { return std::string(text_of(s.memory.training.joint)); }},
  };
  for (const KeyRow& row : snap_keys()) all.push_back(row);
  return all;
}

}  // namespace gih
