#pragma once
// A whole configuration, resolved and typed. config.hpp fills it from text; here it becomes the
// small structs that each floor takes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gih/app/memory_settings.hpp"
#include "gih/data/dataset.hpp"
#include "gih/data/prompts.hpp"
#include "gih/model/objective.hpp"
#include "gih/training/schedule.hpp"

namespace gih {

struct Settings {
  DataSpec data;        ///< table and prior.kernels are loaded by load_files
  PromptSpec prompts;   ///< M is the reach of model, mask is its mask
  ModelSpec model;      ///< d is data.d
  std::string file;     ///< data.file, "" = none
  std::string kernels;  ///< data.kernels, "" = none

  LossKind loss_kind = LossKind::cross_entropy;
  std::optional<double> epsilon;  ///< none: L^(-1/2), 0 when L = inf

  double w_diagonal = 3.0;
  double w_off = 0.01;
  std::vector<double> c{0.01};  ///< one number for all subsets, or one a subset
  double a = 0.01;
  std::vector<double> qkv{0.001};  ///< W_Q, W_K, W_V as multiples of 1; one number, or three
  std::string init_file;           ///< "" = none
  std::optional<std::pair<int, std::size_t>>
      init_step;  ///< stage and step of a log row; none: last

  MemorySettings memory;

  Schedule schedule;
  std::size_t log_every = 0;  ///< 0: auto

  int threads = 0;               ///< 0: all
  double checkpoint = 5.0;       ///< seconds
  double memory_percent = 80.0;  ///< of this machine's memory, unless memory_bytes is set
  double memory_bytes = 0.0;

  double eps() const;  ///< epsilon, or what auto stands for
  LossSpec loss() const { return {eps(), loss_kind}; }
  int thread_count() const;  ///< threads, or how many there are
};

/// Loads data.file and data.kernels and takes vocabulary, length and parents over where the
/// file knows them; throws InputError when a key that was given says otherwise. `given` tells
/// whether a key was set by the user.
void load_files(Settings& settings, const std::vector<std::string>& given);

/// InputError, naming keys, values and ranges, unless the keys fit each other.
void check_settings(const Settings& settings);

/// How these settings differ from the simplified model (2.5) with the loss (2.1), naming the key;
/// empty when they do not.
std::string departure_from_simplified(const Settings& settings);

/// InputError, naming the key, unless this is the simplified model (2.5) with the loss (2.1), which
/// the theory is about; `who` needs it.
void require_simplified(const Settings& settings, const std::string& who);

/// Theta at the start: init.* values, or a row of init.file.
Parameters initial_parameters(const Settings& settings);

/// Bytes of the kernels that all threads hold while they draw sequences.
double kernel_bytes(const Settings& settings);

/// Upper bound in bytes of what a training run holds.
double training_bytes(const Settings& settings);

/// run.max-memory in bytes.
double memory_limit(const Settings& settings);

/// InputError with the estimate when `bytes` exceed run.max-memory.
void check_memory(const Settings& settings, double bytes);

}  // namespace gih
