import { numpy as np } from "@jax-js/jax";

try {
  np.fmax(np.array([1], { dtype: np.int32 }), np.array([2], { dtype: np.int32 }));
} catch (error) {
  console.log(error.message);
}
// prints: Condition must be boolean, got int32
