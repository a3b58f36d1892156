#pragma once
// Compressors with trained weights, on matrices of rows h = [u ; x]: forward and backward. The
// weights are one vector, so that an optimiser needs to know no shapes.

#include "gih/base/random.hpp"
#include "gih/memory/compress.hpp"

namespace gih {

/// Number of weights for keys of d_e and values of d entries, p = d_e + d:
///   conv         W_1 .. W_c (p x p, row-major [out][in]), b (p)
///   conv_dw      diagonals w_1 .. w_c (p each), b (p)
///   conv_scalar  omega_1 .. omega_c
///   conv_kv      W^K_1 .. W^K_c (d_e x d_e), omega_1 .. omega_c (softmax, of the values)
///   dilated      layer by layer T_0 .. T_{w-1} (p x p), then as conv
///   snap_att     q (d_e), rho_1 .. rho_c
/// 0 for compressors without weights.
Eigen::Index weight_count(const CompressorSpec& spec, Eigen::Index d_e, Eigen::Index d);

/// Mean pooling with noise of this deviation on the matrices.
Eigen::VectorXd initial_weights(const CompressorSpec& spec, Eigen::Index d_e, Eigen::Index d,
                                double noise, Stream& stream);

/// z (n/c x p) of rows `old` (n x p, oldest first, n a multiple of c) and of the rows before them
/// (dilated; none: zeros). Also of mean, sum, max and decimate.
Matrix compress_rows(const CompressorSpec& spec, const Eigen::VectorXd& weights, Eigen::Index d_e,
                     const Matrix& old, const Matrix& halo);

/// Adds to dweights, and to dold (n x p) and dhalo (as halo) unless they are null, what dz = dl/dz
/// (n/c x p) gives.
void compress_rows_backward(const CompressorSpec& spec, const Eigen::VectorXd& weights,
                            Eigen::Index d_e, const Matrix& old, const Matrix& halo,
                            const Matrix& dz, Eigen::VectorXd& dweights, Matrix* dold,
                            Matrix* dhalo = nullptr);

}  // namespace gih
