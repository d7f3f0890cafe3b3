import { numpy as np } from "@jax-js/jax";

try {
  np.linalg.solve(np.ones([2, 1, 1]), np.ones([2, 1]));
} catch (error) {
  console.log(error.message);
}
// prints: solve: leading dimension of b must match size of a, got a=float32[2,1,1], b=float32[2,1]
