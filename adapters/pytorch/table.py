"""The operation table: what each operation takes, by the names that PyTorch's functions have for it.

An operation's required arguments are given by position, its options by name, and only where they are not the default.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameters:
    """How many arguments are required, and the options after them with their defaults."""

    required: int
    options: dict


LOSS = {"reduction": "mean"}
REDUCTION = {"dim": None, "keepdim": False}
TYPED = {**REDUCTION, "dtype": None}
VARIANCE = {"dim": None, "correction": None, "keepdim": False, "unbiased": None}
CLOSENESS = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
FACTORS = {"beta": 1, "alpha": 1}

ROWS = [
    ("add sub rsub", 2, {"alpha": 1}),
    ("div", 2, {"rounding_mode": None}),
    ("mul eq ne lt le gt ge maximum minimum fmax fmin", 2, {}),
    ("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift", 2, {}),
    ("gcd lcm logical_and logical_or logical_xor floor_divide remainder fmod hypot pow float_power", 2, {}),
    ("atan2 copysign nextafter heaviside ldexp logaddexp logaddexp2 xlogy igamma igammac", 2, {}),
    ("special_xlog1py special_zeta", 2, {}),
    ("special_chebyshev_polynomial_t special_chebyshev_polynomial_u", 2, {}),
    ("special_chebyshev_polynomial_v special_chebyshev_polynomial_w", 2, {}),
    ("special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u", 2, {}),
    ("special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w", 2, {}),
    ("special_hermite_polynomial_h special_hermite_polynomial_he", 2, {}),
    ("special_laguerre_polynomial_l special_legendre_polynomial_p", 2, {}),
    ("complex polar prelu copy fill", 2, {}),
    ("addcmul addcdiv", 3, {"value": 1}),
    ("lerp where", 3, {}),
    ("clamp", 1, {"min": None, "max": None}),
    ("clamp_min clamp_max", 2, {}),
    ("isclose allclose", 2, CLOSENESS),
    ("expand expand_as broadcast_to unsqueeze permute view view_as reshape reshape_as sum_to_size", 2, {}),
    ("broadcast_tensors broadcast_shapes", 1, {}),
    ("transpose swapaxes swapdims movedim moveaxis select unflatten", 3, {}),
    ("narrow", 4, {}),
    ("flatten", 1, {"start_dim": 0, "end_dim": -1}),
    ("squeeze", 1, {"dim": None}),
    ("as_strided", 3, {"storage_offset": None}),
    ("t detach clone contiguous item", 1, {}),
    ("index index.Tensor masked_select", 2, {}),
    ("masked_fill masked_scatter gather index_select", 3, {}),
    ("index_put", 3, {"accumulate": False}),
    ("take_along_dim", 2, {"dim": None}),
    ("scatter", 4, {}),
    ("einsum matmul dot vdot mv mm bmm outer ger inner kron", 2, {}),
    ("addmm addmv addr baddbmm addbmm", 3, FACTORS),
    ("tensordot", 4, {}),
    ("linalg_vecdot linalg_cross", 2, {"dim": -1}),
    ("linalg_solve", 2, {"left": True}),
    ("sum nansum mean prod", 1, TYPED),
    ("amax amin argmax argmin all any", 1, REDUCTION),
    ("logsumexp", 2, {"keepdim": False}),
    ("var std var_mean std_mean", 1, VARIANCE),
    ("linalg_vector_norm", 1, {"ord": 2, **TYPED}),
    ("mse_loss l1_loss soft_margin_loss", 2, LOSS),
    ("smooth_l1_loss", 2, {**LOSS, "beta": 1.0}),
    ("huber_loss", 2, {**LOSS, "delta": 1.0}),
    ("hinge_embedding_loss", 2, {"margin": 1.0, **LOSS}),
    ("margin_ranking_loss cosine_embedding_loss", 3, {"margin": 0.0, **LOSS}),
    ("kl_div", 2, {**LOSS, "log_target": False}),
    ("poisson_nll_loss", 2, {"log_input": True, "full": False, "eps": 1e-8, **LOSS}),
    ("binary_cross_entropy_with_logits", 2, {"weight": None, "pos_weight": None, **LOSS}),
    ("triplet_margin_loss", 3, {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **LOSS}),
    ("cosine_similarity", 2, {"dim": 1, "eps": 1e-8}),
    ("pairwise_distance", 2, {"p": 2.0, "eps": 1e-6, "keepdim": False}),
    ("cdist", 2, {"p": 2.0, "compute_mode": None}),
    ("dist", 2, {"p": 2}),
    ("equal", 2, {}),
    ("backward", 1, {"gradient": None}),
    ("grad", 1, {}),
    ("backcompat.broadcast_warning", 0, {"enabled": None}),
]  # fmt: skip

TABLE = {name: Parameters(required, options) for names, required, options in ROWS for name in names.split()}
