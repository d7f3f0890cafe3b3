import { nn, numpy as np } from "@jax-js/jax";

try {
  nn.logsumexp(np.array([1, 2], { dtype: np.int32 }));
} catch (error) {
  console.log(error.message);
}
// prints: Unsupported dtype for Exp: int32
