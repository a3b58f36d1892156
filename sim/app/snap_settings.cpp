// Rows of memory_settings.hpp that are about snapshots.
#include "gih/app/config.hpp"
#include "key_values.hpp"

namespace gih {
namespace {

using K = KeyTarget;
using T = std::string_view;
using S = const Settings&;
using G = const Stage*;

constexpr std::uint64_t most = 1000000000;

SnapSpec& snap(K k) {
  return k.settings.memory.snap;
}
const SnapSpec& snap(S s) {
  return s.memory.snap;
}

}  // namespace

std::vector<KeyRow> snap_keys() {
  return {
      {"memory.snap-queries", "mean, oracle or trained",
       "snaptra: snapshots are means; one a pattern; or trained by cross-entropy",
       [](K k, T t) {
         return choice(t, {"mean", "oracle", "trained"}, k.settings.memory.snap_queries);
       },
       [](S s, G) {
         return chosen(s.memory.snap_queries, {"mean", "oracle", "trained"});
       }},
      {"memory.snap-tune", "attention or all",
       "trained snapshots: their queries alone, or with them c, w and a of the transformer",
       [](K k, T t) {
         return choice(t, {"attention", "all"}, k.settings.memory.snap_tune_all);
       },
       [](S s, G) { return std::string(s.memory.snap_tune_all ? "all" : "attention"); }},
      {"memory.snap-count", "a whole number from 1", "R, snapshots of a segment",
       [](K k, T t) { return whole(t, 1, most, snap(k).snapshots); },
       [](S s, G) { return std::to_string(snap(s).snapshots); }},
      {"memory.snap-local", "in-segment or last-k",
       "what is seen raw: the segment under way, or the last k items",
       [](K k, T t) {
         return choice(t, {"in-segment", "last-k"}, snap(k).local);
       },
       [](S s, G) {
         return chosen(snap(s).local, {"in-segment", "last-k"});
       }},
      {"memory.snap-k", "a whole number", "k, local items of last-k, and of the floors",
       [](K k, T t) { return whole(t, 0, most, snap(k).k); },
       [](S s, G) { return std::to_string(snap(s).k); }},
      {"memory.snap-inclusive", "true or false", "last-k: snapshots hold local items too",
       [](K k, T t) { return is_true(t, snap(k).inclusive); },
       [](S s, G) { return std::string(text_of(snap(s).inclusive)); }},
      {"memory.snap-sizes", "fixed, uniform or geometric",
       "sizes of segments: n; n - v to n + v; or geometric of mean n",
       [](K k, T t) {
         return choice(t, {"fixed", "uniform", "geometric"}, snap(k).sizes);
       },
       [](S s, G) {
         return chosen(snap(s).sizes, {"fixed", "uniform", "geometric"});
       }},
      {"memory.snap-spread", "a whole number", "v of uniform sizes",
       [](K k, T t) { return whole(t, 0, most, snap(k).spread); },
       [](S s, G) { return std::to_string(snap(s).spread); }},
      {"memory.snap-overlap", "a whole number", "|O|, tokens that neighbouring segments share",
       [](K k, T t) { return whole(t, 0, most, snap(k).overlap); },
       [](S s, G) { return std::to_string(snap(s).overlap); }},
      {"memory.snap-share-overlap", "true or false", "an item of m segments counts 1/m in each",
       [](K k, T t) { return is_true(t, snap(k).share_overlap); },
       [](S s, G) { return std::string(text_of(snap(s).share_overlap)); }},
      {"memory.snap-skip", "a whole number", "items that snapshots leave out at a segment's start",
       [](K k, T t) { return whole(t, 0, most, snap(k).skip); },
       [](S s, G) { return std::to_string(snap(s).skip); }},
      {"memory.snap-log-z", "true or false", "add log sum_i e^(..) of a snapshot to its logit",
       [](K k, T t) { return is_true(t, snap(k).log_Z); },
       [](S s, G) { return std::string(text_of(snap(s).log_Z)); }},
      {"memory.snap-overlap-logit", "a number", "eta_O: weight of overlaps' scores in the logit",
       [](K k, T t) { return real(t, -unlimited, unlimited, snap(k).overlap_logit); },
       [](S s, G) { return to_text(snap(s).overlap_logit); }},
  };
}

}  // namespace gih
