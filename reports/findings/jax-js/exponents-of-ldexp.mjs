import { numpy as np } from "@jax-js/jax";

try {
  np.ldexp(np.array([1]), np.array([2], { dtype: np.int32 }));
} catch (error) {
  console.log(error.message);
}
// prints: Unsupported dtype for Exp: int32
