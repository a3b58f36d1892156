#include "run_columns.hpp"

#include <algorithm>

namespace gih {
namespace {

void copy(const double* from, Eigen::Index count, double* to) {
  std::copy_n(from, count, to);
}

template <Matrix Parameters::*member>
void put_matrix(const LogRow& row, double* x) {
  copy((row.theta.*member).data(), (row.theta.*member).size(), x);
}
template <Matrix Parameters::*member>
void get_matrix(LogRow& row, const double* x) {
  copy(x, (row.theta.*member).size(), (row.theta.*member).data());
}

const Column columns[] = {
    {"time", Per::row, false, "flow time so far in the stage; gd: steps x learning rate",
     [](const LogRow& row, double* x) { *x = row.time; },
     [](LogRow& row, const double* x) { row.time = *x; }},
    {"train_loss", Per::row, false, "mean training loss, nats",
     [](const LogRow& row, double* x) { *x = row.train_loss; },
     [](LogRow& row, const double* x) { row.train_loss = *x; }},
    {"validation_loss", Per::row, false, "mean validation loss, nats; NaN without validation data",
     [](const LogRow& row, double* x) { *x = row.validation_loss; },
     [](LogRow& row, const double* x) { row.validation_loss = *x; }},
    {"w", Per::weight, true,
     "RPE weights w_{-i}^(h), heads x lags (in /log: rows x heads x lags), lag i at column i-1; "
     "with model.head-window = shifted lag h-1+i of head h",
     put_matrix<&Parameters::w>, get_matrix<&Parameters::w>},
    {"c", Per::subset, true, "c_S of the polynomial kernel, subsets S in the order of /subsets",
     [](const LogRow& row, double* x) { copy(row.theta.c.data(), row.theta.c.size(), x); },
     [](LogRow& row, const double* x) { copy(x, row.theta.c.size(), row.theta.c.data()); }},
    {"p", Per::subset, true, "p_S = c_S^2 / C_D, subsets S in the order of /subsets",
     [](const LogRow& row, double* x) {
       const Eigen::VectorXd p = row.theta.p();
       copy(p.data(), p.size(), x);
     },
     nullptr},
    {"a", Per::row, true, "a, the scalar of the second attention",
     [](const LogRow& row, double* x) { *x = row.theta.a; },
     [](LogRow& row, const double* x) { row.theta.a = *x; }},
    {"C_D", Per::row, true,
     "C_D = sum_S c_S^2; conserved by the gradient flow, not by gradient descent with a finite "
     "rate",
     [](const LogRow& row, double* x) { *x = row.theta.C_D(); }, nullptr},
    {"W_Q", Per::word, true, "W_Q^(h), heads x d x d (in /log: rows first); full variant alone",
     put_matrix<&Parameters::W_Q>, get_matrix<&Parameters::W_Q>},
    {"W_K", Per::word, true,
     "W_K^(h), heads x d x d; the score of x_l and x_j is x_l^T W_Q W_K^T x_j",
     put_matrix<&Parameters::W_K>, get_matrix<&Parameters::W_K>},
    {"W_V", Per::word, true, "W_V^(h), heads x d x d; row k is the value of token k",
     put_matrix<&Parameters::W_V>, get_matrix<&Parameters::W_V>},
    {"scale", Per::channel, true,
     "scale of the layer norm that all heads share, d; head norm layer alone",
     put_matrix<&Parameters::scale>, get_matrix<&Parameters::scale>},
    {"shift", Per::channel, true, "shift of the layer norm that all heads share, d",
     put_matrix<&Parameters::shift>, get_matrix<&Parameters::shift>},
};

}  // namespace

std::span<const Column> run_columns() {
  return columns;
}

}  // namespace gih
