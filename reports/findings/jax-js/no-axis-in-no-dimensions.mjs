import { numpy as np } from "@jax-js/jax";

try {
  np.sum(np.ones([]), 0);
} catch (error) {
  console.log(error.message);
}
// prints: Axis 0 out of bounds for array of dimension 0
