//! Products of vectors, matrices and batches of matrices.
//!
//! What is refused, in which order, follows ATen/native/LinearAlgebra.cpp, Blas.cpp and Linear.cpp. Products that libtorch
//! composes of others are composed of the same ones here (`parts.rs`), so that their dtypes, refusals, strides and
//! gradients come out of those.

mod attention;
mod batch;
mod bilinear;
mod cross;
mod eigen;
mod factor;
mod linear;
mod lu;
mod matmul;
mod matrix;
mod multiply;
mod outer;
mod output;
pub(super) mod parts;
mod solve;
mod spectrum;
mod tensordot;
mod triangular;
mod vector;

pub(super) use attention::scaled_dot_product_attention;
pub(super) use batch::{addbmm, baddbmm, bmm};
pub(super) use bilinear::bilinear;
pub(super) use cross::{cross, linalg_cross, linalg_vecdot};
pub(super) use linear::linear;
pub(super) use lu::linalg_lu_solve;
pub(super) use matmul::matmul;
pub(super) use matrix::{addmm, addmm_activation, mm};
pub(super) use outer::{addr, ger, kron, outer};
pub(super) use solve::linalg_solve;
pub(super) use spectrum::{linalg_matrix_rank, linalg_pinv};
pub(super) use tensordot::{inner, tensordot};
pub(super) use triangular::{cholesky_solve, linalg_solve_triangular};
pub(super) use vector::{addmv, dot, mv, vdot};
